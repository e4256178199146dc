"""Edits: the words and letters of a question that may be changed, drawn the same on every machine."""

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Final, NamedTuple, TypeVar

Item = TypeVar("Item")

_RANGE: Final = 2**64


class Chance:
    """A stream of random numbers made by hashing; equal parts give an equal stream.

    Args:
        parts: texts and numbers that name what is drawn: the seed, the question, the kind.
    """

    def __init__(self, *parts: str | float) -> None:
        self._key = blake2b(json.dumps(parts).encode(), digest_size=32).digest()
        self._block = 0
        self._left: list[int] = []

    def below(self, bound: int) -> int:
        """A whole number from 0 to ``bound`` - 1, each equally likely."""
        fair = _RANGE - _RANGE % bound
        while (drawn := self._next()) >= fair:
            pass
        return drawn % bound

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[Item], most: int | None = None) -> list[Item]:
        """The items in random order; the first ``most`` of that order."""
        left = list(items)
        count = len(left) if most is None else min(most, len(left))
        for place in range(count):
            other = place + self.below(len(left) - place)
            left[place], left[other] = left[other], left[place]
        return left[:count]

    def _next(self) -> int:
        if not self._left:
            block = blake2b(self._block.to_bytes(8, "big"), key=self._key).digest()
            self._block += 1
            self._left = [int.from_bytes(block[start : start + 8], "big") for start in range(0, len(block), 8)]
        return self._left.pop()


_TOKEN = re.compile(r"\S+")
_ADDRESS = re.compile(r"://|www\.|@|[^\W\d_]\.[^\W\d_]|^[#/\\{<$]|_|\\")
_CURRENCY = re.compile(r"[A-Z]{2,3}|[^\w\s]+")
_NEGATION = re.compile(r"(?i)(no|not|nor|never|none|neither|nothing|nobody|without|cannot|cant|\w+n['\u2019]t)")
# Of German, Dutch, French, Spanish, Italian, Portuguese, Polish, Turkish, Russian, Greek, Arabic, Hebrew, Vietnamese.
_FOREIGN_NEGATIONS: Final = frozenset({
    "nicht", "nichts", "nie", "niemals", "niemand", "ohne", "kein", "keine", "keinen", "keinem", "keiner", "keines",
    "niet", "niets", "nooit", "geen", "zonder", "ne", "pas", "jamais", "rien", "aucun", "aucune", "sans", "nunca",
    "nada", "nadie", "sin", "ni", "ning\u00fan", "ninguna", "ninguno", "non", "mai", "niente", "nessuno", "nessuna",
    "senza",
    "n\u00e3o", "nem", "nenhum", "nenhuma", "sem", "bez", "nigdy", "de\u011fil", "yok", "hi\u00e7", "\u043d\u0435",
    "\u043d\u0438", "\u043d\u0435\u0442", "\u0431\u0435\u0437", "\u03b4\u03b5\u03bd", "\u03bc\u03b7",
    "\u03cc\u03c7\u03b9", "\u03c7\u03c9\u03c1\u03af\u03c2", "\u0644\u0627", "\u0644\u0645", "\u0644\u0646",
    "\u0644\u064a\u0633", "\u0628\u062f\u0648\u0646", "\u05dc\u05d0", "\u05d0\u05d9\u05df", "kh\u00f4ng",
    "ch\u01b0a", "ch\u1eb3ng",
})  # fmt: skip
_ROMAN: Final = re.compile(r"[ivx]{2,}|[IVXLCDM]{2,}")
_ACRONYM: Final = re.compile(r"[^\W\d_a-z]{2,5}s?")
_UNSPACED: Final = frozenset({"CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN", "BOPOMOFO"})
_LAST_WITHOUT_MARKS: Final = "\u02ff"  # no character up to here is a mark on the one before it
_JOINERS: Final = "\u200c\u200d"


@dataclass(frozen=True, slots=True)
class Word:
    """A word without the marks around it.

    Attributes:
        start: where it begins in the text.
        end: where it ends.
        text: as it stands there.
        fixed: whether it must stay as it is: a number, what a number counts, an address, a name such as ``a_b``.
        before: the marks between it and the blank before it.
        after: the marks between it and the blank after it.
    """

    start: int
    end: int
    text: str
    fixed: bool
    before: str = ""
    after: str = ""

    @property
    def plain(self) -> str:
        """In lower case, with a plain apostrophe."""
        return self.text.lower().replace("\u2019", "'")

    @property
    def is_negation(self) -> bool:
        """Whether it denies something, so that a reader must be able to read it."""
        return _NEGATION.fullmatch(self.text) is not None or self.text.lower() in _FOREIGN_NEGATIONS


def script(letter: str) -> str:
    """The writing system of a letter, as its name in Unicode begins: ``LATIN``, ``CYRILLIC``, ``CJK``."""
    return unicodedata.name(letter, "").partition(" ")[0]


@lru_cache(maxsize=4)
def words(text: str) -> tuple[Word, ...]:
    """The words of a text: what stands between blanks, without the marks around it."""
    found = [_word(match.start(), match[0]) for match in _TOKEN.finditer(text)]
    made = []
    for place, word in enumerate(found):
        follows = place > 0 and _has_digit(found[place - 1].text)
        precedes = place + 1 < len(found) and _has_digit(found[place + 1].text) and _CURRENCY.fullmatch(word.text)
        if (follows or precedes) and not word.fixed:
            word = Word(word.start, word.end, word.text, True, word.before, word.after)
        if word.text:
            made.append(word)
    return tuple(made)


