"""Exams in tests: suites that are held once a session, and the rows that a mark asks for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ... import InputError
from ...knowledge.question_files import open_questions
from ...reports.store import Store
from ...reports.summary import find_run
from ..exams.exam import hold
from ..exams.run_config import RunConfig
from ..exams.suite_exam import chosen_bots, suite_exam
from ..showing.progress import Silent
from ..suite.mistakes import nearest
from ..suite.suite_file import load_suite
from .held_row import HeldRow
from .held_run import HeldExam, HeldRun

if TYPE_CHECKING:
    from collections.abc import Sequence

_IN_PYTHON = {"only_planned", "metrics", "metric_files", "options", "functions", "given"}  # of no use in a mark
OPTIONS = tuple(field.name for field in fields(RunConfig) if field.name not in _IN_PYTHON)


@dataclass(frozen=True, slots=True)
class WantedRow:
    """A row that a test is about; the exam is held when the test begins."""

    suite: Path
    options: RunConfig
    bot: str
    key: str


class SessionExams:
    """The exams of a session: a suite with the same options is held once; answers of earlier sessions are kept."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._store: Store | None = None
        self._held: dict[tuple[Path, RunConfig], HeldExam | InputError] = {}

    def hold(self, suite: Path, options: RunConfig) -> HeldExam:
        """Hold a suite, or give what came of it earlier; one that can't be held is not tried for every test anew.

        Raises:
            InputError: the suite can't be used.
        """
        place = suite, options
        if place not in self._held:
            try:
                self._held[place] = self._hold(suite, options)
            except InputError as reason:
                self._held[place] = reason
        held = self._held[place]
        if isinstance(held, InputError):
            raise held.with_traceback(None)
        return held

    def _hold(self, suite: Path, options: RunConfig) -> HeldExam:
        loaded = load_suite(suite)
        self._store = self._store or Store.open(self._database)
        outcome = hold(suite_exam(loaded, options, os.environ), self._store, Silent())
        run_id, _ = find_run(self._store, outcome.summary.run)
        return HeldExam(loaded, outcome.summary, self._store, run_id, outcome.problems, options)

    def row(self, wanted: WantedRow) -> HeldRow:
        """The answer that a test is about."""
        return self.hold(wanted.suite, wanted.options).row(wanted.bot, wanted.key)

    def close(self) -> None:
        """Close the database."""
        if self._store is not None:
            self._store.close()


@dataclass(frozen=True, slots=True)
class ExamsInTests:
    """What the fixture ``proctor`` gives: exams, held for a test in some folder."""

    exams: SessionExams
    folder: Path
    shown: list[object]

    def run(self, suite: str | Path, **options: object) -> HeldRun:
        """Hold a suite, or give what came of it earlier in this session.

        Args:
            suite: the suite file or its folder, relative to the folder of the test or to the working directory.
            options: as those of ``proctor run``: ``bots`` (or ``bot``), ``limit``, ``repeat``, ``concurrency``,
                ``fresh``, ``latency_run``, ``judge``, ``judge_url``, ``local_models``.

        Raises:
            InputError: the suite or an option can't be used.
        """
        return HeldRun(self.exams.hold(found(suite, self.folder), run_options(options)), self.folder, self.shown)


def wanted_rows(test_file: Path, mark: pytest.Mark, test: str) -> Sequence[WantedRow]:
    """The rows that a mark asks for, one for each bot and question.

    Raises:
        pytest.Collector.CollectError: the mark, the suite or its questions can't be used.
    """
    if len(mark.args) != 1 or not isinstance(mark.args[0], (str, Path)):
        raise pytest.Collector.CollectError(
            f"{test}: the mark wants one suite file: @pytest.mark.proctor('suite.yaml')"
        )
    try:
        path = found(mark.args[0], test_file.parent)
        options = run_options(mark.kwargs)
        loaded = load_suite(path)
        questions = [each.id for each in open_questions(loaded.base / loaded.suite.questions, options.limit)]
        bots = chosen_bots(options.bots, list(loaded.suite.bots))
    except InputError as error:
        raise pytest.Collector.CollectError(f"{test}: {error}") from None
    return [WantedRow(path, options, bot, key) for bot in bots for key in questions]


def run_options(given: Mapping[str, Any]) -> RunConfig:
    """Options by name, as a test gives them; ``bot`` is one bot, ``bots`` are several.

    Raises:
        InputError: there is no such option.
    """
    options = dict(given)
    if "bot" in options:
        options["bots"] = (options.pop("bot"),)
    for name in options:
        if name not in OPTIONS:
            raise InputError(f"A run has no option {name!r}{nearest(name, OPTIONS)}")
    for name in ("bots", "local_models"):
        if name in options:
            options[name] = (options[name],) if isinstance(options[name], str) else tuple(options[name])
    return RunConfig(**options)


def found(path: str | Path, folder: Path) -> Path:
    """A file that a test names: beside the test, else in the working directory."""
    beside = folder / path
    return beside if beside.exists() or not Path(path).exists() else Path(path).absolute()
