"""Made-up paired differences of known mean: what simulations of intervals, gates and plans draw from."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Draw = Callable[[np.random.Generator, int], np.ndarray]


@dataclass(frozen=True)
class Source:
    """Differences of a kind: ``draw(chance, samples)`` gives (samples, questions), ``mean`` is their true mean."""

    name: str
    codes: np.ndarray
    mean: float
    draw: Draw
    binary: bool = False
    reach: float = 1.0

    def samples(self, count: int, seed: int = 20261121) -> np.ndarray:
        return self.draw(np.random.default_rng(seed), count)


def alone(questions: int) -> np.ndarray:
    return np.arange(questions)


def equal(clusters: int, size: int) -> np.ndarray:
    return np.repeat(np.arange(clusters), size)


def unequal(clusters: int, seed: int = 5) -> np.ndarray:
    """Sizes from 1 to some tens, most of them small."""
    sizes = np.maximum(1, np.round(np.random.default_rng(seed).lognormal(1.5, 1.0, clusters))).astype(int)
    return np.repeat(np.arange(clusters), sizes)


def normal(codes: np.ndarray, likeness: float, mean: float = 0.0, deviation: float = 0.2) -> Draw:
    """Normal differences, correlated by ``likeness`` within a cluster."""

    def draw(chance: np.random.Generator, samples: int) -> np.ndarray:
        shared = chance.standard_normal((samples, codes.max() + 1))[:, codes]
        own = chance.standard_normal((samples, len(codes)))
        return mean + deviation * (np.sqrt(likeness) * shared + np.sqrt(1 - likeness) * own)

    return draw


def losses(codes: np.ndarray, scale: float = 0.2) -> Draw:
    """Exponential losses, none more than 1: a long tail below."""
    return lambda chance, samples: -np.minimum(chance.exponential(scale, (samples, len(codes))), 1.0)


def leaning_clusters(codes: np.ndarray, scale: float = 0.1, deviation: float = 0.1) -> Draw:
    """A few documents lose much, all their questions together: exponential by cluster, normal within it."""

    def draw(chance: np.random.Generator, samples: int) -> np.ndarray:
        shared = chance.exponential(scale, (samples, codes.max() + 1))[:, codes]
        return deviation * chance.standard_normal((samples, len(codes))) - shared

    return draw


def mostly_none(codes: np.ndarray, share: float, down: float) -> Draw:
    """A ``share`` of the questions changes, by up to 1; ``down`` of the changes are losses."""

    def draw(chance: np.random.Generator, samples: int) -> np.ndarray:
        shape = (samples, len(codes))
        signs = np.where(chance.random(shape) < down, -1.0, 1.0)
        return (chance.random(shape) < share) * signs * chance.random(shape)

    return draw


def yes_no(codes: np.ndarray, gained: float, lost: float, likeness: float = 0.0) -> Draw:
    """Answers that turn right and wrong, correlated by ``likeness`` within a cluster (beta-binomial)."""

    def turned(chance: np.random.Generator, samples: int, share: float) -> np.ndarray:
        if not share or not likeness:
            return chance.random((samples, len(codes))) < share
        beads = 1 / likeness - 1
        level = chance.beta(share * beads, (1 - share) * beads, (samples, codes.max() + 1))[:, codes]
        return chance.random((samples, len(codes))) < level

    def draw(chance: np.random.Generator, samples: int) -> np.ndarray:
        if not likeness:  # both cannot happen to one question
            drawn = chance.random((samples, len(codes)))
            return (drawn < gained) * 1.0 - (drawn > 1 - lost)
        up, down = turned(chance, samples, gained), turned(chance, samples, lost)
        return (up & ~down) * 1.0 - (down & ~up)

    return draw


def yes_no_mean(gained: float, lost: float, likeness: float = 0.0) -> float:
    return gained - lost if not likeness else gained * (1 - lost) - lost * (1 - gained)


def gains_tail(codes: np.ndarray, scale: float = 0.1) -> Draw:
    """Mean 0 with a long tail above, so that most questions lose a little: exponential less its mean."""
    return lambda chance, samples: chance.exponential(scale, (samples, len(codes))) - scale


def gains_tail_by_cluster(codes: np.ndarray, scale: float = 0.1, deviation: float = 0.1) -> Draw:
    """Mean 0; a few documents gain much, all their questions together."""

    def draw(chance: np.random.Generator, samples: int) -> np.ndarray:
        shared = chance.exponential(scale, (samples, codes.max() + 1))[:, codes] - scale
        return shared + deviation * chance.standard_normal((samples, len(codes)))

    return draw


def few_great_gains(codes: np.ndarray, gaining: float, losing: float) -> Draw:
    """Mean 0 of few gains of 0.2 to 1 and more, smaller losses; most questions do not change."""
    loss = gaining * 0.6 / losing

    def draw(chance: np.random.Generator, samples: int) -> np.ndarray:
        drawn, size = (chance.random((samples, len(codes))) for _ in range(2))
        return (drawn < gaining) * (0.2 + 0.8 * size) - (drawn > 1 - losing) * loss * (0.5 + size)

    return draw
