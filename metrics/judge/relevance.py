"""Graded relevance: a judge grades each context from 0 to 3, so that nDCG needs no gold evidence."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal

from ..declaration import Allowed, Function, artefact, metric
from ..score import Measured, Unreadable
from ..tools import Judge
from .call import CHUNK, Block, listing, numbered, unmarked
from .calls import Level, LevelCall
from .judged import ShownChunks

_UMBRELA: Final = "Upadhyay et al. 2024 (UMBRELA), grades"
BEST: Final = 3
CUTS: Final = (1, 3, 5, 10)
Gain = Literal["linear", "exponential"]
Ideal = Literal["retrieved", "perfect"]
FirstPassages = Annotated[int, Allowed("0 (all) or more", lambda count: count >= 0)]


@dataclass(frozen=True, slots=True)
class GradeContexts(LevelCall):
    """J11: how relevant each context is to the question, from 0 to 3. No answer is shown."""

    name: ClassVar[str] = "grade_contexts"
    part: ClassVar[str] = "chunks"
    field: ClassVar[str] = "grade"
    scale_names: ClassVar[tuple[str, ...]] = tuple(str(grade) for grade in range(BEST + 1))

    question: str
    chunks: tuple[str, ...]

    def ids(self) -> tuple[str, ...]:
        """The ids of the contexts."""
        return numbered(CHUNK, len(self.chunks))

    def shown(self) -> Sequence[Block]:
        """Question and contexts."""
        return (Block("question", unmarked(self.question)), Block("chunks", listing(self.ids(), self.chunks)))


@dataclass(frozen=True, slots=True)
class ContextGrades:
    """The grades of all contexts in the bot's order; a blank one has 0."""

    grades: tuple[Level, ...]
    judge: str

    def details(self) -> dict[str, object]:
        """The grade of each context, with the judge's reason."""
        chunks = [
            {"chunk": rank, "grade": one.place}
            | ({"why": one.why} if one.why else {})
            | ({"agreement": one.agreement} if one.agreement < 1 else {})
            for rank, one in enumerate(self.grades, 1)
        ]
        return {"chunks": chunks, "judge": self.judge}


@artefact(calls=("grade_contexts",))
async def context_grades(question: str, shown_chunks: ShownChunks, judge: Judge) -> ContextGrades:
    """The grade of each context: one request for all of them (J11)."""
    levels = await judge.ask(GradeContexts(question, shown_chunks.texts))
    graded = {rank: level for rank, level in zip(shown_chunks.ranks, levels, strict=True) if level is not None}
    if unread := len(shown_chunks.ranks) - len(graded):
        raise Unreadable(f"the judge's grade can't be read on {unread} of {len(shown_chunks.ranks)} contexts")
    blank = Level(0, "the context is blank")
    ranks = range(1, shown_chunks.retrieved + 1)
    return ContextGrades(tuple(graded.get(rank, blank) for rank in ranks), judge.model_id)


def discounted(grades: Sequence[int], gain: Gain) -> float:
    """Discounted cumulative gain: each grade, or 2 to its power less 1, divided by log2(1 + rank).

    >>> round(discounted([3, 0, 2], "linear"), 4), round(discounted([3, 0, 2], "exponential"), 4)
    (4.0, 8.5)
    """
    gains = grades if gain == "linear" else [2**grade - 1 for grade in grades]
    return math.fsum(one / math.log2(1 + rank) for rank, one in enumerate(gains, 1))


def graded_share(found: ContextGrades, k: int, gain: Gain, ideal: Ideal) -> float:
    """The nDCG of the first k grades; 0 when no context is relevant at all."""
    grades = [level.place for level in found.grades]
    cut = k or len(grades)
    best = sorted(grades, reverse=True) if ideal == "retrieved" else [BEST] * cut
    most = discounted(best[:cut], gain)
    return discounted(grades[:cut], gain) / most if most else 0.0


@metric(source=f"{_UMBRELA}; Jaervelin and Kekaelaeinen 2002, nDCG as in trec_eval", zero_on_empty_contexts=True)
def graded_ndcg(
    context_grades: ContextGrades, *, k: FirstPassages = 0, gain: Gain = "linear", ideal: Ideal = "retrieved"
) -> Measured:
    """Discounted gain of the contexts' relevance, graded by a judge, divided by that of their best order.

    A judge grades each context by the question alone, all in one request: 3 is made for the question and has the
    answer, 2 has an answer that is incomplete, unclear or among other things, 1 is on the topic and doesn't answer,
    0 is about something else. No expected answer and no gold evidence is needed, and the bot's answer isn't shown.

    Formula: sum of grade / log2(1 + rank) over the first ``k`` contexts (0: all), divided by the same sum with the
    grades in descending order. Grades 3, 0, 2 give (3 + 0 + 2/2) / (3 + 2/1.585) = 4 / 4.262 = 0.939. The option
    ``gain="exponential"`` takes 2^grade - 1 in place of the grade. 0 if no context has a grade above 0; a blank
    context has 0.

    The best order is that of the contexts that this bot retrieved: it says whether the best ones come first, not
    whether better ones were left behind, and a single context has 1 unless it is irrelevant. Read it together with
    ``graded_precision``, or set ``ideal="perfect"``: the best order then has grade 3 on each of the first ``k`` ranks,
    so that bots that retrieve equally many contexts can be compared by it.
    The embedded judge does not grade relevance: there is no value (``judge_cannot_grade``).
    """
    return Measured(graded_share(context_grades, k, gain, ideal), context_grades.details())


@metric(source=f"{_UMBRELA}; Kekaelaeinen and Jaervelin 2002, generalised precision", zero_on_empty_contexts=True)
def graded_precision(context_grades: ContextGrades, *, k: FirstPassages = 0) -> Measured:
    """Mean relevance of the contexts, graded by a judge from 0 to 3 and divided by 3.

    The grades are those of ``graded_ndcg``, from the same request. Formula: sum of the grades of the first ``k``
    contexts (0: all) / (3 times their number); 3, 0, 2 give 5/9 = 0.556. The order doesn't matter. ``relevant`` in the
    details is the share of contexts with 2 or 3, which is what TREC counts as relevant. Retrieving one good passage
    and nothing else gives 1: read it together with ``context_recall``.
    """
    grades = [level.place for level in context_grades.grades[: k or None]]
    relevant = sum(grade >= BEST - 1 for grade in grades) / len(grades)
    return Measured(sum(grades) / (BEST * len(grades)), context_grades.details() | {"relevant": relevant})


def _cut(k: int) -> Function:
    """The metric of the first k contexts as one of its own, so that a run can have several of them."""

    def measure(context_grades: ContextGrades) -> Measured:
        return Measured(graded_share(context_grades, k, "linear", "retrieved"), context_grades.details())

    first = "first retrieved context" if k == 1 else f"first {k} retrieved contexts"
    measure.__doc__ = f"nDCG of the relevance that a judge grades, of the {first}; see `graded_ndcg`."
    return metric(id=f"graded_ndcg_at_{k}", source=_UMBRELA, zero_on_empty_contexts=True)(measure)


AT_K: Final = tuple(_cut(k) for k in CUTS)
