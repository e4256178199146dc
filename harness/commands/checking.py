"""Checking: the judge of a suite put to known cases, and the result kept."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from pathlib import Path

from ...reports.judging.kept_checks import keep_check
from ...reports.store import Store
from ..engine.interrupts import Interrupts
from ..exams.exam import Exam
from ..exams.run_config import RunConfig
from ..exams.suite_exam import suite_exam
from ..suite.judge_settings import CheckSettings
from ..suite.suite_file import LoadedSuite
from ..trust.canaries import kinds
from ..trust.check_report import CheckReport
from ..trust.judge_check import calls_of, check_judge, fingerprint


def check_suite(
    loaded: LoadedSuite, judge: str, judge_url: str, repeats: int | None, every: bool, database: Path,
    environ: Mapping[str, str],
) -> CheckReport:  # fmt: skip
    """Put a suite's judge, or the one that the command line names, to the cases of the calls that its metrics make.

    A suite whose metrics ask no judge gets the cases of every kind. The result is kept, so that a run that wants the
    judge checked finds it.

    Raises:
        InputError: the suite or the judge can't be used.
        JudgeUnfit: the judge can't be reached.
    """
    exam = suite_exam(loaded, RunConfig(judge=judge, judge_url=judge_url, only_planned=True), environ)
    wanted = exam.judging.settings.check or CheckSettings()
    floors = wanted.model_copy(update={"repeats": repeats}) if repeats else wanted
    calls = list(kinds()) if every else calls_of(exam.plan) or list(kinds())
    with contextlib.closing(Store.open(database)) as store:
        with Interrupts() as interrupts:
            report = interrupts.run(_check(exam, calls, floors))
        if not report.unavailable:
            keep_check(
                store, fingerprint(exam.judging, calls, floors), report.judge, report.accuracy, report.hostile,
                report.as_object,
            )  # fmt: skip
    return report


async def _check(exam: Exam, calls: list[str], floors: CheckSettings) -> CheckReport:
    try:
        return await check_judge(exam.judging, calls, floors)
    finally:
        await exam.judging.close()
        await asyncio.to_thread(exam.embedder.close)
