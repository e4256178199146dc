"""What perturbation a question, or asking it again, does to the answers."""

from typing import TYPE_CHECKING

from ... import front

if TYPE_CHECKING:
    from .perturbed import latest_perturbed, perturbed_run, source_run
    from .robustness import Robustness
else:
    __getattr__, __all__ = front(__name__)
