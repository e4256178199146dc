"""Held run: what came of a suite, as tests ask it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ... import InputError
from ...reports.comparing.changed_parts import bot_states
from ...reports.comparing.run_tables import run_tables
from ...reports.frames import FrameRow, frame_rows
from ...reports.reported_run import open_reported
from ...reports.store import Store
from ...reports.summary import BotSummary, Summary
from ..deciding.confirmation import Confirmation
from ..deciding.gate import judged
from ..deciding.gate_sides import open_base, refuse_itself
from ..exams.run_config import RunConfig
from ..suite.mistakes import nearest
from .held_row import HeldRow
from .judgement import Judgement

if TYPE_CHECKING:
    from ..suite.suite_file import LoadedSuite


@dataclass(frozen=True)
class HeldExam:
    """An exam that was held, once a session, whichever tests ask for it."""

    loaded: LoadedSuite
    summary: Summary
    store: Store
    run_id: int
    problems: Mapping[str, str]  # why a bot could not be asked, or not to the end
    options: RunConfig = field(default_factory=RunConfig)

    @cached_property
    def rows(self) -> Mapping[tuple[str, str], HeldRow]:
        """Every row by bot and question."""
        reported = open_reported(self.store, self.run_id, self.summary)
        found: dict[tuple[str, str], list[FrameRow]] = {}
        for row in frame_rows(reported, list(reported.columns)):
            found.setdefault((row.bot, row.question_id), []).append(row)
        return {place: HeldRow(tuple(rows)) for place, rows in found.items()}

    def row(self, bot: str, key: str) -> HeldRow:
        """The answer of a bot to a question, by its id; raises InputError where it was not asked such a one."""
        if (bot, key) not in self.rows:
            asked = [each for name, each in self.rows if name == bot]
            why = f": {self.problems[bot]}" if bot in self.problems else nearest(key, asked)
            raise InputError(f"{bot} was not asked {key!r}{why}")
        return self.rows[bot, key]


def _nobody_reads(sentence: str) -> None:
    """What is asked again is no news while tests run."""


@dataclass(frozen=True, slots=True)
class HeldRun:
    """An exam as a test in some folder sees it: its bots by name."""

    exam: HeldExam
    folder: Path
    shown: list[object]  # what pytest shows in full when the test fails

    @property
    def summary(self) -> Summary:
        """Means, intervals and counts of every bot and metric."""
        return self.exam.summary

    def bot(self, name: str) -> HeldBot:
        """A bot of the run.

        Raises:
            InputError: the run has no such bot.
        """
        known = [bot.name for bot in self.summary.bots]
        if name not in known:
            raise InputError(f"The run {self.summary.run} has no bot {name!r}{nearest(name, known)}")
        return HeldBot(self, name)

    def placed(self, side: str) -> str:
        """A side of a comparison, with the file that it names where it is: beside the test or beside the suite."""
        file, colon, bot = side.rpartition(":")
        for place in (self.folder, self.exam.loaded.base):
            if (place / side).is_file():
                return str(place / side)
            if file and (place / file).is_file():
                return f"{place / file}{colon}{bot}"
        return side


@dataclass(frozen=True, slots=True)
class HeldBot:
    """A bot of a run that was held."""

    run: HeldRun
    name: str

    @property
    def summary(self) -> BotSummary:
        """Latency, failures, cost, and every metric with its interval."""
        return next(bot for bot in self.run.summary.bots if bot.name == self.name)

    def mean(self, metric: str) -> float | None:
        """The mean of a metric over the rows that have a value; None where none has.

        Raises:
            InputError: the run has no such metric.
        """
        known = self.summary.metrics
        if metric not in known:
            raise InputError(f"The run {self.run.summary.run} has no metric {metric!r}{nearest(metric, known)}")
        return known[metric].mean

    def row(self, key: str) -> HeldRow:
        """The answer to a question, by its id.

        Raises:
            InputError: the bot was not asked such a question.
        """
        return self.run.exam.row(self.name, key)

    def not_worse_than(
        self, baseline: str | Path, *, margins: Mapping[str, float] | None = None, or_undecided: bool = False
    ) -> Judgement:
        """Whether the bot is not worse than it was, as ``proctor gate`` has it; true or false in an assertion.

        Args:
            baseline: a file of ``proctor baseline`` or a database, beside the test, the suite or the working directory;
                a run of the tests' database; or another bot of this run.
            margins: by metric how much worse its mean may become; they go before those of the suite.
            or_undecided: let pass what more questions would have to settle.

        Raises:
            InputError: there is no such baseline, or the bot can't be compared with it.
        """
        exam = self.run.exam
        suite = exam.loaded.suite
        rule = suite.gate.rule(suite.thresholds, margins, seed=suite.seed)
        head = run_tables(exam.store, exam.run_id)
        with open_base(self.run.placed(str(baseline)), head, exam.store.path) as base:
            refuse_itself(base, head.run)
            asking = Confirmation(exam.loaded, exam.options, os.environ, exam.store, base, _nobody_reads)
            states = bot_states(exam.store, exam.run_id)
            found = judged(head, base, [self.name], rule, asking=asking, states=states)
        judgement = Judgement(found, or_undecided)
        self.run.shown.append(judgement)
        return judgement
