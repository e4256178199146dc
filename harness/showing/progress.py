"""Progress: how far a run is, on stderr, and only where somebody watches."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from ...reports.printable import printable
from ...reports.run import Row
from ..engine.lanes import Lane

EVERY = 0.1  # seconds between two looks at the screen


class Silent:
    """Nobody watches."""

    def advanced(self, lane: Lane, row: Row | None) -> None:
        """Say nothing."""

    def judged(self, calls: int, cost: float | None) -> None:
        """Say nothing."""

    def said(self, sentence: str) -> None:
        """Say nothing."""


class ProgressBars:
    """A bar for each bot, with what was kept, what failed, the rate and the cost so far."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeRemainingColumn(compact=True),
            TextColumn("{task.fields[note]}", markup=False),
            console=console,
            transient=True,
        )
        self._tasks: dict[str, TaskID] = {}
        self._done: dict[str, int] = {}
        self._cost: dict[str, float] = {}
        self._began: dict[str, float] = {}
        self._shown: dict[str, float] = {}
        self._judge: TaskID | None = None
        self._judge_shown = 0.0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def advanced(self, lane: Lane, row: Row | None) -> None:
        """Move the lane's bar, at most ten times a second."""
        self._done[lane.name] = done = self._done.get(lane.name, 0) + 1
        if row is not None and not row.kept and row.reply is not None and row.reply.usage.cost:
            self._cost[lane.name] = self._cost.get(lane.name, 0.0) + row.reply.usage.cost
        moment = time.monotonic()
        if done < lane.total and moment - self._shown.get(lane.name, 0.0) < EVERY:
            return
        self._shown[lane.name] = moment
        self._progress.update(self._task(lane), completed=done, note=self._note(lane, moment))

    def judged(self, calls: int, cost: float | None) -> None:
        """A line for the judge below those of the bots, as often as they move."""
        moment = time.monotonic()
        if moment - self._judge_shown < EVERY:
            return
        self._judge_shown = moment
        if self._judge is None:
            self._judge = self._progress.add_task("judge", total=None, note="")
        spent = "" if cost is None else f", cost {cost:.4f}"
        self._progress.update(self._judge, completed=calls, note=f"calls{spent}")

    def said(self, sentence: str) -> None:
        """A line above the bars."""
        self._progress.console.print(printable(sentence), style="dim", markup=False, highlight=False)

    def _task(self, lane: Lane) -> TaskID:
        if lane.name not in self._tasks:
            self._began[lane.name] = time.monotonic()
            self._tasks[lane.name] = self._progress.add_task(printable(lane.name), total=lane.total, note="")
        return self._tasks[lane.name]

    def _note(self, lane: Lane, moment: float) -> str:
        seconds = moment - self._began.get(lane.name, moment)
        notes = []
        if seconds > 1 and lane.asked:
            notes.append(f"{lane.asked / seconds:.0f}/s")
        if lane.kept:
            notes.append(f"{lane.kept} kept")
        if lane.failed:
            notes.append(f"{lane.failed} failed")
        if lane.name in self._cost:
            notes.append(f"cost {self._cost[lane.name]:.4f}")
        return ", ".join(notes)
