"""Spelling: whether two words, or a phrase and a stretch of a text, are the same but for how they are written."""

import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

SAME_WORD: Final = 0.8
"""Likeness from which on two spellings are the same word."""

_LEAST_LETTERS: Final = 4  # of a word that may be spelled otherwise, or of a phrase that is found within words
_LEAST_LENGTH: Final = 0.6  # of the longer of two words, that the shorter one has
_CACHED_LENGTH: Final = 200


def likeness(first: str, second: str) -> float:
    """Likeness of two spellings between 0 and 1, 0 where they can't be the same word.

    >>> likeness("dostoyevski", "dostoevski") > SAME_WORD
    True
    >>> likeness("pari", "parti")
    0.0
    """
    shorter, longer = sorted((first, second), key=len)
    if len(shorter) < _LEAST_LETTERS or len(shorter) < _LEAST_LENGTH * len(longer) or len(longer) > _CACHED_LENGTH:
        return 0.0
    if first[0].isdigit() or second[0].isdigit() or (first[0] != second[0] and first[-1] != second[-1]):
        return 0.0
    return _likeness(shorter, longer)


@lru_cache(maxsize=65_536)
def _likeness(shorter: str, longer: str) -> float:
    ratio = SequenceMatcher(None, shorter, longer, autojunk=False).ratio()
    if ratio >= SAME_WORD:
        # A letter more or less in a word of four makes another word: party, Paris.
        return ratio if len(shorter) > _LEAST_LETTERS or longer.startswith(shorter) else 0.0
    return SAME_WORD if longer.startswith(shorter) else 0.0


def unaccented(text: str) -> str:
    """The text without accents.

    >>> unaccented("Málaga")
    'Malaga'
    """
    if text.isascii():
        return text
    return "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))


def letters(text: str) -> str:
    """Letters and digits of a text in lower case, without accents and with nothing between them.

    >>> letters("Kareem Abdul-Jabbar")
    'kareemabduljabbar'
    """
    return "".join(sign for sign in unaccented(text).lower() if sign.isalnum())


def unspaced(word: str) -> bool:
    """Whether a word is of a script without capitals; many such scripts write words together.

    >>> unspaced("北京"), unspaced("Peking"), unspaced("12")
    (True, False, False)
    """
    return len(word) > 1 and word.isalpha() and word.lower() == word.upper()


def spelled_alike(phrase: str, words: Sequence[str], length: int) -> float:
    """Letter trigrams that a phrase shares with the stretch of a text that is most like it (Dice, 0 to 1).

    Args:
        phrase: the letters of the phrase, see ``letters``.
        words: the letters of each word of the text.
        length: how many words the phrase has; stretches of one word less or more are looked at too. With 0, the
            text is looked at as a whole.
    """
    whole = "".join(words)
    if not phrase or not whole:
        return 0.0
    if phrase in whole and (len(phrase) >= _LEAST_LETTERS or unspaced(phrase)):
        return 1.0
    wanted = _trigrams(phrase)
    if not length:
        return _dice(wanted, _trigrams(whole))
    sizes = range(max(1, length - 1), length + 2)
    stretches = ("".join(words[start : start + size]) for size in sizes for start in range(len(words) - size + 1))
    return max((_dice(wanted, _trigrams(stretch)) for stretch in stretches), default=_dice(wanted, _trigrams(whole)))


def _trigrams(text: str) -> frozenset[str]:
    return _trigrams_cached(text) if len(text) <= _CACHED_LENGTH else _trigrams_cached.__wrapped__(text)


@lru_cache(maxsize=65_536)
def _trigrams_cached(text: str) -> frozenset[str]:
    padded = f" {text} "
    return frozenset(padded[place : place + 3] for place in range(len(padded) - 2))


def _dice(first: frozenset[str], second: frozenset[str]) -> float:
    return 2 * len(first & second) / (len(first) + len(second))
