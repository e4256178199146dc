"""Repeated lines: menus, banners and footers that stand in many documents, and what share of each they are."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from ..documents import Document
from .dates import family
from .tokens import joined_spans, lines_of, words_of

_LEAST_DOCUMENTS: Final = 4  # in which a line must stand to be boilerplate
_LEAST_SHARE: Final = 0.02  # of all documents, likewise
_LONGEST_PHRASE: Final = 160  # characters of a line that a set phrase makes boilerplate by itself
_PHRASES: Final = re.compile(
    r"skip to (?:main )?content|all rights reserved|accept (?:all )?cookies|reject all cookies"
    r"|cookie (?:settings|preferences)"
    r"|(?:this (?:web)?site|we) uses? cookies|subscribe to our newsletter|sign up for our newsletter|follow us on"
    r"|share on (?:facebook|twitter|x|linkedin)|back to top|toggle navigation|terms of (?:use|service) *[|·•]"
    r"|privacy policy *[|·•]|alle rechte vorbehalten|cookies? akzeptieren|zum inhalt springen|nach oben",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Repeated:
    """What of a document is boilerplate.

    Attributes:
        document: its id.
        share: of its words, from 0 to 1.
        spans: where, in characters, sorted and apart.
        documents: in how many documents the most common of its lines stands.
    """

    document: str
    share: float
    spans: tuple[tuple[int, int], ...]
    documents: int


def repeated_lines(documents: Sequence[Document]) -> Mapping[str, Repeated]:
    """By id, each document that has lines which many others have, or set phrases of web pages.

    Versions of one document, and documents with the same text, count as one.
    """
    places: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for number, document in enumerate(documents):
        for start, end in lines_of(document.text):
            places[_normal(document.text[start:end])].append((number, start, end))
    families = _families(documents)
    least = max(_LEAST_DOCUMENTS, math.ceil(_LEAST_SHARE * len(set(families))))
    spans: dict[int, list[tuple[int, int]]] = defaultdict(list)
    common: dict[int, int] = defaultdict(int)
    for line, found in places.items():
        count = len({families[number] for number, _, _ in found}) if len(found) >= least else 0
        is_phrase = len(line) <= _LONGEST_PHRASE and _PHRASES.search(line) is not None
        if count < least and not is_phrase:
            continue
        for number, start, end in found:
            spans[number].append((start, end))
            common[number] = max(common[number], count)
    return {
        documents[number].id: _repeated(documents[number], spans[number], common[number]) for number in sorted(spans)
    }


def _repeated(document: Document, spans: Sequence[tuple[int, int]], common: int) -> Repeated:
    words = sum(len(words_of(document.text[start:end])) for start, end in spans)
    return Repeated(
        document.id, min(1.0, words / max(1, len(words_of(document.text)))), tuple(joined_spans(spans, 2)), common
    )


def _normal(line: str) -> str:
    return " ".join(line.casefold().split())


def _print(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _families(documents: Sequence[Document]) -> list[int]:
    """For each document the first one of which it is a version, by name, or which has the same text."""
    first: dict[str, int] = {}
    found: list[int] = []
    for number, document in enumerate(documents):
        number = first.setdefault(f"name {family(document.id)}", number)
        found.append(first.setdefault(f"text {_print(document.text)}", number))
    return found
