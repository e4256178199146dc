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
    """What a worker makes its bots, metrics and judge of."""

    loaded: LoadedSuite
    options: RunConfig  # of the run
    questions: QuestionCounts  # how many there are of which kind
    # fingerprints of what the bots are made of, by name: a worker whose files differ says so
    bots: Mapping[str, str]
    metrics: Mapping[str, str]  # their versions by name
    proctor: str  # the version of this package
    is_elsewhere: bool  # whether the suite's folder travels; its files are then where the worker starts
    # whether the driver's database, or another worker, may have judge calls: they are asked for first
    asks: bool
    # where parts lie on this machine; None for a temporary folder of each worker's machine
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
    """What came of a block since the worker was last asked."""

    events: Sequence[Event]
    tally: Tally = Tally()  # what was counted
    messages: tuple[str, ...] = ()
    wanted: tuple[bytes, ...] = ()  # keys of judge calls that the driver may have
    is_over: bool = False  # nothing more comes of the block
    problem: str = ""  # why the bot was stopped; blank while it works
    mistake: str = ""  # why the run can't go on at all; blank while it can
    broken: str = ""  # a traceback of what should never happen
