"""Character kinds: letters that were typed, read or put in wrongly."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from string import ascii_lowercase

from .chance import Chance
from .known_words import Runs
from .rewording import Change, Refused, Reworded, changed, how_many
from .units import script, spelled_letters, word_starts, words

_DATA = Path(__file__).parent
NO_LETTERS = "it has no letters that may be changed"
_LONG = 5  # letters
_ROUNDS = 3  # what makes a word together with one change may make none together with another
_TRIES = 4  # draws for a place


def insert_letters(text: str, share: float, chance: Chance) -> Reworded:
    """A letter too many after some letters."""
    return _slipped(text, share, chance, _drawn(text, spelled_letters(text), after=1), NO_LETTERS)


def replace_letters(text: str, share: float, chance: Chance) -> Reworded:
    """Another letter in place of some, in words of five letters and more.

    A shorter one becomes another word too easily: a bike a tike, a card lard.
    """
    long = [place for word in words(text) if word.end - word.start >= _LONG for place in range(word.start, word.end)]
    places = sorted({*spelled_letters(text)} & {*long})
    return _slipped(text, share, chance, _drawn(text, places, after=0), "it has no word of five letters to change")


def delete_letters(text: str, share: float, chance: Chance) -> Reworded:
    """Some letters are missing, never the first one of a word."""
    starts = word_starts(text)
    options = {place: [Change(place, place + 1, "")] for place in spelled_letters(text) if place not in starts}
    return _slipped(text, share, chance, options, "it has no word of two letters that may be changed")


def mistype(text: str, share: float, chance: Chance) -> Reworded:
    """A neighbouring key of a QWERTY keyboard in place of some letters."""
    keys = _table("keyboard.json")
    options = {
        place: [Change(place, place + 1, _cased(new, text[place])) for new in keys[text[place].lower()]]
        for place in spelled_letters(text)
        if text[place].lower() in keys
    }
    return _slipped(text, share, chance, options, "it has no letters of a QWERTY keyboard that may be changed")


def swap_y_and_z(text: str, share: float, chance: Chance) -> Reworded:
    """Y for z and z for y, as on a keyboard of another country."""
    swapped = str.maketrans("yzYZ", "zyZY")
    found = [place for place in spelled_letters(text) if text[place] in "yzYZ"]
    options = {place: [Change(place, place + 1, text[place].translate(swapped))] for place in found}
    return _slipped(text, share, chance, options, "it has no y and no z that may be changed")


def misread(text: str, share: float, chance: Chance) -> Reworded:
    """What text recognition takes for one another: rn and m, l and 1, O and 0; no word becomes a number."""
    table, starts = _table("ocr.json"), word_starts(text)
    longest = max(map(len, table))
    free, options, position = spelled_letters(text), dict[int, Sequence[Change]](), -1
    ends = set(free)
    for place in free:
        if place < position:
            continue
        lengths = [size for size in range(1, longest + 1) if place + size - 1 in ends]
        found = [
            Change(place, place + size, new)
            for size in lengths
            for new in table.get(text[place : place + size], ())
            if not (new[0].isdigit() and place in starts)
        ]
        if found:
            chosen = chance.pick(found)
            options[place] = [chosen]
            position = chosen.end
    return _slipped(text, share, chance, options, "it has no letters that text recognition is known to confuse")


def _slipped(
    text: str, share: float, chance: Chance, options: Mapping[int, Sequence[Change]], lacking: str
) -> Reworded:  # fmt: skip
    """The text with one of the options at a share of the places; no word of it becomes another word."""
    runs = Runs(text, share)
    places = [place for place, found in options.items() if runs.fits(place, found)]
    if not places:
        raise Refused(lacking)
    wanted, left = how_many(len(places), share), chance.shuffled(places)
    for _ in range(_ROUNDS):
        open_still: list[int] = []
        for place in left:
            is_done = runs.count == wanted
            if is_done or not any(runs.take(place, chance.pick(options[place])) for _ in range(_TRIES)):
                open_still.append(place)
        left = open_still
    return Reworded(changed(text, runs.changes), runs.count, len(places))


def _drawn(text: str, places: Sequence[int], after: int) -> Mapping[int, Sequence[Change]]:
    """Letters of the same writing system that may be put after places (``after`` 1) or in place of them (0)."""
    alphabets = _alphabets(text, places)
    options = {}
    for place in places:
        old = text[place]
        choice = [each for each in alphabets[script(old)] if after or each != _folded(old)]
        options[place] = [Change(place + after, place + 1, _cased(new, old)) for new in choice]
    return options


def _alphabets(text: str, places: Sequence[int]) -> Mapping[str, Sequence[str]]:
    """The letters to draw from, by writing system: a to z, or those of another one that stand in the text."""
    seen: dict[str, set[str]] = {}
    for place in places:
        seen.setdefault(script(text[place]), set()).add(_folded(text[place]))
    return {name: ascii_lowercase if name == "LATIN" else sorted(found) for name, found in seen.items()}


def _folded(letter: str) -> str:
    """In lower case, where that is one letter as well."""
    lower = letter.lower()
    return lower if len(lower) == 1 else letter


def _cased(new: str, old: str) -> str:
    return new.upper() if old.isupper() and len(new.upper()) == 1 else new


@cache
def _table(name: str) -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = json.loads((_DATA / name).read_text("utf-8"))
    return found
