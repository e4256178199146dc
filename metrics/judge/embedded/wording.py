"""Wording: a text as its words, numbers, dates, names and negations, ready to be compared with another."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from ...porter import stem
from .word_lists import MONTHS, NEGATIONS, NUMBER_WORDS, ORDINALS, SCALES, STOP_WORDS, WEEKDAYS

Kind = Literal["stop", "word", "name", "number", "date"]

_CACHED_LENGTH: Final = 2_000  # longer texts are read anew, so that the cache stays small
_MOST_WORDS: Final = 4_000  # of a text; what comes after is not read
# The treebanks write brackets in words; many corpora have kept them.
_BRACKET: Final = re.compile(r"-[LR][RCS]B-")
_PIECE: Final = re.compile(
    r"(?P<number>\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)*)(?P<tail>st|nd|rd|th|s|%|k|m|bn)?(?![^\W_])"
    r"|[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]"  # scripts without blanks: sign by sign
    r"|[^\W_\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]+(?:['’][^\W\d_]+)*|%|[.!?:;\"“”()\[\]\n]"  # noqa: RUF001 - a quote that texts have
)
_APART: Final = re.compile(r" ?['’] (?=(?:[stdm]|re|ve|ll)\b)")  # noqa: RUF001 - as some corpora write don ' t
_DECADE: Final = re.compile(r"(?<=\d0)['’]s\b")  # noqa: RUF001
_DIGITS: Final = re.compile(r"\d")
_OPENS: Final = frozenset('.!?:;"“”()[]\n')
_TAIL_FACTORS: Final = {"k": 1_000, "m": 1_000_000, "bn": 1_000_000_000}
_TENS: Final = frozenset({"20", "30", "40", "50", "60", "70", "80", "90"})
_MOST_DIGITS: Final = 15
_YEARS: Final = range(1000, 2200)


class Word(NamedTuple):
    """One word of a text.

    Attributes:
        text: as it was written.
        key: what is compared: the stem, the plain number (``1000``, ``10%``), the month.
        kind: ``stop`` words are no content; ``name`` is a capitalised word within a sentence; ``date`` a month, a
            weekday or a year.
    """

    text: str
    key: str
    kind: Kind


@dataclass(frozen=True, slots=True, eq=False)
class Wording:
    """A text, read.

    Attributes:
        text: the text itself.
        words: all words, in their order; negations are among them as ``not``.
        content: keys of those that are no stop words.
        pairs: neighbouring content words.
        negations: places in ``words`` of the negations.
    """

    text: str
    words: tuple[Word, ...]
    content: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    negations: tuple[int, ...]

    def of_kind(self, *kinds: Kind) -> tuple[Word, ...]:
        """The words of some kinds, each once, in their order."""
        return tuple({word.key: word for word in self.words if word.kind in kinds}.values())


def wording(text: str) -> Wording:
    """Read a text.

    >>> [(word.key, word.kind) for word in wording("It wasn't built in Paris for 1.5 million").words]
    [('it', 'stop'), ('not', 'stop'), ('built', 'word'), ('in', 'stop'), ('pari', 'name'), ('for', 'stop'), \
('1500000', 'number')]
    """
    return _wording_cached(text) if len(text) <= _CACHED_LENGTH else _wording(text)


def _wording(text: str) -> Wording:
    words = tuple(_scaled(_read(text)))
    keys = [word.key for word in words if word.kind != "stop"]
    return Wording(
        text,
        words,
        frozenset(keys),
        frozenset(pairwise(keys)),
        tuple(place for place, word in enumerate(words) if word.key == "not"),
    )


_wording_cached = lru_cache(maxsize=16_384)(_wording)


def _read(text: str) -> Iterator[Word]:
    at_start = True
    count = 0
    for found in _PIECE.finditer(_joined_up(text)):
        piece = found[0]
        if piece in _OPENS:
            at_start = True
            continue
        yield _number(found["number"], found["tail"] or "") if found["number"] else _word(piece, at_start)
        at_start = False
        count += 1
        if count == _MOST_WORDS:
            return


def _joined_up(text: str) -> str:
    """The text with its accents composed, brackets as such, and endings joined to their words."""
    text = unicodedata.normalize("NFKC", text)
    return _DECADE.sub("s", _APART.sub("'", _BRACKET.sub(" ( ", text)))


def _number(digits: str, tail: str) -> Word:
    text = digits + tail
    if tail in {"st", "nd", "rd", "th"}:
        return Word(text, stem(ORDINALS.get(digits, text)), "word")
    plain = digits.replace(",", "")
    if tail == "s":
        return Word(text, text, "date")
    if tail in _TAIL_FACTORS and _is_plain(plain):
        return Word(text, _plain(float(plain) * _TAIL_FACTORS[tail]), "number")
    if tail == "%":
        return Word(text, _bare(plain) + "%", "number")
    if plain == digits and len(plain) == 4 and plain.isdecimal() and int(plain) in _YEARS:
        return Word(text, plain, "date")
    return Word(text, _bare(plain), "number")


def _bare(digits: str) -> str:
    """Without leading zeros, and without zeros after the point."""
    if digits.count(".") == 1:
        digits = digits.rstrip("0").rstrip(".")
    return digits.lstrip("0") or "0" if digits.isdecimal() else digits


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else str(number)


def _word(piece: str, at_start: bool) -> Word:
    lower = piece.lower().replace("’", "'")  # noqa: RUF001
    if lower in NEGATIONS or lower.endswith("n't"):
        return Word(piece, "not", "stop")
    lower = lower.removesuffix("'s").removesuffix("'")
    if lower in NUMBER_WORDS:
        return Word(piece, NUMBER_WORDS[lower], "number")
    capital = piece[:1].isupper()
    if lower in WEEKDAYS or (lower in MONTHS and (capital or lower not in {"may", "march", "mar", "dec"})):
        return Word(piece, MONTHS.get(lower, lower), "date")
    if lower in STOP_WORDS:
        return Word(piece, lower, "stop")
    if _DIGITS.search(lower):
        return Word(piece, lower, "word")
    return Word(piece, stem(lower), "name" if capital and not at_start else "word")


def _scaled(words: Iterator[Word]) -> Iterator[Word]:
    """Numbers joined with what scales them: 1.5 million, two hundred, 10 percent."""
    before: Word | None = None
    for word in words:
        if before is not None:
            joined = _joined(before, word)
            if joined is not None:
                before = joined
                continue
            yield before
        before = word
    if before is not None:
        yield before


def _joined(first: Word, second: Word) -> Word | None:
    if first.kind not in {"number", "date"} or not _is_plain(first.key):
        return None
    lower = second.text.lower()
    text = f"{first.text} {second.text}"
    if lower in {"%", "percent", "pct"}:
        return Word(text, first.key + "%", "number")
    if lower in SCALES:
        return Word(text, _plain(float(first.key) * SCALES[lower]), "number")
    spelt = first.text.isalpha() and second.text.isalpha() and second.kind == "number"
    if spelt and first.key in _TENS and len(second.key) == 1:
        return Word(text, str(int(first.key) + int(second.key)), "number")
    return None


def _is_plain(key: str) -> bool:
    """Whether it is a number that can be multiplied without losing a digit."""
    return len(key) <= _MOST_DIGITS and key.replace(".", "", 1).isdecimal() and key[:1].isdecimal()
