"""Showing trust: what the commands about a judge print, for people and for machines."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TextIO

from rich.console import Console

from ...reports.leaderboard import count
from ...reports.printable import printable
from ...reports.trust.calibration_object import calibration_object
from ...reports.trust.calibration_table import calibration_table
from ..trust.calibrating import Calibrated
from ..trust.check_report import CheckReport
from .check_table import check_table
from .streams import write_json


def show_calibrations(run: str, found: Sequence[Calibrated], as_json: bool) -> None:
    """How the judge compares with people, metric by metric."""
    for each in found:
        for warning in each.warnings:
            sys.stderr.write(f"proctor: {printable(warning)}\n")
    if as_json:
        write_json({"run": run, "metrics": {each.metric: _object(each) for each in found}}, sys.stdout)
        return
    console = Console(emoji=False, highlight=False)
    width = console.width if console.is_terminal else 80
    for each in found:
        for line in _head(run, each):
            console.print(line, markup=False, soft_wrap=True)
        console.print()
        console.print(calibration_table(each.by_bot, each.scale.column, each.judge, width), width=width)
        console.print()
    console.print("Kept: reports show the corrected figures beside the judge's own.", markup=False, soft_wrap=True)


def show_check(report: CheckReport, as_json: bool, stdout: TextIO) -> None:
    """How a judge did on known cases."""
    if as_json:
        write_json(report.as_object, stdout)
        return
    console = Console(emoji=False, highlight=False, file=stdout)
    console.print(check_table(report), width=console.width if console.is_terminal else 80)


def _head(run: str, found: Calibrated) -> Iterator[str]:
    judge = f", judged by {printable(found.judge_name)}" if found.judge else ""
    yield f"{printable(found.metric)}{judge}, run {run}"
    parts = [count(found.from_file, "label")] if found.from_file or not found.from_before else []
    if found.from_before:
        parts.append(f"{count(found.from_before, 'label')} from before")
    if found.blank:
        parts.append(f"{found.blank:,} left blank")
    yield ", ".join(parts)


def _object(found: Calibrated) -> dict[str, object]:
    return {
        "judge": found.judge,
        "version": found.scale.column.version,
        "threshold": found.scale.column.threshold,
        "labels_from_file": found.from_file,
        "labels_from_before": found.from_before,
        "left_blank": found.blank,
        "warnings": list(found.warnings),
        "bots": {each.bot: calibration_object(each) for each in found.by_bot if each.bot is not None},
        "all_bots": next((calibration_object(each) for each in found.by_bot if each.bot is None), None),
    }
