"""Run annotations: what is badly wrong in a run, as GitHub Actions shows it beside the checks of a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from .leaderboard import count
from .markdown_text import one_line
from .problem import counted
from .report import Report
from .workflow_commands import Annotation, commands


def run_annotations(report: Report) -> Iterator[str]:
    """The commands, a line each: an error for every problem of high severity, and a notice of how many there are."""
    summary = report.run.summary
    suite = one_line(summary.suite, 100)
    problems = report.findings.problems
    found = [
        Annotation("error", f"{suite}: {problem.type}", f"{problem.what} {problem.action}")
        for problem in problems
        if problem.severity == "high"
    ]
    asked = f"run {summary.run}, {count(summary.questions, 'question')}, {count(len(summary.bots), 'bot')}"
    found.append(Annotation("notice", f"proctor report: {suite}", f"{counted(problems)}; {asked}"))
    return commands(found, "proctor report")
