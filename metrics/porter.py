"""Porter's stemmer with the departures from the 1980 paper that NLTK makes by default.

Own code, because importing NLTK costs seconds where SciPy is installed; its values are NLTK's, held to them by a test.
"""

from functools import lru_cache
from typing import Final

# Words whose stem the rules would get wrong; NLTK's list.
_IRREGULAR: Final = {
    "sky": "sky", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news",
    "innings": "inning", "inning": "inning", "outings": "outing", "outing": "outing",
    "cannings": "canning", "canning": "canning", "howe": "howe",
    "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}  # fmt: skip

_DERIVED: Final = {  # step 2: replaced when something measurable comes before
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble",
    "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate",
    "ator": "ate", "alism": "al", "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al",
    "iviti": "ive", "biliti": "ble", "fulli": "ful",
}  # fmt: skip
_SHORTENED: Final = {  # step 3: the same
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
_DROPPED: Final = frozenset({  # step 4: taken off when at least two measures come before
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate",
    "iti", "ous", "ive", "ize",
})  # fmt: skip
_LETTERS: Final = {ord(letter): "v" for letter in "aeiou"} | {ord("y"): "y"}
_CACHED_LENGTH: Final = 40  # longer ones are no words; keeping them would cost memory without bound


def stem(word: str) -> str:
    """The stem of a lower-case word, equal to ``nltk.stem.PorterStemmer().stem(word)``.

    Source: M. F. Porter, An algorithm for suffix stripping, Program 14 (1980), 130-137.

    >>> [stem(word) for word in ("relational", "hopping", "flies", "skies", "happily")]
    ['relat', 'hop', 'fli', 'sky', 'happili']
    """
    return _stem_cached(word) if len(word) <= _CACHED_LENGTH else _stem(word)


def _stem(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _final_y(_past_or_gerund(_plural(word)))
    word = _rewrite(_derivation(word), _SHORTENED)
    return _final_double_l(_final_e(_residue(word)))


_stem_cached = lru_cache(maxsize=65_536)(_stem)


def _shape(word: str) -> str:
    """The word with each letter written as v (vowel) or c; y is a vowel after a consonant."""
    marks = "".join(_LETTERS.get(ord(letter), "c") for letter in word)
    if "y" not in marks:
        return marks
    shape: list[str] = []
    for mark in marks:
        shape.append(("v" if shape and shape[-1] == "c" else "c") if mark == "y" else mark)
    return "".join(shape)


def _measure(word: str) -> int:
    return _shape(word).count("vc")


def _ends_short(word: str) -> bool:
    """Whether it ends consonant, vowel, consonant other than w, x, y; or is just vowel and consonant."""
    shape = _shape(word)
    return shape == "vc" or (shape.endswith("cvc") and word[-1] not in "wxy")


def _plural(word: str) -> str:
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past_or_gerund(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            rest = word.removesuffix(ending)
            return _mended(rest) if "v" in _shape(rest) else word
    return word


def _mended(rest: str) -> str:
    """What is left after -ed or -ing, with its final e or single consonant given back."""
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    shape = _shape(rest)
    if rest[-1:] == rest[-2:-1] and shape[-1] == "c":
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if shape.count("vc") == 1 and _ends_short(rest) else rest


def _final_y(word: str) -> str:
    if word.endswith("y") and len(word) > 2 and _shape(word[:-1])[-1] == "c":
        return word[:-1] + "i"
    return word


def _derivation(word: str) -> str:
    while word.endswith("alli") and _measure(word[:-4]):
        word = word[:-2]
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) else word
    return _rewrite(word, _DERIVED)


def _rewrite(word: str, endings: dict[str, str]) -> str:
    """The longest of the endings that the word has decides, whether or not it may be replaced."""
    for length in range(7, 2, -1):
        ending = word[-length:]
        if ending in endings and len(word) >= length:
            rest = word[:-length]
            return rest + endings[ending] if _measure(rest) else word
    return word


def _residue(word: str) -> str:
    for length in range(5, 1, -1):
        ending = word[-length:]
        if ending in _DROPPED:
            rest = word[:-length]
            droppable = _measure(rest) > 1 and (ending != "ion" or rest[-1] in "st")
            return rest if droppable else word
    return word


def _final_e(word: str) -> str:
    if not word.endswith("e"):
        return word
    measure = _measure(word[:-1])
    return word[:-1] if measure > 1 or (measure == 1 and not _ends_short(word[:-1])) else word


def _final_double_l(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
