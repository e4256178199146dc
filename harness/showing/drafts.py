"""Drafts shown: what was drafted, and one draft to decide on."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from textwrap import wrap
from typing import TYPE_CHECKING, Final, TextIO

from ...reports.printable import printable
from ..drafting.drafting import PASSAGE
from .streams import write_json

if TYPE_CHECKING:
    from ...knowledge.questions import Question
    from ..drafting.drafting import Drafted

_WIDTH: Final = 78
_EXAMPLES: Final = 5
_LONGEST: Final = 1_200  # characters of a field on the screen


def show_drafted(made: Drafted, stdout: TextIO, *, as_json: bool, only_planned: bool) -> None:
    """Print what was drafted, or what it would take."""
    if as_json:
        write_json(_as_object(made), stdout)
        return
    for line in _planned(made) if only_planned else _told(made):
        stdout.write(f"{line}\n")
    stdout.flush()


def _as_object(made: Drafted) -> dict[str, object]:
    written = made.written
    return {
        "out": str(made.out),
        "into": str(made.into) if made.into else None,
        "by": made.by,
        "documents": made.documents,
        "drafts": [
            {
                "id": each.id,
                "question": each.text,
                "expected_answer": each.expected[0],
                "document": each.source_document,
                "tags": list(each.tags),
            }
            for each in made.questions
        ],
        "calls": made.calls,
        "tokens_in": made.tokens[0],
        "tokens_out": made.tokens[1],
        "paid": written.paid if written else 0,
        "kept": written.kept if written else 0,
        "dropped": dict(written.dropped) if written else {},
        "unread": written.unread if written else 0,
        "problem": (written.problem or None) if written else None,
    }


def _planned(made: Drafted) -> Iterator[str]:
    if made.by == "offline":
        yield "No call is made: without a language model as judge, rules draft the questions."
        return
    calls = "1 call" if made.calls == 1 else f"{made.calls:,} calls"
    said = f"{made.by}: {calls} at most, about {made.tokens[0]:,} tokens in and {made.tokens[1]:,} out."
    yield from _filled(f"{said} What is kept is not asked again. Nothing was asked.")


def _told(made: Drafted) -> Iterator[str]:
    number = len(made.questions)
    if made.written is not None:
        kept = f", {made.written.kept:,} kept from before" if made.written.kept else ""
        yield from _filled(f"{made.by}: {made.written.paid:,} requests{kept}.")
        for why, times in made.written.dropped.most_common():
            yield from _filled(f"Dropped {times:,} because {why}.")
        if made.written.unread:
            yield from _filled(f"No questions could be read for {made.written.unread:,} passages.")
    if not number:
        yield from _filled(
            "No new draft could be made: rules read plain English sentences, tables and lists, and what is asked "
            "already is not asked again. A language model drafts more (--judge openai:NAME)."
            if made.by == "offline"
            else "No new draft could be made; what is asked already is not asked again."
        )
        return
    documents = len({each.source_document for each in made.questions})
    drafts = "1 draft" if number == 1 else f"{number:,} drafts"
    yield from _filled(f"{drafts} of {documents:,} of {made.documents:,} documents in {made.out}, such as:")
    for each in made.questions[:: max(1, number // _EXAMPLES)][:_EXAMPLES]:
        yield from _filled(f"- {each.text}  [{each.expected[0]}]", "  ")
    yield "None of them is asked before you accept it:"
    into = f" --into {shlex.quote(str(made.into))}" if made.into else ""
    yield printable(f"  proctor questions review {shlex.quote(str(made.out))}{into}")


def screen(draft: Question, number: int, waiting: int) -> str:
    """A draft as a person sees it, in 80 columns."""
    lines = [f"{' Draft ' + str(number) + ' of ' + str(waiting) + ' ':-^{_WIDTH}}"]
    lines += _field("Question", draft.text)
    lines += _field("Answer", " / ".join(draft.expected) or "(none)")
    for group in draft.evidence:
        for one in group:
            lines += _field("Document", one.document)
    passage = draft.extra.get(PASSAGE)
    shown = passage if isinstance(passage, str) and passage.strip() else _quotes(draft)
    lines += _field("Evidence", shown)
    if draft.tags:
        lines += _field("Made", ", ".join(draft.tags))
    return "\n".join(lines) + "\n"


def _quotes(draft: Question) -> str:
    return "\n".join(one.quote for group in draft.evidence for one in group if one.quote)


def _field(name: str, text: str) -> list[str]:
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
    lines = [part for line in cut.splitlines() for part in _cells(printable(line))] or [""]
    return [f"{name if not place else '':<9} {line}" for place, line in enumerate(lines)]


def _cells(text: str) -> list[str]:
    """Lines that fit, where signs of East Asian scripts take two columns."""
    from rich.cells import cell_len, chop_cells

    width = _WIDTH - 10
    lines: list[str] = []
    for line in wrap(text, width, break_long_words=False, break_on_hyphens=False):
        lines += chop_cells(line, width) if cell_len(line) > width else [line]
    return lines


def _filled(text: str, indent: str = "") -> list[str]:
    return wrap(printable(text), _WIDTH, subsequent_indent=indent, break_on_hyphens=False)
