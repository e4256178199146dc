"""Nuggets: how many of the facts that a good answer holds an answer has, and which it misses."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from ..declaration import Function, artefact, metric
from ..facts import Nugget, is_blank
from ..score import Measured, NotApplicable, Reason, Unreadable
from ..tools import Judge
from .call import NUGGET, Block, listing, numbered, unmarked
from .calls import ExpectedClaims, Level, LevelCall

_SOURCE: Final = "Pradeep et al. 2024 (TREC RAG track, AutoNuggetizer)"
SUPPORT: Final = ("not_support", "partial_support", "support")
POINTS: Final = (0.0, 0.5, 1.0)
_OKAY: Final = 0.5  # weight of an okay nugget beside a vital one, in the weighted score


@dataclass(frozen=True, slots=True)
class AssignNuggets(LevelCall):
    """J10: for each nugget whether the answer says it, says a part of it, or doesn't."""

    name: ClassVar[str] = "assign_nuggets"
    part: ClassVar[str] = "nuggets"
    field: ClassVar[str] = "support"
    scale_names: ClassVar[tuple[str, ...]] = SUPPORT

    question: str
    answer: str
    nuggets: tuple[str, ...]

    def ids(self) -> tuple[str, ...]:
        """The ids of the nuggets; whether they are vital is not shown."""
        return numbered(NUGGET, len(self.nuggets))

    def shown(self) -> Sequence[Block]:
        """Question where there is one, answer and nuggets."""
        question = [Block("question", unmarked(self.question))] if self.question.strip() else []
        return (*question, Block("answer", unmarked(self.answer)), Block("nuggets", listing(self.ids(), self.nuggets)))


@dataclass(frozen=True, slots=True)
class WantedNuggets:
    """The nuggets of a question, and where they are from."""

    nuggets: tuple[Nugget, ...]
    of: Literal["question", "expected answer"]


@artefact(calls=("expected_claims",))
async def wanted_nuggets(
    judge: Judge,
    question: str = "",
    nuggets: Sequence[Nugget] | None = None,
    expected: str | None = None,
) -> WantedNuggets:
    """The nuggets that the question names; else the claims of its expected answer, all of them vital (J1e)."""
    if nuggets:
        return WantedNuggets(tuple(Nugget(*one) for one in nuggets), "question")
    if expected is None or is_blank(expected):
        raise NotApplicable(Reason.NUGGETS_MISSING)
    claims = await judge.ask(ExpectedClaims(question, expected))
    if not claims:
        raise NotApplicable(Reason.NO_EXPECTED_CLAIMS)
    return WantedNuggets(tuple(Nugget(claim, vital=True) for claim in claims), "expected answer")


@dataclass(frozen=True, slots=True)
class AssignedNuggets:
    """The nuggets with the level of each: its place in ``SUPPORT``."""

    wanted: WantedNuggets
    levels: tuple[Level, ...]
    judge: str

    def details(self) -> dict[str, object]:
        """Each nugget with its support, and the missing ones."""
        pairs = list(zip(self.wanted.nuggets, self.levels, strict=True))
        listed = [
            {"nugget": nugget.text, "vital": nugget.vital, "support": SUPPORT[level.place]}
            | ({"probability": round(level.probability, 4)} if level.probability is not None else {})
            | ({"why": level.why} if level.why else {})
            | ({"agreement": level.agreement} if level.agreement < 1 else {})
            for nugget, level in pairs
        ]
        missing = [nugget.text for nugget, level in pairs if not level.place]
        return {"nuggets": listed, "missing": missing, "nuggets_of": self.wanted.of, "judge": self.judge}


@artefact(calls=("assign_nuggets",))
async def assigned_nuggets(
    answer: str, wanted_nuggets: WantedNuggets, judge: Judge, question: str = ""
) -> AssignedNuggets:
    """For each nugget whether the answer says it: one request for all of them (J10); a blank answer says none."""
    texts = tuple(nugget.text for nugget in wanted_nuggets.nuggets)
    if is_blank(answer):
        return AssignedNuggets(wanted_nuggets, tuple(Level(0, "the answer is blank") for _ in texts), judge.model_id)
    levels = await judge.ask(AssignNuggets(question, answer, texts))
    readable = tuple(level for level in levels if level is not None)
    if len(readable) < len(texts):
        unread = len(texts) - len(readable)
        raise Unreadable(f"the judge's verdict can't be read on {unread} of {len(texts)} nuggets")
    return AssignedNuggets(wanted_nuggets, readable, judge.model_id)


