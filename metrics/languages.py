"""Languages: the scripts of a text, without a model."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

# What occurs in texts of any language: code in back-ticks, links, addresses, tags. Links and addresses are ASCII: in a
# language without blanks the sentence goes on right after them. Repetitions are bounded, for looping answers.
_NO_PROSE: Final = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|(?:https?://|www\.)[!-~]+"
    r"|[\w.%+-]{1,64}+@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}|<[^<>\n]{1,200}>",
    re.DOTALL | re.IGNORECASE | re.ASCII,
)
# Writing systems that mix scripts with Han characters; Han characters next to such a letter belong to them.
_MIXED: Final = {"BOPOMOFO": "CHINESE", "HIRAGANA": "JAPANESE", "KATAKANA": "JAPANESE", "HANGUL": "KOREAN"}
_HAN: Final = "CJK"
# Beginnings of the names of letters that belong to no script in particular.
_COMMON: Final = frozenset({"MODIFIER", "FEMININE", "MASCULINE", "MICRO", "KELVIN", "ANGSTROM", "OHM", "SCRIPT"})


def prose(text: str) -> str:
    """A text without code, links, addresses and tags, which occur in any language."""
    return _NO_PROSE.sub(" ", text)


def letters(text: str) -> Iterator[str]:
    """The letters of a text, in their compatible forms."""
    return (character for character in unicodedata.normalize("NFKC", text) if character.isalpha())


def scripts(text: str) -> frozenset[str]:
    """The writing systems to which the letters of a text may belong; empty when it has none.

    Han characters alone may be Chinese, Japanese or Korean.

    >>> sorted(scripts("What is Москва?")), sorted(scripts("42"))
    (['CYRILLIC', 'LATIN'], [])
    """
    found = {_script(letter) for letter in set(letters(text))} - {""}
    mixed = set(_MIXED.values())
    if _HAN in found and not found & mixed:
        found |= mixed
    return frozenset(found - {_HAN})


@lru_cache(maxsize=16_384)
def _script(letter: str) -> str:
    name = unicodedata.name(letter, "").split(" ", maxsplit=1)[0].split("-")[0]
    return "" if name in _COMMON else _MIXED.get(name, name)
