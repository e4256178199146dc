"""Raters: what several people say of the same rows together, and how far they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from ..statistics.agreement import Share, krippendorff_alpha
from ..statistics.agreement import share as share_of
from ..text import count
from .labels import HumanVerdict, Label, ScoredRow


def agreed_labels(labels: Iterable[Label]) -> list[Label]:
    """One label a row: what the majority of those who are sure says; a row without a majority has none.

    Of numbers that decide nothing, it is their mean.
    """
    return [label for of_row in _by_row(labels).values() if (label := _agreed(of_row)) is not None]


def _by_row(labels: Iterable[Label]) -> dict[ScoredRow, list[Label]]:
    """The labels of those who are sure, by row."""
    found: dict[ScoredRow, list[Label]] = {}
    for label in labels:
        if not label.verdict.is_unsure:
            found.setdefault(label.row, []).append(label)
    return found


def _agreed(labels: Sequence[Label]) -> Label | None:
    votes = Counter(label.verdict.passes for label in labels)
    (passes, most), *others = votes.most_common(2)
    if others and others[0][1] == most:
        return None
    values = [label.verdict.value for label in labels if label.verdict.passes == passes]
    known = [value for value in values if value is not None]
    seed = next((label.seed for label in labels if label.seed is not None), None)
    return Label(labels[0].row, HumanVerdict(fmean(known) if known else None, passes), seed)


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """How far raters agree on whether rows pass.

    Attributes:
        raters: by name, how many rows each labelled and was sure of; a blank name is of nobody named.
        agreement: share of the rows with several raters on which all say the same; None where there is no such row.
        alpha: Krippendorff's alpha for nominal data: 1 is full agreement, 0 that of chance; None where it is undefined.
        unsure: labels by which a rater could not tell.
    """

    raters: dict[str, int]
    agreement: Share | None
    alpha: float | None
    unsure: int

    @property
    def sentence(self) -> str:
        """Who labelled, and how far they agree; blank for one rater without a name who was always sure."""
        named = ", ".join(f"{name or 'no name'} {number:,}" for name, number in self.raters.items())
        parts = [f"raters: {named}"] if set(self.raters) - {""} or len(self.raters) > 1 else []
        if self.agreement:
            same = round(self.agreement.value * self.agreement.count)
            parts.append(f"all say the same on {same:,} of {self.agreement.count:,} rows with several")
        if self.alpha is not None:
            parts.append(f"Krippendorff's alpha {self.alpha:.2f}")
        if self.unsure:
            parts.append(f"unsure {count(self.unsure, 'time')}")
        return "; ".join(parts)

    @property
    def as_object(self) -> dict[str, object]:
        """For JSON."""
        shared = self.agreement
        rows = shared and {"value": shared.value, "ci_low": shared.low, "ci_high": shared.high, "rows": shared.count}
        return {"raters": self.raters, "agreement": rows, "alpha": self.alpha, "unsure": self.unsure}


def rater_agreement(labels: Sequence[Label]) -> RaterAgreement:
    """The agreement of those who gave the labels, one for each row and rater."""
    by_row = _by_row(labels)
    sure = Counter(label.rater for of_row in by_row.values() for label in of_row)
    passing = [[label.verdict.passes for label in of_row] for of_row in by_row.values()]
    several = [of_row for of_row in passing if len(of_row) > 1 and None not in of_row]
    same = sum(len(set(of_row)) == 1 for of_row in several)
    unsure = sum(label.verdict.is_unsure for label in labels)
    raters = {name: sure[name] for name in sorted({label.rater for label in labels})}
    return RaterAgreement(raters, share_of(same, len(several)), krippendorff_alpha(several), unsure)
