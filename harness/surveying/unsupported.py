"""Unsupported answers: questions whose expected answer no document supports, and what is missing from the nearest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ...metrics.judge.embedded.signals import Conflict, evidence
from ...metrics.judge.embedded.wording import wording
from ...reports.surveys.finding import Excerpt, Finding, Severity
from ..ground.answer_signals import THRESHOLD

if TYPE_CHECKING:
    from ..ground.ground import Ground
    from ..ground.support import AnswerSupport, ClaimSupport, SupportFinder

_NEARLY: Final = 0.35  # a score from which on a reader may well find it supported
_SHOWN: Final = 160  # characters of an expected answer in a sentence
_ALIKE: Final = 0.6  # share of the expected words that a passage has
_NAMED: Final = 5  # words that are named


def unsupported_answers(ground: Ground, found: Mapping[str, AnswerSupport], finder: SupportFinder) -> Iterator[Finding]:
    """A finding for each expected answer that no document supports, or of which a figure stands nowhere near.

    Args:
        ground: the questions, in whose order they come.
        found: by key, the support of the expected answers.
        finder: that found it.
    """
    for key, gold in ground.gold.items():
        if key not in found:
            continue
        if gold.kind == "unsupported":
            yield _whole(key, found[key], finder)
        elif gold.kind == "support" and (claim := _without_figures(found[key], finder)):
            yield _part(key, claim, finder)


def _whole(key: str, found: AnswerSupport, finder: SupportFinder) -> Finding:
    expected = " ".join(one.claim for one in found.claims)
    weakest = max(found.claims, key=lambda one: (1 - one.score) * len(one.claim.split()))
    lacking = _lacking(weakest.claim, weakest, finder)
    is_near = found.score >= _NEARLY
    severity: Severity = "medium" if is_near else "high"
    least = ", least of all this" if len(found.claims) > 1 else ""
    doubt = " A reader may find it there in other words." if is_near else ""
    return Finding(
        kind="unsupported",
        severity=severity,
        what=f"No document supports the expected answer of question {key}{least}: {_quoted(weakest.claim)}."
        f"{lacking.sentence}{doubt}",
        action="Add the answer to the documents, mend the expected answer, or mark the question as not answerable.",
        places=_places(weakest, finder),
        questions=(key,),
        score=round(1 - found.score, 4),
        details={**lacking.details(found.score), "expected": expected},
    )


def _part(key: str, claim: ClaimSupport, finder: SupportFinder) -> Finding:
    lacking = _lacking(claim.claim, claim, finder)
    return Finding(
        kind="unsupported",
        severity="medium",
        what=f"No document supports one part of the expected answer of question {key}: {_quoted(claim.claim)}."
        f"{lacking.sentence}",
        action="See which of the two is right, and mend the documents or the expected answer.",
        places=_places(claim, finder),
        questions=(key,),
        score=round(1 - claim.score, 4),
        details=lacking.details(claim.score),
    )


def _without_figures(found: AnswerSupport, finder: SupportFinder) -> ClaimSupport | None:
    """The first claim whose figures the document of its nearest passage lacks, where others are supported."""
    for one in found.claims:
        if one.score >= THRESHOLD or not one.places or len(found.claims) == 1:
            continue
        held = finder.book.document_words(one.places[0].stretch.first)
        if any(
            word.text[:1].isdecimal() and word.key not in held for word in wording(one.claim).of_kind("number", "date")
        ):
            return one
    return None


@dataclass(frozen=True, slots=True)
class _Lacking:
    """What the nearest passage lacks of an expected answer; figures are pairs of what is expected and what it says."""

    expected: str
    figures: tuple[tuple[str, str], ...]
    numbers: tuple[str, ...]
    names: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """Other figures before missing names before missing words, with a blank before; blank for nothing."""
        if self.figures:
            others = (f"{found} instead of {claimed}" for claimed, found in self.figures)
            return f" The nearest passage says {', '.join(others)}."
        lacking = (*self.numbers, *self.names)[:_NAMED] or self.words[:_NAMED]
        return f" The nearest passage lacks {', '.join(lacking)}." if lacking else ""

    def details(self, support: float) -> dict[str, object]:
        """As they stand in a finding."""
        return {
            "expected": self.expected,
            "support": round(support, 4),
            "figures": [list(pair) for pair in self.figures],
            "numbers": list(self.numbers),
            "names": list(self.names),
            "words": list(self.words),
        }


def _lacking(expected: str, nearest: ClaimSupport, finder: SupportFinder) -> _Lacking:
    text = finder.book.text(nearest.places[0].stretch) if nearest.places else ""
    seen = evidence(expected, [text])
    is_alike = seen.coverage >= _ALIKE  # below that the passage is about something else, and so are its figures
    apart = {*seen.missing_numbers, *seen.missing_names}
    return _Lacking(
        expected=expected,
        figures=tuple((one.claimed, one.found) for one in seen.conflicts if is_alike and _is_other_figure(one)),
        numbers=seen.missing_numbers,
        names=tuple(name for name in seen.missing_names if len(name) > 1),
        words=tuple(word for word in seen.missing if word not in apart and len(word) > 1),
    )


def _is_other_figure(conflict: Conflict) -> bool:
    return conflict.kind in {"number", "date"} and bool(conflict.found)


def _places(one: ClaimSupport, finder: SupportFinder) -> tuple[Excerpt, ...]:
    if not one.places:
        return ()
    stretch = one.places[0].stretch
    return (Excerpt(finder.book.document(stretch.first).id, *finder.book.span(stretch), finder.book.text(stretch)),)


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return f'"{line[:_SHOWN]}..."' if len(line) > _SHOWN else f'"{line.rstrip(".")}"'
