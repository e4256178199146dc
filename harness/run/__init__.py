"""One pass of bots over questions: put together, asked, scored, stored."""

from typing import TYPE_CHECKING

from ... import front

if TYPE_CHECKING:
    from .engine import Watcher as Watcher
    from .estimate import CostEstimate as CostEstimate
    from .estimate import cost_estimate as cost_estimate
    from .estimate import estimate_blocks as estimate_blocks
    from .estimate import estimate_object as estimate_object
    from .interrupts import STOP as STOP
    from .interrupts import Interrupts as Interrupts
    from .interrupts import Stop as Stop
    from .judging import JudgeUnfit as JudgeUnfit
    from .judging import Judging as Judging
    from .progress import Silent as Silent
    from .progress import watching as watching
    from .queues import BotQueue as BotQueue
    from .recorded_run import recorded_evaluation as recorded_evaluation
    from .run import Evaluation as Evaluation
    from .run import Outcome as Outcome
    from .run import run_evaluation as run_evaluation
    from .run_config import AskOptions as AskOptions
    from .run_config import GivenBot as GivenBot
    from .run_config import KnowledgeOptions as KnowledgeOptions
    from .run_config import RunConfig as RunConfig
    from .run_config import RunOptions as RunOptions
    from .run_config import ScoreMetadata as ScoreMetadata
    from .run_config import ScoreOptions as ScoreOptions
    from .suite_run import suite_evaluation as suite_evaluation

__getattr__, __all__ = front(__name__)
