"""Agreement of scores with labels: AUROC, correlations, cross-validated thresholds, and intervals over documents."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SEED = 20261121
RESAMPLES = 1000
FOLDS = 5

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Statistic = Callable[[Rows], float]  # of the rows with these numbers; a row may come several times


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True, slots=True)
class Decided:
    """How well yes and no agree with the labels."""

    accuracy: float
    balanced: float
    f1: float

    def __str__(self) -> str:
        return f"{self.accuracy:.3f} / {self.balanced:.3f} / {self.f1:.3f}"


def numbered(names: Sequence[Hashable]) -> NDArray[np.intp]:
    """Each name as a number, in the order in which names first come."""
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(name, len(known)) for name in names], dtype=np.intp)


def bootstrap(statistic: Statistic, clusters: NDArray[np.intp]) -> Figure:
    """The statistic of all rows, and the range of its values when whole clusters are drawn with replacement.

    Draws for which the statistic is undefined (one class only) don't count.
    """
    members = [np.flatnonzero(clusters == cluster) for cluster in range(int(clusters.max()) + 1)]
    members = [rows for rows in members if len(rows)]
    drawer = np.random.default_rng(SEED)
    drawn = [
        statistic(np.concatenate([members[place] for place in drawer.integers(0, len(members), len(members))]))
        for _ in range(RESAMPLES)
    ]
    low, high = np.nanpercentile(np.array(drawn), [2.5, 97.5])
    return Figure(statistic(np.arange(len(clusters))), float(low), float(high))


def auroc(scores: Floats, labels: NDArray[np.bool_]) -> float:
    """Chance that a row labelled yes scores higher than one labelled no, ties counting half; nan for one class."""
    from scipy.stats import rankdata

    yes = int(labels.sum())
    no = len(labels) - yes
    if not yes or not no:
        return float("nan")
    return float((rankdata(scores)[labels].sum() - yes * (yes + 1) / 2) / (yes * no))


def correlation(kind: str, first: Floats, second: Floats) -> float:
    """Pearson, Spearman or Kendall's tau-b; nan where one side does not vary."""
    from scipy import stats

    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    if kind == "kendall":
        return float(stats.kendalltau(first, second).statistic)
    if kind == "spearman":
        first, second = stats.rankdata(first), stats.rankdata(second)
    return float(np.corrcoef(first, second)[0, 1])


def decided(said_yes: NDArray[np.bool_], labels: NDArray[np.bool_]) -> Decided:
    """Accuracy, balanced accuracy and F1 of the class yes."""
    hits, false_alarms = int((said_yes & labels).sum()), int((said_yes & ~labels).sum())
    misses, rejections = int((~said_yes & labels).sum()), int((~said_yes & ~labels).sum())
    sensitivity = hits / (hits + misses) if hits + misses else float("nan")
    specificity = rejections / (rejections + false_alarms) if rejections + false_alarms else float("nan")
    f1 = 2 * hits / (2 * hits + false_alarms + misses) if hits else 0.0
    return Decided((hits + rejections) / len(labels), (sensitivity + specificity) / 2, f1)


def cross_validated(scores: Floats, labels: NDArray[np.bool_], clusters: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Yes or no for each row, by the threshold that has the best balanced accuracy on the other folds' documents."""
    names = np.unique(clusters)
    fold_of = dict(zip(np.random.default_rng(SEED).permutation(names).tolist(), range(len(names)), strict=True))
    folds = np.array([fold_of[int(cluster)] % FOLDS for cluster in clusters])
    said_yes = np.zeros(len(scores), dtype=np.bool_)
    for fold in range(FOLDS):
        held_out = folds == fold
        said_yes[held_out] = scores[held_out] >= best_threshold(scores[~held_out], labels[~held_out])
    return said_yes


def best_threshold(scores: Floats, labels: NDArray[np.bool_]) -> float:
    """The score from which on yes has the best balanced accuracy; the lowest such when several are equal."""
    values, place = np.unique(scores, return_inverse=True)
    yes = np.bincount(place, weights=labels, minlength=len(values))
    no = np.bincount(place, weights=~labels, minlength=len(values))
    sensitivity = np.cumsum(yes[::-1])[::-1] / yes.sum()  # of saying yes from this value on
    specificity = 1 - np.cumsum(no[::-1])[::-1] / no.sum()
    return float(values[np.argmax(sensitivity + specificity)])
