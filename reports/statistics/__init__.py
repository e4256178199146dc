"""Figures with their uncertainty: arrays in, numbers out; nothing here knows a run, a store or a file."""

from typing import TYPE_CHECKING

from ... import front

if TYPE_CHECKING:
    from .intervals import Clusters, Figures, missing_bounds
    from .latency import LatencyDifference, is_held_up, latency_difference
    from .paired import Difference, difference, paired_intervals, sign_flip
    from .power import benjamini_hochberg, holm, questions_to_settle
    from .sequential import EValueTest, SequentialInterval
    from .variance import VarianceParts, variance_parts
else:
    __getattr__, __all__ = front(__name__)
