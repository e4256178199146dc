"""Short figures: shares and their changes with intervals, in as few characters as tables of 80 columns want."""

from __future__ import annotations

from ..statistics.paired import Difference
from .estimate import Estimate


def share(found: Estimate | None) -> str:
    """A share with its interval.

    >>> share(Estimate(0.5, 0.25, 0.75, 10, 10))
    '0.50 .25-.75'
    """
    if found is None:
        return "-"
    if found.low is None or found.high is None:
        return f"{found.mean:.2f}"
    return f"{found.mean:.2f} {_short(found.low)}-{_short(found.high)}"


def change(found: Difference | None) -> str:
    """A difference with its sign and interval."""
    if found is None:
        return "-"
    if found.low is None or found.high is None:
        return f"{found.mean:+.2f}"
    return f"{found.mean:+.2f} [{_short(found.low)}, {_short(found.high)}]"


def _short(value: float) -> str:
    """Two digits without the zero before the point."""
    text = f"{value:.2f}"
    text = "0" if float(text) == 0 else text
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text.removesuffix(".00")
