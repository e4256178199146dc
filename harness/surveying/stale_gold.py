"""Stale gold: evidence that the documents no longer hold, each piece with the nearest passage now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, Literal

from ...knowledge.evidence import EvidenceFinder
from ...reports.surveys.finding import Excerpt, Finding
from ..ground.nearest_passage import NearPassage, PassageFinder

if TYPE_CHECKING:
    from ...knowledge.questions import Evidence
    from ..ground.ground import Ground

Change = Literal["reworded", "figures", "moved", "renamed", "gone"]

_REWORDED: Final = 0.5  # similarity from which a passage may be the quote in other words
_EQUAL: Final = 0.99  # of the same words, figures apart
_SAME: Final = 0.85  # from which it is the quote, in all but a word or two
_BETTER: Final = 0.15  # by which another document has to be nearer than the quote's own
_NAMED_ALIKE: Final = 0.6  # of two names of files
_SHOWN: Final = 120  # characters of a quote in a sentence


@dataclass(frozen=True, slots=True)
class Supported:
    """Where the documents support the expected answer of a question now.

    Attributes:
        places: that support some claim of it, the best first.
        whole: whether they support all that counts of it.
    """

    places: tuple[Evidence, ...]
    whole: bool


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of stale evidence, its document where there is one, and the questions that rest on it."""

    evidence: Evidence
    document: str | None
    questions: tuple[str, ...]


def stale_gold(ground: Ground, supported: Mapping[str, Supported]) -> Iterator[Finding]:
    """A finding for each piece of evidence that the documents don't hold, in the order of the questions.

    A passage is proposed in its place where it supports the expected answer of the question, or says the same words
    but for figures; words that are alike make no passage one on the same subject.

    Args:
        ground: documents, questions and their gold evidence.
        supported: by key of a question whose expected answer can be looked for, where it is supported now.
    """
    pieces = _pieces(ground)
    if not pieces:
        return
    finder = PassageFinder(ground.documents)
    near = {piece.evidence: _nearest(piece, finder) for piece in pieces}
    renamed = _renamed(pieces, near)
    for piece in pieces:
        yield _finding(piece, near[piece.evidence], renamed, ground, supported)


def _pieces(ground: Ground) -> tuple[_Piece, ...]:
    finder = EvidenceFinder(ground.documents)
    found: dict[Evidence, list[str]] = {}
    for key, gold in ground.gold.items():
        for evidence in gold.stale:
            found.setdefault(evidence, []).append(key)
    return tuple(
        _Piece(
            evidence,
            finder.place(evidence.document, evidence.quote, None, None)[0] if finder.has(evidence.document) else None,
            tuple(dict.fromkeys(keys)),
        )
        for evidence, keys in found.items()
    )


def _nearest(piece: _Piece, finder: PassageFinder) -> NearPassage | None:
    """The nearest passage of its own document, or of any where that is nearer by far."""
    own = finder.nearest(piece.evidence.quote, [piece.document]) if piece.document is not None else None
    if own is not None and own.similarity >= _SAME:
        return own
    other = finder.nearest(piece.evidence.quote)
    if own is None or other is None:
        return own or other
    return other if other.similarity >= max(_SAME, own.similarity + _BETTER) else own


def _renamed(pieces: Sequence[_Piece], near: Mapping[Evidence, NearPassage | None]) -> Mapping[str, str]:
    """For documents that are gone, the one that holds most of what was quoted of them.

    It holds more than one piece of it, or has a name like theirs.
    """
    held: dict[str, Counter[str]] = {}
    quoted = Counter(piece.evidence.document for piece in pieces if piece.document is None)
    for piece in pieces:
        found = near[piece.evidence]
        if piece.document is None and found is not None and found.similarity >= _SAME:
            held.setdefault(piece.evidence.document, Counter())[found.document] += 1
    renamed = {}
    for name, counts in held.items():
        document, count = counts.most_common(1)[0]
        if 2 * count > quoted[name] and (count > 1 or _named_alike(name, document)):
            renamed[name] = document
    return renamed


def _named_alike(first: str, second: str) -> bool:
    one, other = (PurePosixPath(name).stem.lower() for name in (first, second))
    return SequenceMatcher(None, one, other).ratio() >= _NAMED_ALIKE


