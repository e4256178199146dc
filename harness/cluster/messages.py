"""Messages: what the driver and its workers hand each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Self

from ...knowledge import Question, RowSet
from ...reports.store.parts import RowKey, SameRequest, StoredAnswer, Written

if TYPE_CHECKING:
    from ...knowledge import Questions
    from ..run.queues import Ending, Item
    from ..run.run_config import RunConfig
    from ..suite.suite_file import LoadedSuite


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionCounts(RowSet[Question]):
    """What a worker must know of the whole set of questions.

    The questions themselves come with the blocks: none of them is here, and no worker reads the file. The driver has
    shown the warnings.
    """

    @classmethod
    def of(cls, questions: Questions) -> Self:
        """Those of a set."""
        return cls(**{each.name: getattr(questions, each.name) for each in fields(RowSet) if each.name != "warnings"})

    def __iter__(self) -> Iterator[Question]:
        return iter(())


@dataclass(frozen=True, slots=True)
class Setup:
    """What a worker makes its bots, metrics and judge of.

    Attributes:
        loaded: the suite.
        options: of the run.
        questions: how many there are of which kind.
        bots: fingerprints of what the bots are made of, by name: a worker whose files differ says so.
        metrics: their versions by name.
        proctor: the version of this package.
        is_elsewhere: whether the suite's folder travels; its files are then where the worker starts.
        folder: where parts lie on this machine; None for a temporary folder of each worker's machine.
        asks: whether the driver's database, or another worker, may have judge calls: they are asked for first.
    """

    loaded: LoadedSuite
    options: RunConfig
    questions: QuestionCounts
    bots: Mapping[str, str]
    metrics: Mapping[str, str]
    proctor: str
    is_elsewhere: bool
    asks: bool
    folder: str | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """Some questions for one bot, the turns of a conversation together, with what is cached of them."""

    bot: str
    items: Sequence[Item]
    cached: Sequence[StoredAnswer] = ()
    earlier: Sequence[SameRequest] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """A row is complete; without a key it was so before."""

    key: RowKey | None


Event = Written | Done


@dataclass(frozen=True, slots=True)
class Tally:
    """What a worker counted since it was last asked; see ``BotQueue`` and ``JudgeCache``."""

    asked: int = 0
    failed: int = 0
    cached: int = 0
    histories_cut: int = 0
    total: int = 0
    is_deaf: bool = False
    calls_cached: int = 0
    endings: Mapping[tuple[str, int], Ending] = field(default_factory=dict)
    unplayed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Batch:
    """What came of a block since the worker was last asked.

    Attributes:
        events: in their order.
        tally: what was counted.
        messages: sentences for the user.
        wanted: keys of judge calls that the driver may have.
        is_over: nothing more comes of the block.
        problem: why the bot was stopped; blank while it works.
        mistake: why the run can't go on at all; blank while it can.
        broken: a traceback of what should never happen.
    """

    events: Sequence[Event]
    tally: Tally = Tally()
    messages: tuple[str, ...] = ()
    wanted: tuple[bytes, ...] = ()
    is_over: bool = False
    problem: str = ""
    mistake: str = ""
    broken: str = ""
