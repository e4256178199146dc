"""Problem: one thing that is wrong in a run, how bad it is, and the words that all problems share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from .row_keys import FoundRows, RowKey

Severity = Literal["high", "medium", "low"]
# Causes before effects: a bot that fails, or a judge that can't be read, also spoils the figures below.
ProblemType = Literal[
    "operations", "evaluation", "data", "privacy", "fairness", "accuracy", "retrieval", "summarization", "robustness"
]
_MOST_NAMED: Final = 8  # metrics that one problem names; of more it counts the rest


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in a run.

    Attributes:
        severity: how bad it is.
        type: what it is about.
        evaluator: id of the evaluator that found it, or None; the first of several.
        metric: the metric that shows it, or None; the first of several.
        bot: the bot that has it, or None.
        threshold: what was wanted, or None.
        value: what was found, or None.
        rows: the first rows behind it, worst first.
        row_count: how many rows are behind it in all.
        what: a sentence that says it.
        action: a sentence that says what to do.
        id: its number in the run, from 1, worst first.
    """

    severity: Severity
    type: ProblemType
    evaluator: str | None
    metric: str | None
    bot: str | None
    threshold: float | None
    value: float | None
    rows: tuple[RowKey, ...]
    row_count: int
    what: str
    action: str
    id: int = 0


def problem_in(
    severity: Severity, type: ProblemType, what: str, action: str, rows: FoundRows,
    *, bot: str, evaluator: str | None = None, metric: str | None = None,
    threshold: float | None = None, value: float | None = None,
) -> Problem:  # fmt: skip
    """A problem that shows in some rows of a bot."""
    return Problem(severity, type, evaluator, metric, bot, threshold, value, rows.keys, rows.total, what, action)


def counted(problems: Sequence[Problem]) -> str:
    """How many problems there are, by severity, in words.

    >>> counted([])
    'No problems'
    """
    if not problems:
        return "No problems"
    severities = [problem.severity for problem in problems]
    parts = [f"{severities.count(name)} {name}" for name in get_args(Severity) if name in severities]
    return f"{len(problems):,} problem{'' if len(problems) == 1 else 's'} ({', '.join(parts)})"


def number_of_rows(number: int) -> str:
    """So many rows, in words.

    >>> number_of_rows(1)
    '1 row'
    """
    return f"{number:,} row{'' if number == 1 else 's'}"


def apart(value: float, threshold: float | None) -> str:
    """The value in as few digits as keep it apart from the threshold.

    >>> apart(0.7499, 0.75), apart(3589.2, 2000)
    ('0.7499', '3600')
    """
    rounded = (f"{value:.{digits}g}" for digits in (2, 3, 4, 6, 9))
    texts = (f"{float(text):.0f}" if "e+" in text else text for text in rounded)
    return next((text for text in texts if float(text) != threshold), str(value))


def listed(metrics: Sequence[str]) -> str:
    """Names of metrics in a sentence.

    >>> listed(["obscene", "threat", "insult"])
    'obscene, threat and insult'
    """
    if len(metrics) > _MOST_NAMED:
        shown = metrics[: _MOST_NAMED - 1]
        return f"{', '.join(shown)} and {len(metrics) - len(shown)} more metrics"
    *before, last = metrics
    return f"{', '.join(before)} and {last}" if before else last
