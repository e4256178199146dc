"""The SQLite file: schema, writer and caches."""

from typing import TYPE_CHECKING

from ... import front

if TYPE_CHECKING:
    from .database import Store as Store
    from .encoding import question_fingerprint as question_fingerprint
    from .encoding import to_json as to_json
    from .encoding import tool_calls_column as tool_calls_column
    from .encoding import tool_calls_of as tool_calls_of
    from .given_scores import GivenRow as GivenRow
    from .given_scores import keep_given as keep_given
    from .judge_calls import link_cached_calls as link_cached_calls
    from .leases import Leases as Leases
    from .run import EARLY_STOP as EARLY_STOP
    from .run import LATEST as LATEST
    from .run import LATEST_FIRST as LATEST_FIRST
    from .run import Row as Row
    from .run import RowStatus as RowStatus
    from .run import RunEvaluator as RunEvaluator
    from .run import RunHeader as RunHeader
    from .run import RunMetric as RunMetric
    from .run import ask_key as ask_key
    from .run import bot_fingerprint as bot_fingerprint
    from .run_results import OpenRun as OpenRun
    from .run_results import RunResults as RunResults
    from .run_scores import keep_run_scores as keep_run_scores
    from .vector_cache import VectorCache as VectorCache
    from .writer import RowWriter as RowWriter

__getattr__, __all__ = front(__name__)
