"""Pairs: which of two answers to one question is better, asked in both orders."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, get_args

from ..bench import together
from ..constraints import meets
from ..declaration import artefact, metric
from ..score import Measured, Unreadable
from ..tools import Judge
from .call import IN_GRADE, TEXT, Block, ByRote, ObjectCall, Reading, Schema, record
from .replies import read_reason
from .verdicts import majority, share, tie

Letter = Literal["A", "B", "tie"]
Better = Literal["baseline", "candidate", "tie"]
Settled = Literal["judge", "equal", "constraints"]
LETTERS: Final = get_args(Letter)
VALUES: Final[dict[Better, float]] = {"candidate": 1.0, "tie": 0.5, "baseline": 0.0}


@dataclass(frozen=True, slots=True)
class Choice:
    """Which of two answers a judge holds to be better, in the order in which it saw them.

    Attributes:
        better: ``A``, ``B`` or ``tie``.
        reason: the judge's; may be blank.
        agreement: share of judges or votes that agree; 1.0 when there was one.
    """

    better: Letter
    reason: str = ""
    agreement: float = 1.0


@dataclass(frozen=True, slots=True)
class ComparePair(ObjectCall[Choice]):
    """J9: which of two answers is better. The judge sees no names, and nothing of where an answer came from."""

    name: ClassVar[str] = "compare_pair"

    question: str
    first: str
    second: str
    expected: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()

    @property
    def parts(self) -> frozenset[str]:
        """Whether there is an expected answer, and evidence."""
        return frozenset(
            part for part, texts in (("expected", self.expected), ("evidence", self.evidence)) if any(texts)
        )

    def shown(self) -> Sequence[Block]:
        """Question, expected answers and evidence where there are any, and both answers."""
        blocks = [Block("question", self.question)]
        if "expected" in self.parts:
            blocks.append(Block("expected", "\n\nor: ".join(text for text in self.expected if text)))
        if "evidence" in self.parts:
            blocks.append(Block("evidence", "\n\n".join(text for text in self.evidence if text)))
        return (*blocks, Block("answer_a", self.first), Block("answer_b", self.second))

    def schema(self) -> Schema:
        """Reason and verdict; the reason comes first, so that the verdict follows from it."""
        return record(reason=TEXT, better={"type": "string", "enum": list(LETTERS)})

    def read_found(self, found: Mapping[str, object]) -> Reading[Choice]:
        """The verdict, if it is one of the three."""
        label = found.get("better")
        named = {letter.casefold(): letter for letter in LETTERS}
        better = named.get(label.strip().casefold()) if isinstance(label, str) else None
        if better is None:
            return Reading(None, 'The object must have "better", which is "A", "B" or "tie".')
        return Reading(Choice(better, read_reason(found)))

    def combine(self, answers: Sequence[Choice | None], mean: bool) -> Choice:  # noqa: ARG002 - a verdict is no number
        """The majority; where two verdicts lead with as many votes, a tie."""
        votes = [answer.better if answer else None for answer in answers]
        if 2 * sum(vote is not None for vote in votes) < len(votes):
            raise Unreadable(f"Of {len(votes)} judges or votes, too few could be read.")
        better: Letter = majority(votes) or "tie"
        reason = next((answer.reason for answer in answers if answer and answer.better == better), "")
        return Choice(better, reason, share(votes, better))

    def tied(self, answers: Sequence[Choice | None]) -> bool:
        """Whether two verdicts lead with as many votes."""
        return tie([answer.better if answer else None for answer in answers])

    def by_rote(self) -> ByRote[Choice]:
        """The first one."""
        return ByRote(Choice("A"), IN_GRADE)


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """Which of a baseline's and a candidate's answer is better.

    Attributes:
        better: ``tie`` where the verdict turned with the order.
        orders: the verdict with the baseline's answer shown first, and with the candidate's; empty without a judge.
        reason: the judge's, of an order that has this verdict; of a verdict that turned, both.
        settled: who decided: ``judge``; or, without a call, ``equal`` answers or the question's ``constraints``.
        agreement: the least share of judges or votes that agree.
    """

    better: Better
    orders: tuple[Better, ...] = ()
    reason: str = ""
    settled: Settled = "judge"
    agreement: float = 1.0

    @property
    def value(self) -> float:
        """1 where the candidate is better, 0 where the baseline is, .5 for a tie."""
        return VALUES[self.better]

    @property
    def turned(self) -> bool:
        """Whether the verdict depends on the order."""
        return len(set(self.orders)) > 1


def plain_answer(answer: str) -> str:
    r"""An answer without what makes no difference to its reader: case, white space, a full stop at the end.

    >>> plain_answer("At  nine.\n") == plain_answer("at nine")
    True
    """
    return " ".join(unicodedata.normalize("NFKC", answer).casefold().split()).rstrip(" .!")


def settled_pair(
    baseline: str, candidate: str, constraints: Sequence[str | Sequence[str]] | None = None
) -> PairVerdict | None:
    """The verdict on a pair that needs no judge; None where it does.

    Args:
        baseline: the baseline's answer.
        candidate: the candidate's answer.
        constraints: what an answer must contain; None where they are to settle nothing.
    """
    if plain_answer(baseline) == plain_answer(candidate):
        return PairVerdict("tie", reason="the answers are equal", settled="equal")
    if not constraints:
        return None
    met = [meets(answer, constraints) for answer in (baseline, candidate)]
    if met[0] == met[1]:
        return None
    which: Better = "candidate" if met[1] else "baseline"
    return PairVerdict(which, reason="only this answer meets the constraints", settled="constraints")


async def judged_pair(
    judge: Judge, question: str, baseline: str, candidate: str, expected: Sequence[str] = (),
    evidence: Sequence[str] = (),
) -> PairVerdict:  # fmt: skip
    """Ask a judge in both orders.

    Args:
        judge: asked twice.
        question: what was asked.
        baseline: the baseline's answer.
        candidate: the candidate's answer.
        expected: accepted answers; may be empty.
        evidence: quotes of documents that hold the answer; may be empty.

    Raises:
        Unreadable: a reply can't be read.
        JudgeUnavailable: there was no reply.
        NotApplicable: this judge can't tell which is better.

    Source: Zheng et al. 2023 (MT-Bench: both orders, a win only where they agree).
    """
    orders_shown = ((baseline, candidate), (candidate, baseline))
    asked = [ComparePair(question, one, other, tuple(expected), tuple(evidence)) for one, other in orders_shown]
    first, second = await together([judge.ask(call) for call in asked])
    orders = (_named(first.better, "baseline", "candidate"), _named(second.better, "candidate", "baseline"))
    agreement = min(first.agreement, second.agreement)
    if orders[0] == orders[1]:
        return PairVerdict(orders[0], orders, first.reason or second.reason, agreement=agreement)
    reasons = "; in the other order: ".join(
        f"{which} ({choice.reason})" if choice.reason else which
        for which, choice in zip(orders, (first, second), strict=True)
    )
    return PairVerdict("tie", orders, reasons, agreement=agreement)


def _named(letter: Letter, first: Better, second: Better) -> Better:
    return first if letter == "A" else second if letter == "B" else "tie"


def pair_details(verdict: PairVerdict) -> dict[str, Any]:
    """The evidence of a verdict, for details of scores."""
    return {
        "better": verdict.better, "orders": list(verdict.orders), "turned": verdict.turned,
        "settled": verdict.settled, "reason": verdict.reason, "agreement": verdict.agreement,
    }  # fmt: skip


@artefact(calls=("compare_pair",), requests=2)
async def pair_verdict(
    question: str,
    answer: str,
    baseline_answer: str,
    judge: Judge,
    expected_answers: Sequence[str] = (),
    evidence: Sequence[str] = (),
    constraints: Sequence[str | Sequence[str]] = (),
    *,
    constraints_decide: bool = False,
) -> PairVerdict:
    """Which is better, the answer or that of the reference bot (J9, in both orders).

    Answers that are equal but for case and white space are a tie without a request; with ``constraints_decide`` so is
    a pair decided of which one answer alone meets the question's constraints.
    """
    known = settled_pair(baseline_answer, answer, constraints if constraints_decide else None)
    return known or await judged_pair(judge, question, baseline_answer, answer, expected_answers, evidence)


@metric(blank_answer="measure", source="Zheng et al. 2023 (MT-Bench), pairwise comparison in both orders")
def preference(pair_verdict: PairVerdict, *, against: str = "") -> Measured:  # noqa: ARG001 - names the reference bot
    """1 if the judge prefers the answer to that of the reference bot, 0 if the other way round, 0.5 for a tie.

    The judge sees both answers in both orders; a verdict that turns with the order is a tie. Its mean over rows is the
    win rate. ``against`` names the reference bot, by default the first of the suite; that bot itself has no value.
    """
    return Measured(pair_verdict.value, pair_details(pair_verdict))