def letters(text: str) -> list[int]:
    """Places of the letters that may be changed without changing what is asked.

    Numbers, the word after a number, addresses and words of negation stay as they are, and so do letters that carry
    marks of their own. In writing without blanks a number protects only the character after it.
    """
    return [place for word in words(text) for place in _letters_of(word, text)]


def spelled_letters(text: str) -> list[int]:
    """Places of the letters that may be misspelt, so that a reader still knows the word.

    Single letters, acronyms and Roman numbers stay as they are as well, since another letter makes another one
    ("vitamin C", "world war ii"), and Chinese characters, which are words and not letters.
    """
    is_loud = not any(letter.islower() for letter in text)
    found = [word for word in words(text) if not any(_is_code(part, is_loud) for part in word.text.split("/"))]
    return [place for word in found for place in _letters_of(word, text) if not _is_ideograph(text[place])]


def word_starts(text: str) -> frozenset[int]:
    """Where words begin."""
    return frozenset(word.start for word in words(text))


def is_unspaced(text: str) -> bool:
    """Whether most letters are of a writing system that puts no blanks between words."""
    found = [letter for letter in text if letter.isalpha()]
    return sum(_is_unspaced(letter) for letter in found) * 2 > len(found)


def carries_mark(text: str, place: int) -> bool:
    """Whether the character after it belongs to the one at a place."""
    after = text[place + 1 : place + 2]
    return after > _LAST_WITHOUT_MARKS and (unicodedata.category(after)[0] == "M" or after in _JOINERS)


def is_name(word: Word, found: Sequence[Word]) -> bool:
    """Whether a word that begins no sentence is written as a name, in a text that is not all in capitals."""
    return word.text[0].isupper() and not all(each.text.isupper() for each in found)


def like(new: str, old: str) -> str:
    """The new word in the case of the old one: all capitals, a capital at the start, or as it is."""
    if len(old) > 1 and old.isupper():
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def _word(start: int, token: str) -> Word:
    first = next((place for place, letter in enumerate(token) if letter.isalnum()), len(token))
    last = next((place for place in range(len(token), 0, -1) if _ends_word(token[place - 1])), first)
    core = token[first:last]
    fixed = _ADDRESS.search(token) is not None or (_has_digit(token) and not _has_unspaced(core))
    return Word(start + first, start + max(first, last), core, fixed, token[:first], token[max(first, last) :])


def _ends_word(letter: str) -> bool:
    return letter.isalnum() or unicodedata.category(letter)[0] == "M"


def _letters_of(word: Word, text: str) -> Iterator[int]:
    if word.fixed or word.is_negation:
        return
    if word.text.isascii() and word.text.isalpha() and text[word.end : word.end + 1] <= _LAST_WITHOUT_MARKS:
        yield from range(word.start, word.end)
        return
    counted = False
    for place in range(word.start, word.end):
        letter = text[place]
        if letter.isalpha() and not (counted or letter.isnumeric() or carries_mark(text, place)):
            yield place
        counted = letter.isnumeric()


def _is_code(word: str, is_loud: bool) -> bool:
    """Whether every letter of a word tells what it is; a text that is loud is written in capitals altogether."""
    if len(word) == 1:
        return word.lower() != word.upper()
    return bool(_ROMAN.fullmatch(word)) or (not is_loud and word[:2].isupper() and bool(_ACRONYM.fullmatch(word)))


def _is_ideograph(letter: str) -> bool:
    return letter > "\u2e7f" and script(letter) == "CJK"


def _has_digit(token: str) -> bool:
    return not (token.isascii() and token.isalpha()) and any(
        letter.isnumeric() and not letter.isalpha() for letter in token
    )


def _has_unspaced(token: str) -> bool:
    return any(letter.isalpha() and _is_unspaced(letter) for letter in token)


@lru_cache(maxsize=10_000)
def _is_unspaced(letter: str) -> bool:
    return letter > "\u0e00" and script(letter) in _UNSPACED


class Refused(Exception):  # noqa: N818 - an outcome, told as a part of a sentence
    """A kind can't change this text; the message says why, as in "no variant was made, because ..."."""


class Change(NamedTuple):
    """Characters from ``start`` to ``end`` that give way to ``new``."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class Perturbed:
    """A text that was changed.

    Attributes:
        text: as it is now.
        changed: in how many of the places something was changed.
        units: in how many places the kind could have changed something.
    """

    text: str
    changed: int
    units: int


def how_many(units: int, share: float) -> int:
    """The number of places that a share of them comes to: rounded, at least one, at most all."""
    return min(units, max(1, int(share * units + 0.5)))


def some_of(places: Sequence[Change], share: float, chance: Chance, missing: str, source: str) -> Perturbed:
    """The text with a random share of the possible changes made.

    Args:
        places: all changes that are possible; they don't overlap.
        share: of the places, above 0 and at most 1.
        chance: draws which.
        missing: why nothing can be changed when there are no places.
        source: the text.

    Raises:
        Refused: there are no places.
    """
    if not places:
        raise Refused(missing)
    made = chance.shuffled(places, how_many(len(places), share))
    return Perturbed(changed(source, made), len(made), len(places))


def changed(source: str, changes: Sequence[Change]) -> str:
    """The text with these changes made; they don't overlap."""
    pieces, position = [], 0
    for change in sorted(changes):
        pieces += [source[position : change.start], change.new]
        position = change.end
    return "".join((*pieces, source[position:]))
