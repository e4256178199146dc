"""One question: asked of one bot, shown with its contexts and timing, and not kept."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.text import Text

from ... import InputError
from ...knowledge.questions import Question
from ...reports.encoding import storable
from ...reports.leaderboard import count, milliseconds
from ...reports.printable import printable, printable_lines
from ...reports.run import Row, RowStatus, ask_key
from ..engine.asking import ask
from ..engine.daemon_threads import DaemonThreads
from ..engine.interrupts import Interrupts
from ..engine.lanes import Lane
from ..exams.suite_exam import TIMEOUT, build_one
from ..showing.streams import own_stdout, write_json
from ..suite.secret_values import named_variables, redactor

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
        with Interrupts() as interrupts:
            row = interrupts.run(_asked(loaded, bot, storable(question), environ))
        if row.status is not RowStatus.ANSWERED:
            raise InputError(f"{bot} gave no answer ({row.status.value.replace('_', ' ')}): {row.error}")
        if as_json:
            write_json(_as_object(bot, row), stdout)
        else:
            _show(bot, row, stdout)


async def _asked(loaded: LoadedSuite, name: str, text: str, environ: Mapping[str, str]) -> Row:
    asyncio.get_running_loop().set_default_executor(DaemonThreads())
    bot, embedder = build_one(loaded, name, environ)
    redact = redactor(environ, named_variables(loaded.suite))
    question = Question("asked", text)
    lane = Lane(name, bot, 0, tuple, 1, 1, timeout=loaded.suite.bots[name].timeout or TIMEOUT)
    row = Row(question, 0, 0, ask_key(question))
    try:
        await bot.prepare()
        await ask(lane, row, redact)
    finally:
        await bot.close()
        await asyncio.to_thread(embedder.close)
    if lane.problem:
        raise InputError(lane.problem)
    return row


def _as_object(bot: str, row: Row) -> dict[str, object]:
    return {
        "bot": bot,
        "question": row.question.text,
        "latency_ms": row.latency_ms,
        **(asdict(row.reply) if row.reply else {}),
    }


def _show(bot: str, row: Row, stdout: TextIO) -> None:
    console = Console(emoji=False, highlight=False, file=stdout)
    reply = row.reply
    if reply is None:
        return
    took = milliseconds(row.latency_ms or 0.0)
    state = ", declined" if reply.declined else ""
    console.print(Text.assemble((printable(bot), "bold"), f" answered in {took}{state}:"))
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
