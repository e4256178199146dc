"""Engine: runs the lanes of an exam, asking with bounded concurrency and scoring rows as they come."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from ... import InputError
from ...metrics.messages import exception_line
from ...reports.claims import Claims
from ...reports.ledger import Ledger, OpenRun
from ...reports.run import Row
from ...reports.writer import RowWriter
from .apart import EndedEarly, apart
from .asking import ask, give
from .lanes import PAUSE, Lane, Todo, Waiting, claim_key, close, shared_todo, todo
from .scoring import Scorer
from .stopping import Stopper, stretch
from .undisturbed import settle

BLOCK = 32  # questions that a serial lane asks before it scores them
JUDGED_BLOCK = 512  # the same where a language model grades: towards the end of a block its calls in flight grow few
BREATH = 32  # rows after which a lane that never waits lets the others (and Ctrl-C) have a turn


Work = Todo | None | Waiting


class Watcher(Protocol):
    """Whoever wants to know how far things are."""

    def advanced(self, lane: Lane, row: Row | None) -> None:
        """A row is done; None for one that was complete before."""
        ...

    def judged(self, calls: int, cost: float | None) -> None:
        """The judge was asked so often so far, at that cost where prices are known."""
        ...

    def said(self, sentence: str) -> None:
        """Something takes long or needs saying."""
        ...


@dataclass
class Engine:
    """One pass over all lanes. Every row and score is handed to the writer as soon as it is known."""

    run: OpenRun
    ledger: Ledger
    writer: RowWriter
    scorer: Scorer
    watcher: Watcher
    redact: Callable[[str], str] = str
    own_only: bool = False
    stopper: Stopper | None = None
    lanes_at_once: int | None = None
    claims: Claims | None = None

    async def work(self, lanes: Sequence[Lane]) -> None:
        """Run the serial lanes one after another, then the others side by side, ``lanes_at_once`` of them.

        With a stopper they take turns, a few questions each, until it has heard enough.
        """
        try:
            if self.stopper is None:
                await self._all([(lane, self._todo(lane)) for lane in lanes])
            else:
                await self._in_stretches(lanes)
        except* InputError as errors:
            raise next(_leaves(errors)) from None
        for lane in lanes:
            if (lost := lane.begun - lane.scored) and not lane.problem:
                lane.problem = (
                    f"{lost:,} of {lane.begun:,} questions have no row: something in this program cancelled the work on"
                    " them. Run the same command again to go on."
                )

    @property
    def _enough(self) -> bool:
        return self.stopper is not None and self.stopper.certain

    async def _in_stretches(self, lanes: Sequence[Lane]) -> None:
        size = stretch(lanes, self.scorer.is_judged)
        left = [(lane, self._todo(lane)) for lane in lanes]
        while left and not self._enough:
            blocks = [(lane, block_of(rest, size)) for lane, rest in left]
            await self._all([(lane, iter(block)) for lane, block in blocks])
            left = [each for each, (lane, block) in zip(left, blocks, strict=True) if block and not lane.stopped]

    async def _all(self, work: Sequence[tuple[Lane, Iterator[Work]]]) -> None:
        for lane, left in work:
            if lane.serial:
                await self._serial(lane, left)
        free = asyncio.Semaphore(self.lanes_at_once or len(work) or 1)

        async def beside(lane: Lane, left: Iterator[Work]) -> None:
            async with free:
                await self._side_by_side(lane, left)
                if lane.fleeting:
                    await close(lane)

        async with asyncio.TaskGroup() as group:
            for lane, left in work:
                if not lane.serial:
                    group.create_task(beside(lane, left))

    async def _serial(self, lane: Lane, left: Iterator[Work]) -> None:
        """Ask a block one question at a time, then score it, so that scoring never disturbs the clock."""
        size = JUDGED_BLOCK if self.scorer.is_judged else BLOCK
        while not lane.stopped and not self._enough and (block := block_of(left, size)):
            answered = [item for item in block if isinstance(item, Todo) and await self._answer(lane, item.row)]
            if Waiting.LATER in block:
                await asyncio.sleep(PAUSE)
            self._complete(lane, block.count(None))
            await self._score_block(lane, answered)

    async def _side_by_side(self, lane: Lane, left: Iterator[Work]) -> None:
        """``concurrency`` workers on one work list; scoring goes on beside them, a bounded number of rows at once."""
        places = asyncio.Semaphore(self.scorer.rows_at_once)
        async with asyncio.TaskGroup() as group:

            async def worker() -> None:
                for count, item in enumerate(left):
                    if lane.stopped or self._enough:
                        return
                    if item is None:
                        self._complete(lane, 1)
                    elif isinstance(item, Waiting):
                        await asyncio.sleep(PAUSE)
                    elif await self._answer(lane, item.row):
                        if self.scorer.now(item):
                            self._finish(lane, item.row)
                        else:
                            await places.acquire()
                            await self.scorer.ready_for_a_row()
                            group.create_task(self._score_beside(lane, item, places))
                    if count % BREATH == 0 or self.writer.crowded:
                        await self._breathe()

            for _ in range(lane.concurrency):
                group.create_task(worker())

    def _todo(self, lane: Lane) -> Iterator[Work]:
        if self.claims is None:
            return todo(lane, self.ledger, self.run, self.own_only)
        return shared_todo(lane, self.ledger, self.run, self.own_only, self.claims)

    def _complete(self, lane: Lane, rows: int) -> None:
        lane.kept += rows
        for _ in range(rows):
            self.watcher.advanced(lane, None)

    async def _breathe(self) -> None:
        await asyncio.sleep(0)
        while self.writer.crowded:
            await asyncio.sleep(0.01)

    async def _answer(self, lane: Lane, row: Row) -> bool:
        """Get the row its answer and keep it; False when the lane was stopped instead."""
        if lane.stopped:
            return False
        lane.begun += 1
        if row.kept:
            lane.kept += 1
        elif row.reply is not None:
            give(row, row.reply)
        elif await self._ask(lane, row):
            self.writer.answer(row)
            return True
        else:
            return False
        self.writer.row(row)
        return True

    async def _ask(self, lane: Lane, row: Row) -> bool:
        if not lane.prepared:
            async with lane.ready:
                await self._prepare(lane)
        return not lane.stopped and await ask(lane, row, self.redact)

    async def _prepare(self, lane: Lane) -> None:
        """Load what the bot needs before the first clock starts; a bot whose answers are all kept loads nothing."""
        if lane.prepared:
            return
        prepare = getattr(lane.bot, "prepare", None)
        try:
            if prepare is not None:
                self.watcher.said(f"{lane.name}: getting ready")
                await apart(prepare())
            await self.scorer.prepare()
        except InputError as error:
            lane.problem = self.redact(str(error))
        except Exception as error:  # noqa: BLE001 - a bot is foreign code, and so is what it loads
            said = str(error) if isinstance(error, EndedEarly) else exception_line(error)
            lane.problem = self.redact(f"it could not get ready: {said}")
        settle()
        lane.prepared = True

    async def _score_beside(self, lane: Lane, item: Todo, places: asyncio.Semaphore) -> None:
        try:
            await self.scorer.score(item)
            self._finish(lane, item.row)
        finally:
            places.release()

    async def _score_block(self, lane: Lane, answered: Sequence[Todo]) -> None:
        async def one(item: Todo) -> None:
            if not self.scorer.now(item):
                await self.scorer.score(item)
            self._finish(lane, item.row)

        async with asyncio.TaskGroup() as group:
            for item in answered:
                await self.scorer.ready_for_a_row()
                group.create_task(one(item))
        await self._breathe()

    def _finish(self, lane: Lane, row: Row) -> None:
        lane.scored += 1
        if self.claims is not None:
            self.writer.done(claim_key(row))
        self.watcher.advanced(lane, row)
        if (calls := self.scorer.judge_calls) is not None:
            self.watcher.judged(*calls)


def block_of(work: Iterator[Work], size: int) -> list[Work]:
    """The next ones; what has to wait ends a block, as looking on would not help."""
    block: list[Work] = []
    for item in itertools.islice(work, size):
        block.append(item)
        if item is Waiting.LATER:
            break
    return block


def _leaves(errors: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in errors.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error
