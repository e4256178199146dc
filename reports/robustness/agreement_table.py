"""Agreement table: by kind of rewording, whether a bot's answers stayed, changed or were withheld as they must."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..comparing.estimate import Estimate, estimate
from ..comparing.score_table import Figures, Flags
from ..statistics.paired import Difference
from .answer_agreement import agreement, consistency
from .flip_table import paired
from .reworded_pairs import RewordedPairs
from .rewordings import CONTROL


@dataclass(frozen=True, slots=True)
class KindAnswers:
    """The answers to one kind of rewording; rows are pairs of each repeat.

    Attributes:
        kind: how the questions were reworded.
        must: what a good bot does.
        rows: pairs of a question and its rewording, times the repeats.
        missing: those of them without both answers.
        same: share of the rows whose answers are the same; None when there is none with both.
        overlap: mean F1 of the words of the two answers.
        as_wanted: share of the rows that did what they must: same answer, other answer, or declined.
        above_control: ``same`` of each question less that of its identical copies; None without copies.
    """

    kind: str
    must: str
    rows: int
    missing: int
    same: Estimate | None
    overlap: Estimate | None
    as_wanted: Estimate | None
    above_control: Difference | None


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """How far the answers of one bot agree.

    Attributes:
        kinds: by kind of rewording, in order of appearance.
        agreement: mean over the questions of the share of their rewordings that got the same answer; of those that
            must, without copies. None where there is none.
        overlap: likewise the F1 of the words.
        self_consistency: mean over the questions of the share of pairs of repeats that gave the same answer; None
            when nothing was asked twice.
        majority: mean over the questions of the share of their repeats that gave the commonest answer.
    """

    kinds: tuple[KindAnswers, ...]
    agreement: Estimate | None
    overlap: Estimate | None
    self_consistency: Estimate | None
    majority: Estimate | None


def answer_table(pairs: RewordedPairs, seed: int = 0) -> AnswerTable:
    """Compare the answers of a bot over rewordings and repeats."""
    found, again = agreement(pairs), consistency(pairs.base)
    control = pairs.per_source(found.same, pairs.is_control) if pairs.is_control.any() else None
    of_plain = pairs.clusters[pairs.plain]
    return AnswerTable(
        kinds=tuple(
            _kind(pairs, *name, chosen, found.same, found.overlap, control, seed)
            for name, chosen in pairs.kinds.items()
        ),
        agreement=estimate(pairs.per_source(found.same, pairs.is_same), pairs.clusters, 0, 1),
        overlap=estimate(pairs.per_source(found.overlap, pairs.is_same), pairs.clusters, 0, 1),
        self_consistency=estimate(again.agreeing[pairs.plain], of_plain, 0, 1),
        majority=estimate(again.majority[pairs.plain], of_plain, 0, 1),
    )


def _kind(
    pairs: RewordedPairs, kind: str, must: str, chosen: Flags, same: Figures, overlap: Figures,
    control: Figures | None, seed: int,
) -> KindAnswers:  # fmt: skip
    clusters = np.repeat(pairs.clusters[pairs.sources[chosen]], pairs.repeats)
    rows = same[chosen].ravel()
    above = None
    if control is not None and kind != CONTROL:
        above = paired(control, pairs.per_source(same, chosen), pairs.clusters, 0, 1, seed)
    return KindAnswers(
        kind=kind, must=must, rows=len(rows), missing=int(np.isnan(rows).sum()),
        same=estimate(rows, clusters, 0, 1), overlap=estimate(overlap[chosen].ravel(), clusters, 0, 1),
        as_wanted=estimate(_as_wanted(pairs, must, chosen, rows), clusters, 0, 1), above_control=above,
    )  # fmt: skip


def _as_wanted(pairs: RewordedPairs, must: str, chosen: Flags, same: Figures) -> Figures:
    if must == "same":
        return same
    if must == "other":
        return 1.0 - same
    places = pairs.places[chosen]
    declined = pairs.reworded.declined[places, : pairs.repeats]
    known = pairs.reworded.answered[places, : pairs.repeats] & (declined >= 0)
    return np.where(known, declined.astype(np.float64), np.nan).ravel()
