"""Perturb table: which variants were made, of what kind and with what example, and a list of all kinds."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TextIO

from ...knowledge.perturbing.kinds import GROUPS, KINDS, Kind
from ...knowledge.perturbing.variants import Tally
from ...reports.leaderboard import count
from ...reports.printable import printable
from ..deciding.perturbed_file import Perturbed
from .streams import write_json

NAME, MUST, FIGURE, WIDTH = 19, 9, 9, 80
MOST_QUOTED = 200  # characters of an example


def show_perturbed(made: Perturbed, stdout: TextIO, as_json: bool) -> None:
    """Print what was made."""
    if as_json:
        write_json(perturbed_object(made), stdout)
    else:
        stdout.write("\n".join(_lines(made)) + "\n")


def perturbed_object(made: Perturbed) -> dict[str, object]:
    """What was made, for machines."""
    tally = made.tally
    return {
        "file": str(made.out),
        "questions": tally.sources,
        "passed_over": tally.passed_over,
        "variants": tally.made.total(),
        "refused": tally.refused.total(),
        "seed": made.recipe.seed,
        "kinds": {kind.name: _kind_made(kind, tally) for kind in made.recipe.all_kinds},
        "judge": {"calls": made.written.paid, "problem": made.written.problem or None},
        "warnings": list(made.warnings),
    }


def _kind_made(kind: Kind, tally: Tally) -> dict[str, object]:
    before, after = tally.examples.get(kind.name, (None, None))
    return {
        "must": kind.must,
        "variants": tally.made[kind.name],
        "refused": tally.refused[kind.name],
        "reasons": dict(tally.reasons.get(kind.name, {})),
        "example": {"before": before, "after": after},
    }


def show_kinds(stdout: TextIO, as_json: bool) -> None:
    """Print all kinds: what each does, what must become of the answer, and what it needs."""
    if as_json:
        write_json({"kinds": [kind_object(kind) for kind in KINDS.values()], "groups": GROUPS}, stdout)
        return
    stdout.write("\n".join(_listed()) + "\n")


def kind_object(kind: Kind) -> dict[str, object]:
    """A kind for machines."""
    return {
        "name": kind.name,
        "must": kind.must,
        "unit": kind.unit,
        "summary": kind.summary,
        "needs": kind.needs,
        "offline": kind.offline,
        "graded": kind.graded,
    }


def _lines(made: Perturbed) -> Iterator[str]:
    tally = made.tally
    yield f"{'kind':<{NAME}}{'answer':<{MUST}}{'variants':>{FIGURE}}{'refused':>{FIGURE}}"
    for kind in made.recipe.all_kinds:
        row = f"{kind.name:<{NAME}}{kind.must:<{MUST}}{tally.made[kind.name]:>{FIGURE},}"
        yield f"{row}{tally.refused[kind.name]:>{FIGURE},}"
        yield from _example(kind, tally)
        if reasons := tally.reasons.get(kind.name):
            why, often = reasons.most_common(1)[0]
            yield from _folded(f"refused, mostly because {printable(why)} ({often:,})")
    yield ""
    of = count(tally.sources, "question")
    yield from _folded(f"{count(tally.made.total(), 'variant')} of {of} in {printable(str(made.out))}.", "")
    if tally.passed_over:
        yield from _folded(f"{count(tally.passed_over, 'question')} passed over: variants already.", "")
    yield from _folded(
        "Expected answers, constraints and evidence are kept where the answer must be the same. The key `perturbs` says"
        " how each was made.", "",
    )  # fmt: skip


def _example(kind: Kind, tally: Tally) -> Iterator[str]:
    if kind.name not in tally.examples:
        return
    before, after = (printable(_short(text)) for text in tally.examples[kind.name])
    yield from _folded(before)
    if after != before:
        yield from _folded(f"-> {after}")


def _short(text: str) -> str:
    return text if len(text) <= MOST_QUOTED else f"{text[:MOST_QUOTED]}..."


def _listed() -> Iterator[str]:
    for must, title in (
        ("same", "The answer must stay the same"),
        ("other", "Another answer must come"),
        ("decline", "The bot must decline"),
    ):
        yield f"{title}:"
        for kind in (kind for kind in KINDS.values() if kind.must == must):
            needs = f" (needs {kind.needs})" if kind.needs else ""
            lines = textwrap.wrap(f"{kind.summary}{needs}", WIDTH - NAME - 2)
            yield f"  {kind.name:<{NAME}}{lines[0]}".rstrip()
            yield from (f"  {'':{NAME}}{line}" for line in lines[1:])
        yield ""
    groups = (f"{name} ({len(kinds)})" for name, kinds in GROUPS.items())
    yield from _folded(f"Several at once: {', '.join(groups)}.", "")
    yield from _folded(
        "Intensity is a share of the letters or words that a kind can change, at least one of them. Numbers, what they"
        " count, addresses and words of denial are left as they are by all kinds that keep the answer; a misspelt word"
        " is never another common word of English, and acronyms and single letters stay. The word lists ship with"
        " Proctor.", "",
    )  # fmt: skip


def _folded(sentence: str, indent: str = "  ") -> Iterator[str]:
    yield from textwrap.wrap(sentence, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
