"""Antonym: one word gives way to its opposite, where that makes another sensible question of a question.

Most opposites do not: an enemy sends no money, and nobody orders an old card. So a word is exchanged only in a form in
which its opposite is asked for as well: "the highest" of something, when it starts or opens, who won, how to activate
it. All other questions are left alone.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Final

from .chance import Chance
from .english import NOT_ENGLISH, PREPOSITIONS, asked, is_english, part_start
from .inflection import article, verb_forms
from .rewording import Change, Refused, Reworded, changed
from .units import Word, is_name, like, words

_SUPERLATIVES: Final = (
    "best, worst", "biggest, smallest", "cheapest, most expensive", "closest, farthest", "coldest, hottest",
    "deepest, shallowest", "easiest, hardest", "fastest, slowest", "greatest, smallest", "heaviest, lightest",
    "highest, lowest", "largest, smallest", "longest, shortest", "nearest, farthest", "newest, oldest",
    "quickest, slowest", "richest, poorest", "safest, most dangerous", "strongest, weakest", "tallest, shortest",
    "thickest, thinnest", "widest, narrowest", "youngest, oldest",
)  # fmt: skip
_ONE_WAY: Final = frozenset(["newest", "greatest", "nearest", "quickest", "youngest", "tallest", "biggest"])
_COMPARATIVES: Final = (
    "bigger, smaller", "cheaper, more expensive", "faster, slower", "heavier, lighter", "higher, lower",
    "larger, smaller", "older, younger", "stronger, weaker", "better, worse",
)  # fmt: skip
_MEASURES: Final = ("maximum, minimum", "max, min")
_VERBS: Final = (
    "activate, deactivate", "enable, disable", "increase, decrease", "install, uninstall",
    "upgrade, downgrade", "upload, download",
)  # fmt: skip
_HOURS: Final = ("open, close", "start, end", "begin, end")
_ADJECTIVE_ENDS: Final = ("al", "ant", "ent", "ful", "ible", "ive", "ous", "ular", "mon")
_NOT_FIRST: Final = frozenset({  # "first aid" has no last
    "aid", "amendment", "base", "class", "degree", "down", "floor", "grade", "half", "hand", "lady", "language", "law",
    "name", "nation", "nations", "order", "person", "quarter", "two", "three", "world", "few", "responders", "estate",
})  # fmt: skip
_INTRANSITIVE: Final = PREPOSITIONS | {"", "today", "tomorrow", "tonight", "this", "next", "up", "again", "and"}
_LACKING: Final = "it has no word whose opposite would be asked for in the same form"

_Fits = Callable[[Sequence[Word], int], bool]


def use_antonym(text: str, share: float, chance: Chance) -> Reworded:  # noqa: ARG001 - two opposites may cancel out
    """The opposite of one word of a question, in the same form.

    What stands in a text beside the question stays, and so does a word whose opposite is in the text already.

    Raises:
        Refused: no word of the question has an opposite that fits.
    """
    found = words(text)
    if not is_english(found):
        raise Refused(NOT_ENGLISH)
    there = {word.plain for word in found}
    places = [
        (place, new)
        for place in asked(found)
        for new, fits in opposites().get(found[place].plain, ())
        if not found[place].fixed
        and there.isdisjoint(new.split()[-1:])
        and _is_plain(found, place)
        and fits(found, place)
    ]
    if not places:
        raise Refused(_LACKING)
    place, new = chance.pick(places)
    word, changes = found[place], list[Change]()
    changes.append(Change(word.start, word.end, like(new, word.text)))
    before = found[place - 1] if place else None
    if before is not None and before.plain in ("a", "an") and before.plain != article(new):
        changes.append(Change(before.start, before.end, like(article(new), before.text)))
    return Reworded(changed(text, changes), 1, len(places))


@cache
def opposites() -> Mapping[str, Sequence[tuple[str, _Fits]]]:
    """By word its opposites, each with the form of question in which it may take the word's place."""
    made: dict[str, list[tuple[str, _Fits]]] = {}

    def both(pairs: Sequence[str], fits: _Fits) -> None:
        for pair in pairs:
            one, other = pair.split(", ")
            made.setdefault(one, []).append((other, fits))
            if " " not in other and one not in _ONE_WAY:
                made.setdefault(other, []).append((one, fits))

    both(_SUPERLATIVES, _is_superlative)
    both(_COMPARATIVES, _is_compared)
    both(_MEASURES, _is_measure)
    both(_VERBS, _is_wanted)
    for pair in _HOURS:
        one, other = pair.split(", ")
        for form in (0, 1):
            made.setdefault(verb_forms(one)[form], []).append((verb_forms(other)[form], _is_asked_when))
            if one != "begin":
                made.setdefault(verb_forms(other)[form], []).append((verb_forms(one)[form], _is_asked_when))
    made.setdefault("most", []).append(("least", _is_most))
    made.setdefault("first", []).append(("last", _is_first))
    made.setdefault("last", []).append(("first", lambda found, place: _after(found, place) == "time"))
    made.setdefault("won", []).append(("lost", _is_who))
    return made