def _points(level: Level, *, strict: bool) -> float:
    """What a nugget counts: its probability where the judge has one, else 1, a half or 0; ``strict`` counts 1 or 0."""
    if strict:
        return math.floor(POINTS[level.place])
    return POINTS[level.place] if level.probability is None else level.probability


def nugget_share(assigned: AssignedNuggets, okay: float, *, strict: bool) -> float:
    """Mean points of the nuggets, those that are okay weighted; ``strict`` gives no points for a part of one.

    Raises:
        NotApplicable: no nugget has a weight: none is vital.
    """
    weights = [1.0 if nugget.vital else okay for nugget in assigned.wanted.nuggets]
    if not any(weights):
        raise NotApplicable(Reason.NO_VITAL_NUGGETS)
    points = [_points(level, strict=strict) for level in assigned.levels]
    return math.fsum(weight * one for weight, one in zip(weights, points, strict=True)) / math.fsum(weights)


_SAID: Final = """

A nugget is a fact that a good answer holds. They stand under ``nuggets:`` of the question, each vital (an answer
without it is not good) or okay; else they are the claims of its expected answer, all vital, which the details say.
The judge says of each whether the answer supports it (1 point), a part of it (½) or not (0), all in one request.

Formula: {formula}. Of two vital nuggets, one supported and one in part, and an okay one that is missing: {example}.
A blank answer has 0. {limits}
The embedded judge knows no parts: it gives each nugget the probability that the answer says it, half by the matching
of ``claim_recall_answer``, half by the support model of ``faithfulness``. These are its points, which follow people's
marks better than 0 and 1 do; where only full support counts, it is 1 from a probability of 0.5 on. Figures of it and of
a language model can't be compared.
Saying everything gives 1: read it together with ``faithfulness`` or ``answer_length``."""
_ALL: Final = "Answers to a question without nuggets and without an expected answer have no value."
_VITAL: Final = f"{_ALL[:-1]}, nor have those to one without a vital nugget."


def _family(
    name: str, upstream: str, summary: str, formula: str, example: str, okay: float, *, strict: bool
) -> Function:
    def measure(assigned_nuggets: AssignedNuggets) -> Measured:
        return Measured(nugget_share(assigned_nuggets, okay, strict=strict), assigned_nuggets.details())

    limits = _ALL if okay else _VITAL
    measure.__doc__ = summary + _SAID.format(formula=formula, example=example, limits=limits)
    return metric(id=name, source=f"{_SOURCE}, {upstream}", blank_answer="measure")(measure)


NUGGETS: Final = (
    _family(
        "nugget_recall", "All", "Share of the nuggets that the answer supports; in part counts half.",
        "points of all nuggets / number of nuggets", "(1 + ½ + 0) / 3 = 0.5", 1.0, strict=False,
    ),
    _family(
        "nugget_recall_strict", "All Strict", "Share of the nuggets that the answer supports in full.",
        "nuggets that are supported in full / number of nuggets", "1 / 3 = 0.333", 1.0, strict=True,
    ),
    _family(
        "vital_recall", "Vital", "Share of the vital nuggets that the answer supports; in part counts half.",
        "points of vital nuggets / number of vital nuggets", "(1 + ½) / 2 = 0.75", 0.0, strict=False,
    ),
    _family(
        "vital_recall_strict", "Vital Strict", "Share of the vital nuggets that the answer supports in full.",
        "vital nuggets that are supported in full / number of vital nuggets", "1 / 2 = 0.5", 0.0, strict=True,
    ),
    _family(
        "nugget_recall_weighted", "Weighted", "Share of the nuggets that the answer supports, an okay one weighing half"
        " as much as a vital one.",
        "(points of vital nuggets + ½ points of okay ones) / (number of vital ones + ½ number of okay ones)",
        "(1.5 + 0) / (2 + ½) = 0.6", _OKAY, strict=False,
    ),
)  # fmt: skip
