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

_REWORDED: Final = 0.5  # similarity from which a passage is the quote in other words
_SAME: Final = 0.85  # from which it is the quote, in all but a word or two
_BETTER: Final = 0.15  # by which another document has to be nearer than the quote's own
_NAMED_ALIKE: Final = 0.6  # of two names of files
_SHOWN: Final = 120  # characters of a quote in a sentence


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of stale evidence, its document where there is one, and the questions that rest on it."""

    evidence: Evidence
    document: str | None
    questions: tuple[str, ...]


def stale_gold(ground: Ground, supported: Mapping[str, Evidence]) -> Iterator[Finding]:
    """A finding for each piece of evidence that the documents don't hold, in the order of the questions.

    Args:
        ground: documents, questions and their gold evidence.
        supported: by key of a question, where its expected answer is found supported now; the hint for what is gone.
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


def _change(piece: _Piece, near: NearPassage | None, renamed: Mapping[str, str]) -> Change:
    if near is None or near.similarity < _REWORDED:
        return "gone"
    if renamed.get(piece.evidence.document) == near.document:
        return "renamed"
    if near.document != piece.document:
        return "moved"
    return "figures" if near.figures else "reworded"


def _finding(
    piece: _Piece, near: NearPassage | None, renamed: Mapping[str, str], ground: Ground,
    supported: Mapping[str, Evidence],
) -> Finding:  # fmt: skip
    evidence, change = piece.evidence, _change(piece, near, renamed)
    one = len(piece.questions) == 1
    who = f"Question {piece.questions[0]} rests" if one else f"{len(piece.questions)} questions rest"
    gone = f"which stood in {evidence.document}: there is no such document"
    lost = gone if piece.document is None else f"which {evidence.document} does not hold any more"
    figures = ""
    if near is not None and near.figures and change != "gone":
        figures = " It now says " + ", ".join(f"{new} instead of {old}" for old, new in near.figures) + "."
    left = [key for key in piece.questions if ground.gold[key].kind == "stale"]
    blind = " No other evidence is left for it." if left else ""
    answers = [supported[key] for key in piece.questions if key in supported]
    places = [Excerpt(near.document, near.start, near.end, near.text)] if near is not None else []
    if change == "gone":
        places = [*(Excerpt(one.document, one.start, one.end, one.quote) for one in answers[:1]), *places]
    return Finding(
        kind="stale_gold",
        severity="high",
        what=f"{who} on {_shown(evidence)}, {lost}.{figures}{blind}",
        action=_action(piece, near, change, answers),
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


def _action(piece: _Piece, near: NearPassage | None, change: Change, answers: Sequence[Evidence]) -> str:
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
