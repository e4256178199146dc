"""Figures with their uncertainty: arrays in, numbers out; nothing here knows a run, a store or a file."""

from typing import TYPE_CHECKING

from ... import front

if TYPE_CHECKING:
    from .paired import Difference
    from .sequential import EValueTest, SequentialInterval
else:
    __getattr__, __all__ = front(__name__)
