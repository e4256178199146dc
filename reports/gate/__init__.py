"""Gate."""

from typing import TYPE_CHECKING

from ... import front

if TYPE_CHECKING:
    from .report import GateReport
    from .rule import ALL, CONFIRM, MARGIN, MEANING, MISSING, WRONG, GateRule, Scope
    from .verdicts import Again, BotVerdict
else:
    __getattr__, __all__ = front(__name__)
