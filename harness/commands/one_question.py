"""One question: asked of one bot, shown with its contexts and timing, and not kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.text import Text

from ... import InputError
from ...reports.leaderboard import count, milliseconds
from ...reports.printable import printable, printable_lines
from ..api.asking import Answer, ask_one
from ..showing.streams import own_stdout, write_json

if TYPE_CHECKING:
    from ..suite.suite_file import LoadedSuite

SHOWN = 400  # characters of a context that are shown


def ask_once(loaded: LoadedSuite, bot: str, question: str, environ: Mapping[str, str], as_json: bool) -> None:
    """Ask and show.

    Raises:
        InputError: the bot can't be used, or gave no answer.
    """
    if not question.strip():
        raise InputError('The question is blank; ask something: proctor ask SUITE.yaml BOT "question".')
    with own_stdout() as stdout:
        answer = ask_one(loaded, bot, question, environ)
        if as_json:
            write_json(_as_object(answer), stdout)
        else:
            _show(answer, stdout)


def _as_object(answer: Answer) -> dict[str, object]:
    return asdict(answer)


def _show(reply: Answer, stdout: TextIO) -> None:
    console = Console(emoji=False, highlight=False, file=stdout)
    took = milliseconds(reply.latency_ms or 0.0)
    state = ", declined" if reply.declined else ""
    console.print(Text.assemble((printable(reply.bot), "bold"), f" answered in {took}{state}:"))
    console.print(_text(reply.answer or "(no answer)"))
    if reply.contexts is None:
        console.print("\nIt has no retriever.", style="dim")
        return
    console.print(
        f"\nIt had {count(len(reply.contexts), 'context')} before it:" if reply.contexts else "\nIt retrieved nothing."
    )
    for rank, context in enumerate(reply.contexts, 1):
        place = f"{context.document}:{context.start}-{context.end}" if context.start is not None else context.document
        score = "" if context.score is None else f" {context.score:.3f}"
        console.print(Text(f"{rank}. {printable(place)}{score}", style="bold"))
        console.print(_text(context.text[:SHOWN] + ("..." if len(context.text) > SHOWN else "")), style="dim")


def _text(text: str) -> Text:
    return Text(printable_lines(text), overflow="fold")
