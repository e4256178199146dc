"""Languages: the scripts of a text, without a model."""

import re
import unicodedata
from collections import Counter
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
_WEIGHT: Final = 3  # of a sign of these, beside a letter
_SHARE: Final = 0.1  # of the Han characters that kana must be for a text to be Japanese; a quoted name is less
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


def main_script(text: str) -> str:
    """The writing system of most of a text, blank when it has no letter.

    A sign of Chinese, Japanese or Korean counts as three letters, for it says as much. Japanese is known by its kana;
    Han characters alone are ``CJK``.

    >>> main_script("commit で変更を記録します"), main_script("北京"), main_script("What is Москва?")
    ('JAPANESE', 'CJK', 'LATIN')
    """
    if text.isascii():
        return "LATIN" if any(map(str.isalpha, text)) else ""
    counts: Counter[str] = Counter()
    for letter, count in Counter(letters(text)).items():
        counts[_script(letter)] += count
    counts.pop("", None)
    for script in (_HAN, *_MIXED.values()):
        counts[script] *= _WEIGHT
    for script in ("JAPANESE", "KOREAN", "CHINESE"):
        if counts[script] and counts[_HAN] and counts[script] >= _SHARE * counts[_HAN]:
            counts[script] += counts.pop(_HAN)
    most = max(counts, key=lambda script: counts[script], default="")
    return most if counts[most] else ""


def of_script(text: str, script: str) -> str:
    """The text without the words that have no letter of a script, as ``main_script`` names it."""
    if text.isascii():
        return text
    wanted = {script, _HAN} if script in _MIXED.values() else {script}
    return " ".join(word for word in text.split() if any(_script(letter) in wanted for letter in letters(word)))


@lru_cache(maxsize=16_384)
def _script(letter: str) -> str:
    name = unicodedata.name(letter, "").split(" ", maxsplit=1)[0].split("-")[0]
    return "" if name in _COMMON else _MIXED.get(name, name)
