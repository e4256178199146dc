"""Analysis."""

from typing import TYPE_CHECKING

from ... import front

if TYPE_CHECKING:
    from .analysis import AnalysisOptions, Show, analyse_suite, analysis_estimate, named_parts
    from .turns import lost_turns, plan_turns
else:
    __getattr__, __all__ = front(__name__)
