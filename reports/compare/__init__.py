"""Compare."""

from typing import TYPE_CHECKING

from ... import front

if TYPE_CHECKING:
    from .baseline import BaselineChoice, write_baseline
    from .changes import BotState, part_changes
    from .comparable import mean_of_repeats
    from .comparison import (
        FEW_CLUSTERS,
        Asked,
        Compared,
        Comparison,
        Correction,
        MetricComparison,
        cluster_noun,
        compare_bots,
    )
    from .messages import interval, signed
    from .operands import MOST_NAMED, WORDS, Operand, check_bot, find_file, open_operand, split_file, unknown_bot
    from .power import CORRELATION, Need, Plan, Planned, Wish, make_plan
    from .scores import RunTables, ScoreTable, estimate, run_tables
    from .side_by_side import tournament
else:
    __getattr__, __all__ = front(__name__)
