"""Gate outputs: a gate's result on the terminal, as JSON, and in files for build servers and pull requests."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

from ... import InputError
from ...reports.gating.gate_annotations import gate_annotations
from ...reports.gating.gate_junit import gate_junit
from ...reports.gating.gate_markdown import gate_markdown
from ...reports.gating.gate_objects import bot_object, rule_object
from ...reports.whole_files import check_file, whole_file
from ...reports.workflow_commands import paused
from ..deciding.gate import GateResult
from .gate_table import gate_table, saved_lines
from .step_summary import write_step
from .streams import write_json
from .table_console import TableConsole

STDOUT = Path("-")


@dataclass(frozen=True, slots=True)
class GateOutputs:
    """Where the result goes; None for a file that is not wanted, ``-`` for Markdown on stdout."""

    as_json: bool = False
    junit: Path | None = None
    markdown: Path | None = None
    github: bool = False

    def check(self, in_use: Mapping[Path, str]) -> None:
        """See that everything can be written, before anything is asked.

        Args:
            in_use: resolved paths of what is read, each with what names it.

        Raises:
            InputError: a file can't be written, or two outputs want stdout.
        """
        if self.as_json and self.markdown == STDOUT:
            raise InputError("--json and --markdown - both want stdout; give one of them a file.")
        if self.junit == STDOUT:
            raise InputError("--junit wants the name of a file; '-' is for --markdown.")
        taken = dict(in_use)
        for option, path in (("--junit", self.junit), ("--markdown", self.markdown)):
            if path is not None and path != STDOUT:
                check_file(path, option, taken)
                taken[path.resolve()] = option


def show_gate(result: GateResult, outputs: GateOutputs, stdout: TextIO, environ: Mapping[str, str]) -> None:
    """Write the files, then the table, the object or the page; ``environ`` names GitHub's summary file.

    Raises:
        InputError: a file can't be written.
    """
    page = gate_markdown(result.report, [*_causes(result), *_saved(result)])
    if outputs.junit is not None:
        _write(outputs.junit, gate_junit(result.report))
    if outputs.markdown is not None and outputs.markdown != STDOUT:
        _write(outputs.markdown, page)
    quiet = outputs.as_json or outputs.markdown == STDOUT
    if outputs.as_json:
        write_json(gate_object(result), stdout)
    elif outputs.markdown == STDOUT:
        stdout.flush()
        stdout.buffer.write(page.encode())
        stdout.buffer.flush()
    else:
        _print(result, outputs.github, stdout)
    if outputs.github:
        stream = sys.stderr if quiet else stdout
        if told := write_step(page, gate_annotations(result.report), stream, environ):
            sys.stderr.write(f"{told}\n")


def gate_object(result: GateResult) -> dict[str, object]:
    """Everything, for programs."""
    report = result.report
    return {
        "suite": report.suite,
        "run": report.run,
        "status": report.status,
        "baseline": {"from": report.baseline, "run": report.baseline_run},
        "verdict": next((bot.word for bot in report.bots if bot.exit_code == report.exit_code), "not comparable"),
        "exit_code": report.exit_code,
        "primary": report.primary and report.primary.as_object,
        "took": result.took,
        "rule": rule_object(report.rule),
        "bots": {bot.bot: bot_object(bot) for bot in report.bots},
        "notes": list(report.notes),
        "saved": None if result.saved is None else asdict(result.saved),
        "early_stop": None if result.early is None else result.early.as_object,
        "attribution": None if result.explained is None else result.explained.as_object,
    }


def _causes(result: GateResult) -> list[str]:
    return [] if result.explained is None else result.explained.sentences


def _saved(result: GateResult) -> list[str]:
    return [] if result.saved is None else list(saved_lines(result.saved))


def _print(result: GateResult, github: bool, stdout: TextIO) -> None:
    before, after = paused() if github else ("", "")
    if before:
        stdout.write(f"{before}\n")
    TableConsole(stdout).print(gate_table(result))
    if after:
        stdout.write(f"{after}\n")


def _write(path: Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode("utf-8", "replace"))
    sys.stderr.write(f"Wrote {path}.\n")
