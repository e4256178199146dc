"""Question writer: has a judge write the variants of questions that no rule can make."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ... import InputError
from ...knowledge.perturbing.variants import Recipe
from ...knowledge.questions import Question
from ...metrics.score import JudgeUnavailable, NotApplicable, Unreadable
from ...reports.store import Store
from ...reports.writer import RowWriter
from ..engine.interrupts import Interrupts
from .question_calls import QuestionCall

if TYPE_CHECKING:
    from ..engine.judging import Judging

_MOST_QUOTED = 160  # characters of what a judge said, in the reason why there is no variant


@dataclass(slots=True)
class Written:
    """What a judge wrote.

    Attributes:
        texts: by kind and id of the question; a sentence where there are none.
        paid: requests that were made.
        kept: replies that were kept from before.
        problem: why the judge was stopped; blank while it works.
    """

    texts: dict[tuple[str, str], Sequence[str] | str] = field(default_factory=dict)
    paid: int = 0
    kept: int = 0
    problem: str = ""


def write_questions(
    judging: Judging, sources: Sequence[Question], recipe: Recipe, store: Store | None = None, *, fresh: bool = False
) -> Written:
    """Have a judge write what the kinds of a recipe need, once for each question and kind; the judge is closed.

    Args:
        judging: a language model.
        sources: the questions.
        recipe: kinds, and how many variants are made alike.
        store: where replies are kept and found again; None to keep none.
        fresh: take no reply that was kept before.

    Raises:
        InputError: the judge is no language model.
    """
    kinds = [kind.name for kind in recipe.written]
    if not judging.is_language_model:
        raise InputError(need_of_judge(kinds))
    writer = None if store is None else RowWriter(store.path, None, {})
    try:
        if store is not None and writer is not None:
            writer.find_left_calls()
            judging.bind(store.path, writer, fresh=fresh)
        with Interrupts() as interrupts:
            texts = interrupts.run(_write(judging, sources, kinds, recipe.variants))
    finally:
        if writer is not None:
            writer.close()
        judging.shelf.close()
    return Written(texts, judging.shelf.paid, judging.shelf.kept, judging.problem)


def need_of_judge(kinds: Sequence[str]) -> str:
    """The sentence for kinds that want a judge where there is none."""
    which = " and ".join(kinds)
    return (
        f"{which[:1].upper()}{which[1:]} must be written by a language model: name one as judge (--judge openai:NAME, "
        "or `judge` in the suite), or leave out such kinds, as 'offline' does."
    )


async def _write(
    judging: Judging, sources: Sequence[Question], kinds: Sequence[str], count: int
) -> dict[tuple[str, str], Sequence[str] | str]:
    await judging.prepare()
    try:
        calls = {(kind, source.id): QuestionCall(kind, source.text, count) for source in sources for kind in kinds}
        replies = await asyncio.gather(*(_ask(judging, call) for call in calls.values()))
        return dict(zip(calls, replies, strict=True))
    finally:
        await judging.close()


async def _ask(judging: Judging, call: QuestionCall) -> Sequence[str] | str:
    """The texts, or why there are none."""
    judge, _ = judging.for_row()
    if judge is None:
        return "there is no judge"
    try:
        return await judge.ask(call)
    except (JudgeUnavailable, NotApplicable, Unreadable) as error:
        return f"the judge wrote none: {str(error)[:_MOST_QUOTED]}"


def rehearsed(sources: Sequence[Question], recipe: Recipe) -> Mapping[tuple[str, str], Sequence[str]]:
    """Texts that stand for what a judge would write, so that a run can be reckoned beforehand."""
    numbers = range(1, recipe.variants + 1)
    return {
        (kind.name, source.id): tuple(f"{source.text} ({number})" for number in numbers)
        for source in sources
        for kind in recipe.written
    }
