"""Metric sentences: the verdict on a metric in words."""

from __future__ import annotations

from ..leaderboard import count
from ..statistics.paired import Difference
from ..summary import MetricColumn
from .gate_rule import Outcome
from .these_questions import OnThese


def sentence_of(
    outcome: Outcome, gain: Difference | None, adjusted_p: float | None, tests: int, margin: float,
    further: int | None, column: MetricColumn,
) -> str:  # fmt: skip
    """Why the verdict is what it is."""
    if gain is None:
        return "no question has a value on both sides"
    if gain.low is None or gain.high is None:
        return f"{gain.untold}, so how far the figures reach can't be told"
    if outcome == "not worse":
        return f"a loss of {margin:g} is ruled out"
    among = f" after Holm over {count(tests, 'metric')}" if tests > 1 else ""
    if outcome == "regressed":
        return f"worse by {shown(-gain.mean, column)}, p {p_value(adjusted_p)}{among}"
    settle = f"; about {count(further, 'further question')} would settle it" if further else ""
    if gain.high < 0:
        return f"it looks worse, but p is {p_value(adjusted_p)}{among}{settle}"
    return f"a loss of {margin:g} is neither ruled out nor shown{settle}"


def these_sentence(found: OnThese, margin: float, column: MetricColumn) -> str:
    """What is said of these very questions, and why."""
    if not found.worse + found.better:
        return f"no value changed on these {count(found.questions, 'question')}"
    moved = f"{found.worse:,} of {found.questions:,} worse, {found.better:,} better"
    asked = f"{count(found.asked_again, 'answer')} asked again" if found.asked_again else "nothing asked again"
    noise = f"noise ±{shown(1.96 * found.noise, column)}, {asked}"
    if found.outcome == "regressed":
        return f"worse by {shown(-found.gain, column)} on these questions: {moved}; {noise}"
    told = f"{signed(found.gain, column)} on these questions: {moved}; {noise}"
    if found.outcome == "not worse":
        return f"{told}; a loss of {margin:g} is ruled out"
    return f"{told}; a loss of {margin:g} is neither ruled out nor shown"


def shown(value: float, column: MetricColumn) -> str:
    """A difference or margin in as many digits as the metric's scale deserves; never -0.00."""
    if column.high is not None and column.high <= 1:
        text = f"{value:.3f}" if abs(value) < 0.1 else f"{value:.2f}"
    else:
        text = f"{value:.3g}"
    return text.removeprefix("-") if not float(text) else text


def signed(value: float, column: MetricColumn) -> str:
    """As ``shown``, with a plus where it is above zero."""
    text = shown(value, column)
    return f"+{text}" if float(text) > 0 else text


def p_value(value: float | None) -> str:
    """A p value as people write it.

    >>> p_value(0.00004)
    '< 0.001'
    """
    if value is None:
        return "unknown"
    return "< 0.001" if value < 0.001 else f"{value:.2g}"
