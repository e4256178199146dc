"""Gate."""

from typing import TYPE_CHECKING

from ... import front

if TYPE_CHECKING:
    from .attribution import explained
    from .gate import (
        GateOptions,
        GateResult,
        gate_cached,
        gate_suite,
        result_blocks,
        result_markdown,
        result_object,
        suite_baseline,
    )
else:
    __getattr__, __all__ = front(__name__)
