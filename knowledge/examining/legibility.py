"""Legibility: whether the text of a document can be read, and what was done to it where it can't."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from ..documents import Document
from .tokens import UNSPACED, joined_spans, lines_of

Defect = Literal[
    "encoding", "replaced", "private", "spaced", "hyphenated", "ligatures", "markup", "encoded", "symbols", "tiny",
    "no_sentence",
]  # fmt: skip
_MOJIBAKE: Final = re.compile(
    "[\u00c2-\u00f4][\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc\u2013-\u2026\u2030\u2039\u203a\u20ac\u2122]{1,3}"
)
_REPLACED: Final = re.compile("[\ufffd\x00-\x08\x0b\x0e-\x1f\x7f]+")
_PRIVATE: Final = re.compile("[\ue000-\uf8ff]+")
_SPACED: Final = re.compile(r"(?<![^\W_])(?:[^\W\d_][ \u00a0]){6,}[^\W\d_](?![^\W_])")
_HYPHENATED: Final = re.compile(r"(?<![^\W\d_])[^\W\d_]{2,40}[-\u00ad\u2010]\n\s*[a-zà-ÿ]{2,}")
_LIGATURES: Final = re.compile("[\ufb00-\ufb06]")
_MARKUP: Final = re.compile(
    r"</?[a-zA-Z][a-zA-Z0-9:-]{0,30}(?:\s[^<>\n]{0,300})?/?>|&(?:[a-zA-Z]{2,8}|#\d{2,6}|#x[0-9a-fA-F]{2,6});"
    r"|\{\{[^{}\n]{0,200}\}\}|\[/?[a-z]{1,10}(?:=[^\]\n]{0,100})?\](?!\()"
)
_ENCODED: Final = re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{76,}={0,2}")
_FENCED: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_RUN_OF_WORDS: Final = re.compile(r"(?<![^\W\d_])(?:[^\W\d_]{1,30}['’,]?[^\S\n]+){4}[^\W\d_]")  # noqa: RUF001 - a quote that texts have
_UNSPACED: Final = re.compile(f"[{UNSPACED}]{{6}}")
_AROUND: Final = 40  # characters that are shown on either side of what is wrong
_TINY: Final = 40  # characters that are not blank
_FEWEST: Final[dict[Defect, int]] = {
    "encoding": 2, "replaced": 2, "private": 3, "spaced": 2, "hyphenated": 4, "ligatures": 5, "markup": 5, "encoded": 1,
}  # fmt: skip
"""How often each must be met: one may be a slip, or a text about such things."""
_LEAST_SHARE: Final[dict[Defect, float]] = {
    "encoding": 0.0005, "replaced": 0.0005, "private": 0.001, "spaced": 0.01, "hyphenated": 0.02, "ligatures": 0.001,
    "markup": 0.05, "encoded": 0.1,
}  # fmt: skip
"""Share of a document's characters that it must concern."""
_FEW_LETTERS: Final = 0.5  # of the characters that are not blank, letters and digits
_ENOUGH_TO_SAY: Final = 200  # characters below which a text may well be without a sentence


@dataclass(frozen=True, slots=True)
class Illegible:
    """What makes a document, or a part of it, unreadable.

    Attributes:
        document: its id.
        defect: what it is.
        share: of its characters that it concerns, from 0 to 1.
        count: how often it was met.
        spans: the first places, with some text around them; in characters.
        sample: what is wrong at the first place.
    """

    document: str
    defect: Defect
    share: float
    count: int
    spans: tuple[tuple[int, int], ...]
    sample: str


def illegible(document: Document) -> tuple[Illegible, ...]:
    """All that makes a document unreadable, worst first; empty for one that can be read."""
    text = document.text
    bare = sum(map(len, text.split()))
    if bare < _TINY:
        return (Illegible(document.id, "tiny", 1.0, 1, ((0, len(text)),), text.strip()),)
    found = [one for one in _counted(document, bare) if one is not None]
    found.sort(key=lambda one: -one.share)
    if not found:
        found = list(_as_a_whole(document, bare))
    return tuple(found)


def _counted(document: Document, bare: int) -> Iterator[Illegible | None]:
    text = document.text
    prose = _FENCED.sub(lambda code: " " * len(code[0]), text)  # code may show any of these
    yield _met(
        document, "encoding", (span for span in _spans(_MOJIBAKE, prose) if _is_mojibake(prose[slice(*span)])), bare
    )
    yield _met(document, "replaced", _spans(_REPLACED, prose), bare)
    yield _met(document, "private", _spans(_PRIVATE, prose), bare)
    yield _met(document, "spaced", _spans(_SPACED, prose), bare)
    yield _met(document, "hyphenated", _spans(_HYPHENATED, prose), bare)
    yield _met(document, "ligatures", _spans(_LIGATURES, prose), bare)
    yield _met(document, "markup", _spans(_MARKUP, prose), bare)
    yield _met(
        document, "encoded", (span for span in _spans(_ENCODED, prose) if _is_encoded(prose[slice(*span)])), bare
    )


def _spans(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    return (found.span() for found in pattern.finditer(text))


def _met(document: Document, defect: Defect, found: Iterable[tuple[int, int]], bare: int) -> Illegible | None:
    spans = list(found)
    share = min(1.0, sum(end - start for start, end in spans) / bare)
    if len(spans) < _FEWEST[defect] or share < _LEAST_SHARE[defect]:
        return None
    size = len(document.text)
    shown = joined_spans((max(0, start - _AROUND), min(size, end + _AROUND)) for start, end in spans[:3])
    return Illegible(document.id, defect, share, len(spans), tuple(shown), document.text[slice(*spans[0])])


def _is_mojibake(piece: str) -> bool:
    """Whether it is UTF-8 that was read as Windows-1252 or Latin-1."""
    for encoding in ("cp1252", "latin-1"):
        try:
            piece.encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
        return True
    return False


def _is_encoded(piece: str) -> bool:
    """Whether it has capitals, small letters and digits throughout, as base64 has and no word."""
    return all(re.search(kind, piece[:76]) for kind in ("[A-Z]", "[a-z]", "[0-9]"))


def _as_a_whole(document: Document, bare: int) -> Iterator[Illegible]:
    text = document.text
    letters = sum(map(str.isalnum, text))
    if letters < _FEW_LETTERS * bare:
        start, end = next(lines_of(text))
        yield Illegible(
            document.id, "symbols", 1 - letters / bare, 1, ((start, min(end, start + 200)),), text[start : start + 40]
        )
    elif bare >= _ENOUGH_TO_SAY and not _RUN_OF_WORDS.search(text) and not _UNSPACED.search(text):
        start, end = next(lines_of(text))
        yield Illegible(document.id, "no_sentence", 1.0, 1, ((start, min(end, start + 200)),), text[start : start + 40])
