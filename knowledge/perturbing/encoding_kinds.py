"""Encoding kinds: the same letters written with other characters, as broken programs and clever users do."""

import unicodedata
from collections.abc import Callable
from html.entities import codepoint2name

from .chance import Chance
from .rewording import Change, Reworded, some_of
from .units import carries_mark, letters, script, words

# Letters of Cyrillic and Greek that look like these of Latin.
_LATIN = "ABCEHIJKMOPSTXYaceijopsxyvu"
_ALIKE = "\u0410\u0412\u0421\u0415\u041d\u0406\u0408\u041a\u041c\u041e\u0420\u0405\u0422\u0425\u03a5"
_ALIKE += "\u0430\u0441\u0435\u0456\u0458\u043e\u0440\u0455\u0445\u0443\u03bd\u03c5"
LOOKALIKES = dict(zip(_LATIN, _ALIKE, strict=True))
_FULL_WIDTH = ord("\uff21") - ord("A")
_UNACCENTED_SCRIPTS = ("LATIN", "GREEK")


def look_alike(text: str, share: float, chance: Chance) -> Reworded:
    """Cyrillic and Greek letters that look like the Latin ones."""
    return _translated(text, share, chance, LOOKALIKES.get, "it has no letters of which others look alike")


def full_width(text: str, share: float, chance: Chance) -> Reworded:
    """The full-width forms of Latin letters, as Asian keyboards write them."""
    return _translated(text, share, chance, _widened, "it has no Latin letters that may be changed")


def strip_accents(text: str, share: float, chance: Chance) -> Reworded:
    """Latin and Greek letters without their accents."""
    places = [
        Change(start, start + 1 + marks, bare)
        for word in words(text)
        if not word.fixed
        for start in range(word.start, word.end)
        for bare, marks in [_unaccented(text, start)]
        if bare
    ]
    return some_of(places, share, chance, "it has no letters with accents", text)


def write_entities(text: str, share: float, chance: Chance) -> Reworded:
    """Character references of HTML, by name where there is one: ``&eacute;``, ``&#115;``."""
    free = set(letters(text))
    for word in words(text):
        if not word.fixed:
            span = range(word.start - len(word.before), word.end + len(word.after))
            free.update(place for place in span if text[place] in "&<>\"'\u2018\u2019\u201c\u201d\u00ab\u00bb")
    places = [Change(place, place + 1, _entity(text[place])) for place in sorted(free)]
    return some_of(places, share, chance, "it has no letters that may be changed", text)


def garble(text: str, share: float, chance: Chance) -> Reworded:
    """Letters and marks outside ASCII in UTF-8 read as Windows-1252: each becomes two or three strange ones."""
    fixed = {place for word in words(text) if word.fixed for place in range(word.start, word.end)}
    places = [
        Change(place, place + 1, garbled)
        for place, letter in enumerate(text)
        if letter > "\x7f" and place not in fixed and not carries_mark(text, place) and (garbled := _misread(letter))
    ]
    return some_of(places, share, chance, "it has no letters or marks outside ASCII that read otherwise", text)


def _translated(
    text: str, share: float, chance: Chance, new: Callable[[str], str | None], lacking: str
) -> Reworded:  # fmt: skip
    found = ((place, new(text[place])) for place in letters(text))
    return some_of([Change(at, at + 1, made) for at, made in found if made], share, chance, lacking, text)


def _widened(letter: str) -> str | None:
    return chr(ord(letter) + _FULL_WIDTH) if letter.isascii() else None


def _unaccented(text: str, start: int) -> tuple[str, int]:
    """The letter at a place without its accent, and how many marks follow it; blank when it has none."""
    letter = text[start]
    if not letter.isalpha() or script(letter) not in _UNACCENTED_SCRIPTS:
        return "", 0
    marks = 0
    while unicodedata.combining(text[start + 1 + marks : start + 2 + marks] or " "):
        marks += 1
    taken_apart = unicodedata.normalize("NFD", letter)
    return (taken_apart[0], marks) if len(taken_apart) > 1 or marks else ("", 0)


def _entity(letter: str) -> str:
    name = codepoint2name.get(ord(letter))
    return f"&{name};" if name else f"&#{ord(letter)};"


def _misread(letter: str) -> str:
    """What becomes of a letter or a mark; blank when that could not be seen, or is no text at all."""
    if unicodedata.category(letter)[0] not in "LP":
        return ""
    try:
        garbled = letter.encode().decode("cp1252")
    except UnicodeError:
        return ""
    return garbled if garbled.isprintable() else ""