def _is_confirmed(piece: _Piece, near: NearPassage, supported: Mapping[str, Supported]) -> bool:
    """Whether a passage says what the quote said: the same words but for figures, or the answer of a question."""
    if _but_for_figures(piece.evidence.quote, near) >= _EQUAL:
        return True
    looked = [supported[key] for key in piece.questions if key in supported]
    return any(
        place.document == near.document and _overlap(place, near) for each in looked for place in each.places
    ) or (not looked and near.similarity >= _SAME)


def _but_for_figures(quote: str, near: NearPassage) -> float:
    """The similarity with each figure that stands in the place of another one counted as the same word."""
    words = max(1, len(quote.split()))
    return near.similarity + len(near.figures) / words


def _overlap(place: Evidence, near: NearPassage) -> bool:
    return (place.start or 0) < near.end and near.start < (place.end or 0)


def _change(
    piece: _Piece, near: NearPassage | None, renamed: Mapping[str, str], supported: Mapping[str, Supported]
) -> Change:
    if near is None or near.similarity < _REWORDED or not _is_confirmed(piece, near, supported):
        return "gone"
    if renamed.get(piece.evidence.document) == near.document:
        return "renamed"
    if near.document != piece.document:
        return "moved"
    return "figures" if near.figures else "reworded"


def _finding(
    piece: _Piece, near: NearPassage | None, renamed: Mapping[str, str], ground: Ground,
    supported: Mapping[str, Supported],
) -> Finding:  # fmt: skip
    evidence, change = piece.evidence, _change(piece, near, renamed, supported)
    one = len(piece.questions) == 1
    who = f"Question {piece.questions[0]} rests" if one else f"{len(piece.questions)} questions rest"
    unread = piece.document is None and any(f"{evidence.document} was skipped" in said for said in ground.warnings)
    there = "it can't be read" if unread else "there is no such document"
    gone = f"which stood in {evidence.document}: {there}"
    lost = gone if piece.document is None else f"which {evidence.document} does not hold any more"
    figures = ""
    if near is not None and near.figures and change != "gone":
        figures = " It now says " + ", ".join(f"{new} instead of {old}" for old, new in near.figures) + "."
    left = [key for key in piece.questions if ground.gold[key].kind == "stale"]
    blind = " No other evidence is left for it." if left else ""
    found = [supported[key] for key in piece.questions if key in supported]
    answers = [each.places[0] for each in found if each.whole and each.places]
    places = [Excerpt(near.document, near.start, near.end, near.text)] if near is not None else []
    if change == "gone":
        places = [Excerpt(one.document, one.start, one.end, one.quote) for one in answers[:1]]
    return Finding(
        kind="stale_gold",
        severity="high",
        what=f"{who} on {_shown(evidence)}, {lost}.{figures}{blind}",
        action=_action(piece, near, change, answers, unread),
        places=tuple(places),
        questions=piece.questions,
        details={
            "quote": evidence.quote,
            "document": evidence.document,
            "change": change,
            "figures": [list(pair) for pair in near.figures] if near is not None and change != "gone" else [],
            "similarity": near.similarity if near is not None else 0.0,
        },
    )


def _action(piece: _Piece, near: NearPassage | None, change: Change, answers: Sequence[Evidence], unread: bool) -> str:
    if unread and (near is None or change == "gone"):
        return (
            f"Put a file in the place of {piece.evidence.document} that can be read; the evidence is looked for again."
        )
    if near is None or change == "gone":
        lost = "The document is gone" if piece.document is None else "The passage is gone"
        if answers:
            return (
                f"{lost}, but the expected answer stands in {answers[0].document}: quote {_quoted(answers[0].quote)}."
            )
        return f"{lost}: put the answer back into the documents, or mark the question as not answerable."
    quoted = f"Quote {_quoted(near.text)} of {near.document} instead"
    if change == "renamed":
        named = f"{piece.evidence.document} is called {near.document} now: name that in the evidence"
        return f"{named}." if near.similarity == 1 else f"{named}, and quote {_quoted(near.text)}."
    if change == "figures":
        return f"{quoted}, and look whether the expected answer still holds."
    return f"{quoted}."


def _shown(evidence: Evidence) -> str:
    return _quoted(evidence.quote) if evidence.quote.strip() else f"characters {evidence.start} to {evidence.end}"


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return f'"{line[:_SHOWN]}..."' if len(line) > _SHOWN else f'"{line}"'
