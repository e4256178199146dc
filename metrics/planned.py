"""What a plan holds: each metric with its options, version and artefacts, ready to be called."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .bench import Step
from .declaring import BlankAnswer, Level
from .score import Aggregate, Better


@dataclass(frozen=True, slots=True)
class PlannedMetric:
    """A metric with its options as they stand in a run, and the version of the scores it gives."""

    id: str
    version: str
    summary: str
    source: str
    threshold: float | None
    better: Better
    low: float | None
    high: float | None
    level: Level
    needs: tuple[str, ...]
    optional: tuple[str, ...]
    options: Mapping[str, object]
    aggregate: Aggregate = "mean"
    is_scaled: bool = False

    def on_scale(self, threshold: float | None) -> float | None:
        """A threshold for values as they stand: one that was given from 0 to 1 is brought to the scale of the run."""
        if threshold is None or not self.is_scaled or self.low is None or self.high is None:
            return threshold
        return self.low + threshold * (self.high - self.low)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A planned metric with all that scoring it takes."""

    metric: PlannedMetric
    step: Step
    below: tuple[Step, ...]  # artefacts in the order of needs
    facts: tuple[str, ...]  # needed, in the order in which a row is checked
    needs_answer: bool
    blank_answer: BlankAnswer
    zero_on_empty: bool
    components: Mapping[str, str] = field(default_factory=dict)  # by need, the metric to which it belongs


def in_order(prepared: Iterable[Prepared]) -> tuple[Step, ...]:
    """The artefacts under some metrics, each once, in the order of needs."""
    return tuple({step.name: step for one in prepared for step in one.below}.values())
