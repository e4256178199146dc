"""Panel: several judges, or several votes of them, as one judge."""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from ..score import JudgeUnavailable, NotApplicable, Unreadable
from ..tools import Judge
from .call import Answer, JudgeCall


@dataclass(frozen=True, slots=True)
class Panel:
    """Several judges, each with several votes on every verdict; the first writes claims, questions and entities.

    A judge that doesn't support a call leaves it to the others. One that can't be reached is left out as long as
    more than half of the votes remain. A tie is broken by one more vote of the first judge that gives one.

    Attributes:
        judges: at least one.
        votes: of each judge on each call; where the caller itself asks for several votes, each judge gives one to each.
        mean: numbers are averaged; otherwise the majority counts, as it does for all that is no number.
    """

    judges: tuple[Judge, ...]
    votes: int = 1
    mean: bool = False

    @property
    def model_id(self) -> str:
        """All members, their votes and how these are combined."""
        members = " + ".join(judge.model_id for judge in self.judges)
        if len(self.judges) * self.votes == 1:
            return members
        return f"{members}; votes each: {self.votes}; {'mean' if self.mean else 'majority'}"

    @property
    def embedded(self) -> bool:
        """True when no member is a language model."""
        return all(judge.embedded for judge in self.judges)

    async def ask(self, call: JudgeCall[Answer], vote: int = 1, votes: int = 1) -> Answer:
        """The majority of the judges and votes; see ``metrics.tools.Judge``."""
        single = len(self.judges) == 1 and (self.votes == 1 or votes > 1)
        if single or not call.is_verdict:
            return await self.judges[0].ask(call, vote, votes)
        total = self.votes if votes == 1 else votes
        numbers = range(1, total + 1) if votes == 1 else (vote,)
        ballots = await _together([_ballot(judge, call, number, total) for judge in self.judges for number in numbers])
        answers = _counted(ballots)
        if call.tied(answers):
            extra: list[Answer] = await self._extra(call, 2 * total + vote)  # a number that no other vote has
            answers += extra
        return call.combine(answers, self.mean)

    async def _extra(self, call: JudgeCall[Answer], vote: int) -> list[Answer]:
        """One more answer, of the first judge that gives one."""
        for judge in self.judges:
            ballot = await _ballot(judge, call, vote, vote)
            if ballot.answer is not None:
                return [ballot.answer]
        return []


@dataclass(frozen=True, slots=True)
class _Ballot(Generic[Answer]):
    """The result of one vote: an answer, or why there is none."""

    answer: Answer | None
    failure: JudgeUnavailable | NotApplicable | Unreadable | None = None


async def _ballot(judge: Judge, call: JudgeCall[Answer], vote: int, votes: int) -> _Ballot[Answer]:
    try:
        answer: Answer = await judge.ask(call, vote, votes)
    except (JudgeUnavailable, NotApplicable, Unreadable) as failure:
        return _Ballot(None, failure)
    return _Ballot(answer)


async def _together(asked: Sequence[Coroutine[Any, Any, _Ballot[Answer]]]) -> list[_Ballot[Answer]]:
    """All of them at once; if one raises an unexpected exception, the others are cancelled first."""
    tasks = [asyncio.ensure_future(one) for one in asked]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


def _counted(ballots: Sequence[_Ballot[Answer]]) -> list[Answer | None]:
    """The answers, None for one that can't be read. Raises the failure of the votes when too few are left."""
    able = [ballot for ballot in ballots if not isinstance(ballot.failure, NotApplicable)]
    _enough(bool(able), ballots, NotApplicable)
    there = [ballot for ballot in able if not isinstance(ballot.failure, JudgeUnavailable)]
    _enough(2 * len(there) > len(able), able, JudgeUnavailable)
    readable = [ballot for ballot in there if ballot.failure is None]
    _enough(bool(readable) and 2 * len(readable) >= len(there), there, Unreadable)
    return [ballot.answer for ballot in there]


def _enough(left: bool, ballots: Sequence[_Ballot[Answer]], kind: type[Exception]) -> None:
    """Raise the first failure of a kind unless enough votes are left."""
    if not left:
        raise next(ballot.failure for ballot in ballots if ballot.failure and isinstance(ballot.failure, kind))
