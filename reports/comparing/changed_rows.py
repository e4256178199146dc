"""Changed rows: the questions on which head fell or rose most against base, with what both said."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .comparable import Pairing
from .flips import Direction, flip_of_values
from .score_table import ScoreTable, passes


@dataclass(frozen=True, slots=True)
class ChangedRow:
    """A question whose value changed.

    Attributes:
        key: of the question.
        text: of the question.
        base_value: mean over its repeats.
        head_value: likewise.
        flip: whether it crossed the threshold, and which way; None when not.
        base_answer: what base said, in the repeat that is nearest to its mean; None where nothing was said.
        head_answer: likewise what head said.
    """

    key: str
    text: str
    base_value: float
    head_value: float
    flip: Direction | None
    base_answer: str | None
    head_answer: str | None


@dataclass(frozen=True, slots=True)
class ChangedRows:
    """The rows of one metric that changed most, worst first and best first; none for one without a direction."""

    metric: str
    losses: tuple[ChangedRow, ...]
    gains: tuple[ChangedRow, ...]


def changed_rows(pairing: Pairing, metric: str, most: int) -> ChangedRows:
    """The questions that lost most and gained most, flips of the threshold before other changes.

    Args:
        pairing: the two sides, whose database is still open.
        metric: one of its metrics.
        most: rows of each kind.
    """
    column = pairing.columns[metric]
    if column.better == "neither" or most < 1:
        return ChangedRows(metric, (), ())
    base, head = pairing.values(metric)
    sign = 1 if column.better == "higher" else -1
    gain = sign * (head - base)
    flipped = passes(column, head).astype(np.int8) - passes(column, base)
    places = np.flatnonzero(np.isfinite(gain) & (gain != 0))
    order = places[np.lexsort((places, gain[places], flipped[places]))]
    losses = [_row(pairing, metric, int(place)) for place in order[:most] if gain[place] < 0]
    gains = [_row(pairing, metric, int(place)) for place in order[::-1][:most] if gain[place] > 0]
    return ChangedRows(metric, tuple(losses), tuple(gains))


def _row(pairing: Pairing, metric: str, place: int) -> ChangedRow:
    case, column = pairing.cases[place], pairing.columns[metric]
    base, head = (float(np.nanmean(values[place])) for values in pairing.repeated_values(metric))
    return ChangedRow(
        key=case.key,
        text=case.text,
        base_value=base,
        head_value=head,
        flip=flip_of_values(base, head, column.threshold, column.better),
        base_answer=_answer(pairing.base, metric, int(pairing.base_places[place]), base),
        head_answer=_answer(pairing.head, metric, int(pairing.head_places[place]), head),
    )


def _answer(table: ScoreTable, metric: str, place: int, mean: float) -> str | None:
    distance = np.abs(table.values[metric][place] - mean)
    return table.answers(table.cases[place].key, int(np.nanargmin(distance)))
