"""Inside pairs: findings about two documents: what they copy, contradict and supersede, in sentences."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ...knowledge.examining.copies import Copied, Stretch
from ...knowledge.examining.dates import Dated
from ...knowledge.examining.versions import Versions
from ...reports.surveys.finding import Excerpt, Finding, Severity
from ..ground.ground import Ground
from .concerned import Concerned, Hit
from .contradictions import Contradiction
from .differences import Difference
from .overlaps import MANY, overlapping
from .pair_sentences import (
    contradiction_action,
    contradiction_what,
    copy_action,
    copy_what,
    overlap_what,
    stale_what,
    stolen_said,
)
from .stolen_ranks import Stolen, StolenRanks

MOSTLY_COPIED: Final = 0.5  # share of the shorter document from which two are called copies
_LONG_STRETCH: Final = 60  # words in a row that are worth a finding whatever their share
_LEAST_WITHIN: Final = 25  # words that stand twice in one document
_MANY_PLACES: Final = 0.05  # share of the lists of passages in which a place goes to a copy
_SHOWN_STRETCHES: Final = 10

ByPair = Mapping[tuple[str, str], Sequence[Contradiction]]


class PairFindings:
    """Makes findings of what two documents have to do with each other."""

    def __init__(self, ground: Ground, concerned: Concerned, stolen: StolenRanks) -> None:
        self._texts = {document.id: document.text for document in ground.documents}
        self._concerned = concerned
        self._stolen = stolen

    def contradictions(self, found: ByPair, versions: Collection[frozenset[str]]) -> Iterator[Finding]:
        """One finding for each pair of documents, or for each document that contradicts itself.

        What an older version says otherwise is told with the finding that it is one.
        """
        for (first, second), ones in found.items():
            if frozenset((first, second)) in versions:
                continue
            hit = self._hit(ones)
            severity, because = _contradiction_severity(hit)
            likely = [one.probability for one in ones if one.probability is not None]
            yield Finding(
                kind="contradiction",
                severity=severity,
                what=contradiction_what(first, second, ones),
                action=contradiction_action(first, second),
                places=tuple(_sides(ones)),
                questions=hit.questions,
                score=max(likely) if likely else None,
                details={
                    "why": because,
                    "sentences": [_pair_of(one) for one in ones],
                    "answers": hit.answers,
                    "wrong_answers": hit.wrong,
                },
            )

    def stale(self, versions: Iterable[Versions], contradicting: ByPair, copied: Iterable[Copied]) -> Iterator[Finding]:
        """One finding for each older document that a newer one has come in place of, with what it says otherwise."""
        shared = {frozenset((one.first, one.second)): one for one in copied}
        for one in versions:
            stolen = self._stolen_by(one.older, one.newer)
            hit = self._concerned.by([(one.older, 0, len(self._texts[one.older]))])
            facts = contradicting.get((one.older, one.newer)) or contradicting.get((one.newer, one.older)) or ()
            facts = [_older_first(fact, one.older) for fact in facts]
            differing = self._hit(facts)
            severity, because = _stale_severity(hit, stolen, differing)
            stretches = self._stretches(shared.get(frozenset((one.older, one.newer))), one)
            keys = (*hit.read, *differing.gold, *stolen.questions, *hit.gold)
            yield Finding(
                kind="stale_duplicate",
                severity=severity,
                what=stale_what(one, facts),
                action=f"Keep {one.newer}; take {one.older} out of the knowledge, or say so in its text.",
                places=(*_date_places(one, self._texts), *_sides(facts), *stretches),
                questions=tuple(dict.fromkeys(keys)),
                score=round(one.alike, 4),
                details={
                    "why": because,
                    "older": one.older,
                    "newer": one.newer,
                    "dates": [date.said for date in one.dates] if one.dates else [],
                    "alike": round(one.alike, 4),
                    "differences": [_pair_of(fact) for fact in facts],
                    "answers": hit.answers,
                    "wrong_answers": hit.wrong,
                    "stolen_places": stolen.places,
                },
            )

    def copies(self, copied: Sequence[Copied], versions: Collection[frozenset[str]]) -> Iterator[Finding]:
        """One finding for each pair of documents that say the same, or that take each other's ranks.

        Windows of longer texts, which overlap at their ends, are told in one finding where there are many.
        """
        overlaps = [pair for pair in overlapping(copied, self._texts) if frozenset(pair) not in versions]
        told = set(versions)
        if len(overlaps) >= MANY:
            told |= {frozenset(pair) for pair in overlaps}
            yield self._overlaps(overlaps, {frozenset((one.first, one.second)): one for one in copied})
        for one in copied:
            stolen = self._stolen_by(one.first, one.second)
            within = one.first == one.second and one.words >= _LEAST_WITHIN
            if frozenset((one.first, one.second)) in told or not (within or _is_much(one) or stolen.places):
                continue
            details = {
                "share": round(one.share, 4),
                "share_of_longer": round(one.of_longer, 4),
                "words": one.words,
                "identical": one.same,
            }
            what, places = copy_what(one), tuple(self._stretches(one, None))
            yield self._copy(what, copy_action(one), places, stolen, round(one.share, 4), details)

    def _overlaps(self, pairs: Sequence[tuple[str, str]], copied: Mapping[frozenset[str], Copied]) -> Finding:
        stolen = Stolen()
        for first, second in pairs:
            one = self._stolen_by(first, second)
            stolen.places += one.places
            stolen.questions += [key for key in one.questions if key not in stolen.questions]
        places = [
            place for pair in pairs[:_SHOWN_STRETCHES] for place in self._stretches(copied[frozenset(pair)], None)
        ]
        details = {"overlapping": [list(pair) for pair in pairs]}
        action = "Read the whole texts and let Proctor cut them, or cut them without an overlap."
        return self._copy(overlap_what(pairs), action, tuple(places), stolen, None, details)

    def _copy(
        self,
        what: str,
        action: str,
        places: tuple[Excerpt, ...],
        stolen: Stolen,
        share: float | None,
        details: Mapping[str, object],
    ) -> Finding:
        severity, because = self._copy_severity(stolen)
        return Finding(
            kind="near_duplicate",
            severity=severity,
            what=what + stolen_said(stolen, self._stolen),
            action=action,
            places=places,
            questions=tuple(stolen.questions),
            score=share,
            details={
                "why": because,
                **details,
                "stolen_places": stolen.places,
                "places": self._stolen.places,
                "lists": self._stolen.lists,
                "from_answers": self._stolen.from_answers,
            },
        )

    def _hit(self, ones: Iterable[Contradiction]) -> Hit:
        return self._concerned.by(
            (side.document, side.start, side.end) for one in ones for side in (one.first, one.second)
        )

    def _stolen_by(self, first: str, second: str) -> Stolen:
        by_pair = self._stolen.by_pair
        return by_pair.get((first, second)) or by_pair.get((second, first)) or Stolen()

    def _copy_severity(self, stolen: Stolen) -> tuple[Severity, str]:
        if stolen.places and len(stolen.questions) >= _MANY_PLACES * self._stolen.lists:
            return "high", "copies take places in many lists of passages"
        if stolen.places:
            return "medium", "copies take places that other passages could have"
        return "low", "no list of passages held both"

    def _stretches(self, one: Copied | None, state: Versions | None) -> Iterator[Excerpt]:
        """Both places of each stretch; of versions the older one first."""
        if one is None:
            return
        for stretch in one.stretches[:_SHOWN_STRETCHES]:
            pair = [(one.first, stretch.start, stretch.end), (one.second, stretch.other_start, stretch.other_end)]
            for document, start, end in reversed(pair) if state and one.first == state.newer else pair:
                yield Excerpt(document, start, end, self._texts[document][start:end])


def _is_much(one: Copied) -> bool:
    longest: Stretch = one.stretches[0]
    return one.same or one.share >= MOSTLY_COPIED or longest.words >= _LONG_STRETCH


def _contradiction_severity(hit: Hit) -> tuple[Severity, str]:
    if hit.gold:
        return "high", "the gold evidence of questions stands there"
    if hit.wrong:
        return "high", "wrong answers were made from it"
    if hit.answers:
        return "medium", "answers were made from it"
    return "low", "no question or answer of this set rests on it"


def _pair_of(one: Contradiction) -> dict[str, object]:
    return {
        "first": {"document": one.first.document, "start": one.first.start, "text": one.first.text},
        "second": {"document": one.second.document, "start": one.second.start, "text": one.second.text},
        "differences": [
            {"sort": each.sort, "first": each.first, "second": each.second} for each in one.found.differences
        ]
        if one.found
        else [],
        "probability": one.probability,
    }


def _older_first(one: Contradiction, older: str) -> Contradiction:
    """A contradiction with the side of the older document first."""
    if one.first.document == older:
        return one
    found = one.found and replace(
        one.found, differences=tuple(Difference(each.sort, each.second, each.first) for each in one.found.differences)
    )
    return Contradiction(one.second, one.first, found, one.probability)


def _sides(ones: Iterable[Contradiction]) -> Iterator[Excerpt]:
    for one in ones:
        for side in (one.first, one.second):
            yield Excerpt(side.document, side.start, side.end, side.text)


def _stale_severity(hit: Hit, stolen: Stolen, differing: Hit) -> tuple[Severity, str]:
    if hit.wrong:
        return "high", "wrong answers were made from the older one"
    if hit.answers:
        return "high", "answers were made from the older one"
    if stolen.places:
        return "high", "the older one takes places from other passages"
    if differing.gold:
        return "high", "the gold evidence of questions stands where the two differ"
    return "medium", "no answer of this set was made from the older one"


def _date_places(one: Versions, texts: Mapping[str, str]) -> Iterator[Excerpt]:
    dates: Sequence[Dated | None] = one.dates or (None, None)
    for name, date in zip((one.older, one.newer), dates, strict=True):
        if date is None or date.start is None or date.end is None:
            yield Excerpt(name, text=date.said if date else "")
        else:
            yield Excerpt(name, date.start, date.end, texts[name][date.start : date.end])
