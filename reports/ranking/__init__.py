"""Which of several bots is best, for what, how surely, and when a bot should rather not answer."""

from typing import TYPE_CHECKING

from ... import front

if TYPE_CHECKING:
    from .abstention import OUTCOMES, Costs
    from .ranked_run import AbstainedRun, InDetail, RankedRun, abstained_run
    from .routing import Offer
else:
    __getattr__, __all__ = front(__name__)
