"""ScriptedJudge: a judge that answers calls from given functions and remembers what it was asked."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from proctor.metrics.judge.call import JudgeCall
from proctor.metrics.score import NotApplicable, Reason


@dataclass(frozen=True)
class Asked:
    """One thing that the judge was asked, and the names of the calls that it had not yet answered."""

    call: JudgeCall[Any]
    vote: int
    votes: int
    beside: tuple[str, ...]


@dataclass
class ScriptedJudge:
    """Answers each class of call by its script.

    A script is a function of the call, a fixed answer, or an exception, which is raised; a function may raise one
    too. A class without a script gets ``judge_cannot_grade``, as from a judge that has no means for it. Every call
    takes a few turns of the event loop, so that calls which are independent are seen to be in flight together.
    """

    scripts: Mapping[type[JudgeCall[Any]], Callable[[Any], object] | object] = field(default_factory=dict)
    model_id: str = "scripted"
    embedded: bool = False
    turns: int = 5
    asked: list[Asked] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)

    async def ask(self, call: JudgeCall[Any], vote: int = 1, votes: int = 1) -> Any:
        self.asked.append(Asked(call, vote, votes, tuple(self._open)))
        self._open.append(call.name)
        try:
            for _ in range(self.turns):
                await asyncio.sleep(0)
        finally:
            self._open.remove(call.name)
        if type(call) not in self.scripts:
            raise NotApplicable(Reason.JUDGE_CANNOT_GRADE, call=call.name, message="there is no script for it")
        script = self.scripts[type(call)]
        said = script(call) if callable(script) else script
        if isinstance(said, Exception):
            raise said
        return said

    @property
    def counts(self) -> dict[str, int]:
        """How often each call was made, by its name."""
        return dict(Counter(asked.call.name for asked in self.asked))

    def calls(self, kind: type[JudgeCall[Any]]) -> list[Any]:
        """The calls of a class, in the order in which they were made."""
        return [asked.call for asked in self.asked if isinstance(asked.call, kind)]

    @property
    def most_at_once(self) -> int:
        """The greatest number of calls in flight at the same time."""
        return max((len(asked.beside) + 1 for asked in self.asked), default=0)
