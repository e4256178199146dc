"""Instruments: how hard each question is, and whether it tells bots apart.

Discrimination is the corrected item-total correlation: of a question's values with the bots' means over the other
questions. It is a correlation over as many points as there are bots: of three or four bots it is 1 or -1 for most
questions that vary at all, and says little. It is None below three bots.

Source: Nunnally and Bernstein 1994, chapter 8 (corrected item-total correlation).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ...reports.statistics.chance import Figures
from ...reports.surveys.audit import QuestionAudit
from .marks import Marks

TELLS: Final = 0.1  # of the metric's range: values nearer to one another are taken for alike
LEAST_BOTS: Final = 3  # for a discrimination
FEW_BOTS: Final = 6  # below which it says little
_FLAT: Final = 1e-12


def instruments(marks: Marks) -> tuple[QuestionAudit, ...]:
    """Each question as a measuring instrument, in the order of their file."""
    if not marks.bots:
        return tuple(QuestionAudit(key, 0) for key in marks.keys)
    goodness = marks.goodness
    correlations = discriminations(goodness)
    return tuple(
        _audited(key, goodness[line], marks.right[line], float(correlations[line]), marks.reach)
        for line, key in enumerate(marks.keys)
    )


def discriminations(goodness: Figures) -> Figures:
    """The corrected item-total correlation of each question; NaN with fewer than three bots or where nothing varies.

    Args:
        goodness: of shape (questions, bots), higher is better; NaN where a bot has no value.
    """
    there = np.isfinite(goodness)
    rest = means_elsewhere(goodness)
    usable = there & np.isfinite(rest)
    counts = usable.sum(axis=1)
    ours, theirs = _centred(goodness, usable), _centred(rest, usable)
    spread = np.sqrt((ours**2).sum(axis=1) * (theirs**2).sum(axis=1))
    found = np.full(len(goodness), np.nan)
    fit = (counts >= LEAST_BOTS) & (spread > _FLAT)
    np.divide((ours * theirs).sum(axis=1), spread, out=found, where=fit)
    return np.asarray(found.clip(-1.0, 1.0), np.float64)


def means_elsewhere(goodness: Figures) -> Figures:
    """For each question and bot, the bot's mean over all other questions; NaN where it has no other."""
    there = np.isfinite(goodness)
    filled = np.where(there, goodness, 0.0)
    others = there.sum(axis=0)[None] - there
    found = np.full(goodness.shape, np.nan)
    np.divide(filled.sum(axis=0)[None] - filled, others, out=found, where=others > 0)
    return found


def _centred(values: Figures, usable: np.ndarray) -> Figures:
    counts = np.maximum(usable.sum(axis=1, keepdims=True), 1)
    filled = np.where(usable, values, 0.0)
    return np.where(usable, filled - filled.sum(axis=1, keepdims=True) / counts, 0.0)


def _audited(key: str, goodness: Figures, right: Figures, correlation: float, reach: float) -> QuestionAudit:
    known, marked = goodness[np.isfinite(goodness)], right[np.isfinite(right)]
    spread = float(known.max() - known.min()) if len(known) > 1 else None
    differs = len(marked) > 1 and bool(marked.min() != marked.max())
    return QuestionAudit(
        question=key,
        values=len(known),
        difficulty=float(1 - marked.mean()) if len(marked) else None,
        spread=spread,
        discrimination=None if np.isnan(correlation) else correlation,
        telling=differs or (spread is not None and spread >= TELLS * reach),
    )
