"""Six digits: figures rounded as a baseline file keeps them, so that a file and its database give one verdict."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .score_table import Figures, ScoreTable


def six_digits(value: float) -> float:
    """A figure with six significant digits.

    >>> six_digits(1234.56789)
    1234.57
    """
    return float(f"{value:.6g}")


def at_six_digits(table: ScoreTable) -> ScoreTable:
    """The table with values, latency and cost rounded; what is rounded already comes back equal."""
    return replace(
        table,
        values={name: _rounded(values) for name, values in table.values.items()},
        latency_ms=_rounded(table.latency_ms),
        cost=_rounded(table.cost),
    )


def _rounded(figures: Figures) -> Figures:
    # By way of text as in the file: a factor of ten would leave other last bits.
    different, places = np.unique(figures, return_inverse=True)
    rounded = np.array([six_digits(value) for value in different.tolist()], np.float64)
    return rounded[places].reshape(figures.shape)