def _after(found: Sequence[Word], place: int, by: int = 1) -> str:
    """The word after it, blank where a mark or the end comes first."""
    for at in range(place, place + by):
        if at + 1 >= len(found) or found[at].after or found[at + 1].before:
            return ""
    return found[place + by].plain


def _before(found: Sequence[Word], place: int) -> list[str]:
    """The words before it in its part of the sentence."""
    return [word.plain for word in found[part_start(found, place) : place]]


def _is_plain(found: Sequence[Word], place: int) -> bool:
    """Whether it is no name."""
    return place == 0 or not is_name(found[place], found)


def _is_superlative(found: Sequence[Word], place: int) -> bool:
    """As in "the highest peak"; no title and no turn of speech."""
    return _before(found, place)[-1:] == ["the"] and _after(found, place) not in ("of", "buy", "man", "western", "")


def _is_compared(found: Sequence[Word], place: int) -> bool:
    """As in "is it higher than that", not "how much higher"."""
    before = _before(found, place)
    return "than" in [word.plain for word in found[place : place + 4]] and "how" not in before


def _is_measure(found: Sequence[Word], place: int) -> bool:
    before = _before(found, place)
    if {"over", "above", "below", "under", "than"} & {*before[-2:]}:
        return False
    return bool(before) and before[-1] in ("the", "a", "my", "any", "your", "his", "her", "bill's", "there", "is")


def _is_wanted(found: Sequence[Word], place: int) -> bool:
    """As in "how do I activate it", "I want to activate it", "can I activate it"."""
    if any(word.fixed for word in found[place:]):  # "from 1000 to 2000" is one way alone
        return False
    before = _before(found, place)
    asks = bool(before) and before[-1] in ("to", "i", "you", "we", "please", "me")
    helped = "to" in before[-1:] or bool({"do", "can", "could", "should", "will", "would", "may"} & {*before})
    return asks and helped and _after(found, place) not in ("", "in", "on", "to", "from", "with")


def _is_asked_when(found: Sequence[Word], place: int) -> bool:
    """As in "when do you open", "what time does it start"; nothing is opened or started."""
    before = _before(found, place)
    when = "when" in before[:2] or before[:2] == ["what", "time"] or before[1:3] == ["what", "time"]
    if not when or not {"do", "does", "did", "will"} & {*before}:
        return False
    return _after(found, place) in _INTRANSITIVE and before[-1] not in ("the", "a", "of", "to")


def _is_most(found: Sequence[Word], place: int) -> bool:
    """As in "the most popular airline"."""
    after = _after(found, place)
    return _before(found, place)[-1:] == ["the"] and after.endswith(_ADJECTIVE_ENDS) and after not in ("recent", "need")


def _is_first(found: Sequence[Word], place: int) -> bool:
    """As in "who was the first president": there is a last one."""
    before = _before(found, place)
    after = _after(found, place)
    return before[-1:] == ["the"] and before[:1] in (["who"], ["when"]) and bool(after) and after not in _NOT_FIRST


def _is_who(found: Sequence[Word], place: int) -> bool:
    """As in "who won the battle"."""
    return _before(found, place)[-1:] == ["who"] and _after(found, place) in ("the", "a", "last", "super", "world")
