"""Metric outcomes: which metrics say of a row whether it is right."""

from __future__ import annotations

from collections.abc import Mapping

from ...metrics.evaluator_table import RATES
from ..summary import MetricColumn


def is_outcome(column: MetricColumn, columns: Mapping[str, MetricColumn]) -> bool:
    """Whether it says which of two rows is better; of a boolean evaluator only the outcome of the row does."""
    family, _, rate = column.name.rpartition(".")
    mirrored = rate in RATES[1:] and f"{family}.{RATES[0]}" in columns
    return column.better != "neither" and not mirrored
