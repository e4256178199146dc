"""Character kinds: letters that were typed, read or put in wrongly."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from string import ascii_lowercase

from .chance import Chance
from .rewording import Change, Refused, Reworded, how_many, some_of
from .units import letters, script, word_starts

_DATA = Path(__file__).parent
NO_LETTERS = "it has no letters that may be changed"


def insert_letters(text: str, share: float, chance: Chance) -> Reworded:
    """A letter too many after some letters."""
    return _drawn(text, share, chance, letters(text), after=1)


def replace_letters(text: str, share: float, chance: Chance) -> Reworded:
    """Another letter in place of some."""
    found = letters(text)
    alphabets = _alphabets(text, found)
    fit = [place for place in found if len(alphabets[script(text[place])]) > 1]
    return _drawn(text, share, chance, fit, after=0)


def delete_letters(text: str, share: float, chance: Chance) -> Reworded:
    """Some letters are missing, never the first one of a word."""
    starts = word_starts(text)
    places = [Change(place, place + 1, "") for place in letters(text) if place not in starts]
    return some_of(places, share, chance, "it has no word of two letters that may be changed", text)


def mistype(text: str, share: float, chance: Chance) -> Reworded:
    """A neighbouring key of a QWERTY keyboard in place of some letters."""
    keys = _table("keyboard.json")
    found = [place for place in letters(text) if text[place].lower() in keys]
    if not found:
        raise Refused("it has no letters of a QWERTY keyboard that may be changed")
    chosen = chance.shuffled(found, how_many(len(found), share))
    typed = [Change(at, at + 1, _cased(chance.pick(keys[text[at].lower()]), text[at])) for at in chosen]
    return Reworded(some_of(typed, 1.0, chance, "", text).text, len(chosen), len(found))


def swap_y_and_z(text: str, share: float, chance: Chance) -> Reworded:
    """Y for z and z for y, as on a keyboard of another country."""
    swapped = str.maketrans("yzYZ", "zyZY")
    places = [Change(at, at + 1, text[at].translate(swapped)) for at in letters(text) if text[at] in "yzYZ"]
    return some_of(places, share, chance, "it has no y and no z that may be changed", text)


def misread(text: str, share: float, chance: Chance) -> Reworded:
    """What text recognition takes for one another: rn and m, l and 1, O and 0; no word becomes a number."""
    table, starts = _table("ocr.json"), word_starts(text)
    longest = max(map(len, table))
    free, places, position = letters(text), list[Change](), -1
    ends = set(free)
    for place in free:
        if place < position:
            continue
        lengths = [size for size in range(1, longest + 1) if place + size - 1 in ends]
        options = [
            Change(place, place + size, new)
            for size in lengths
            for new in table.get(text[place : place + size], ())
            if not (new[0].isdigit() and place in starts)
        ]
        if options:
            places.append(chance.pick(options))
            position = places[-1].end
    return some_of(places, share, chance, "it has no letters that text recognition is known to confuse", text)


def _drawn(text: str, share: float, chance: Chance, places: Sequence[int], after: int) -> Reworded:
    """Letters of the same writing system put after some places (``after`` 1) or in place of what is there (0)."""
    if not places:
        raise Refused(NO_LETTERS)
    alphabets = _alphabets(text, places)
    changes = []
    for place in chance.shuffled(places, how_many(len(places), share)):
        old = text[place]
        choice = [each for each in alphabets[script(old)] if after or each != _folded(old)]
        changes.append(Change(place + after, place + 1, _cased(chance.pick(choice), old)))
    return Reworded(some_of(changes, 1.0, chance, NO_LETTERS, text).text, len(changes), len(places))


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
