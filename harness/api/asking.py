"""Asking: one bot, one question; shown, and not stored."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from ... import InputError
from ...bots import Context, ToolCall, Usage, index_folder
from ...knowledge import Question, cache_folder, encodable
from ...reports import milliseconds, printable_lines
from ...reports.store import Row, RowStatus, VectorCache, ask_key
from ..run import TIMEOUT, BotQueue, DaemonThreads, Interrupts, ask, build_one
from ..suite import suite_redactor

if TYPE_CHECKING:
    from ..run import GivenBot
    from ..suite import LoadedSuite


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """What a bot answered to a question.

    Attributes:
        bot: the bot's name.
        question: what was asked.
        answer: None when the bot gave none without failing.
        contexts: passages that it had before it, in its order; None for a bot without a retriever.
        latency_ms: milliseconds until the answer.
        abstained: whether it says itself that it does not answer; None where it does not say.
        usage: tokens and cost, where they are known.
        reasoning: the model's reasoning trace, where the server gives one.
        queue_ms: milliseconds that it waited for our own limits, which are not the bot's.
        attempts_ms: milliseconds of each attempt at the backend, failed ones first; empty where not known.
        trace: anything else that the bot handed over.
        tool_calls: the tools that it called, in their order; None for a bot that does not report them.
    """

    bot: str
    question: str
    answer: str | None
    contexts: tuple[Context, ...] | None = None
    latency_ms: float | None = None
    abstained: bool | None = None
    usage: Usage = field(default_factory=Usage)
    reasoning: str | None = None
    queue_ms: float = 0.0
    attempts_ms: tuple[float, ...] = ()
    trace: Mapping[str, object] = field(default_factory=dict)
    tool_calls: tuple[ToolCall, ...] | None = None

    def __repr__(self) -> str:
        """The answer with its contexts."""
        took = "" if self.latency_ms is None else f" in {milliseconds(self.latency_ms)}"
        lines = [f"{self.bot} answered{took}:", self.answer or "(no answer)"]
        for rank, context in enumerate(self.contexts or (), 1):
            place = (
                f"{context.document}:{context.start}-{context.end}" if context.start is not None else context.document
            )
            lines.append(f"{rank}. {place}: {context.text}")
        return printable_lines("\n".join(lines))


def ask_one(
    loaded: LoadedSuite, bot: str, question: str, environ: Mapping[str, str],
    given: Mapping[str, GivenBot] = MappingProxyType({}),
) -> Answer:  # fmt: skip
    """Ask a bot of a suite, or one that is handed over.

    Raises:
        InputError: the question is blank, the bot can't be used, or gave no answer.
    """
    if not question.strip():
        raise InputError('The question is blank; ask something, such as "When do you open?".')
    with Interrupts() as interrupts:
        row = interrupts.run(_asked(loaded, bot, encodable(question), environ, given))
    reply = row.reply
    if row.status is not RowStatus.ANSWERED or reply is None:
        raise InputError(f"{bot} gave no answer ({row.status.value.replace('_', ' ')}): {row.error}")
    return Answer(
        bot, row.question.text, reply.answer, reply.contexts, row.latency_ms, reply.abstained, reply.usage,
        reply.reasoning, reply.queue_ms, reply.attempts_ms, reply.trace, reply.tool_calls,
    )  # fmt: skip


async def _asked(
    loaded: LoadedSuite, name: str, text: str, environ: Mapping[str, str], given: Mapping[str, GivenBot]
) -> Row:
    asyncio.get_running_loop().set_default_executor(DaemonThreads())
    vectors = VectorCache()
    if folder := index_folder(loaded.base, cache_folder(environ)):
        vectors.open_file(folder / "vectors.db")
    bot, embedder = build_one(loaded, name, environ, vectors, given)
    redact = suite_redactor(loaded.suite, environ)
    question = Question("asked", text)
    bot_queue = BotQueue(name, bot, 0, tuple, 1, 1, timeout=loaded.suite.bots[name].timeout or TIMEOUT)
    row = Row(question, 0, 0, ask_key(question))
    try:
        await bot.prepare()
        await ask(bot_queue, row, redact)
    finally:
        await bot.close()
        await asyncio.to_thread(embedder.close)
        vectors.close()
    if bot_queue.problem:
        raise InputError(bot_queue.problem)
    return row
