"""Word kinds: words in another order, and commas between them."""

from collections.abc import Sequence
from itertools import pairwise

from .chance import Chance
from .english import (
    BE_FINITE,
    CONJUNCTIONS,
    DETERMINERS,
    DO,
    HAVE,
    MODALS,
    NOT_ENGLISH,
    PREPOSITIONS,
    QUESTION_WORDS,
    is_english,
)
from .rewording import Change, Refused, Reworded, changed, how_many, some_of
from .units import Word, is_unspaced, script, words

UNSPACED = "its writing system puts no blanks between words"
_ARABIC_COMMA = "\u060c"
_LOOSE = BE_FINITE | DETERMINERS | DO | HAVE | MODALS | QUESTION_WORDS
_TIED = CONJUNCTIONS | PREPOSITIONS | {"to", "only", "just", "even", "also", "both", "either"}


def swap_words(text: str, share: float, chance: Chance) -> Reworded:
    """Some neighbouring words change places; marks stay where they are, and no word is moved twice.

    One of the two is an article, a helping verb or the like, and none is a preposition: "dollars to euros" says
    something else than "to dollars euros", and "did A beat B" than "did A B beat".
    """
    found = _words(text)
    if not is_english(found):
        raise Refused(NOT_ENGLISH)
    pairs = [place for place in range(len(found) - 1) if _may_swap(found[place], found[place + 1])]
    if not pairs:
        raise Refused("it has no two neighbouring words that may be swapped")
    most = _apart(pairs)
    wanted = how_many(len(most), share)
    drawn = _apart(chance.shuffled(pairs))
    chosen = chance.shuffled(drawn if len(drawn) >= wanted else most, wanted)
    changes: list[Change] = []
    for first, second in ((found[place], found[place + 1]) for place in chosen):
        changes += [Change(first.start, first.end, second.text), Change(second.start, second.end, first.text)]
    return Reworded(changed(text, changes), len(changes), 2 * len(most))


def insert_commas(text: str, share: float, chance: Chance) -> Reworded:
    """A comma after some words after which nothing stood."""
    found = _words(text)
    places = [
        Change(word.end, word.end, _ARABIC_COMMA if script(word.text[0]) == "ARABIC" else ",")
        for word, following in pairwise(found)
        if not (word.after or following.before or word.fixed or following.fixed or word.is_negation)
    ]
    return some_of(places, share, chance, "it has no place between two words for a comma", text)


def _apart(pairs: Sequence[int]) -> list[int]:
    """The pairs that share no word with an earlier one; as many as there can be, where they stand in order."""
    moved: set[int] = set()
    for place in pairs:
        if moved.isdisjoint((place - 1, place, place + 1)):
            moved.add(place)
    return sorted(moved)


def _words(text: str) -> Sequence[Word]:
    if is_unspaced(text):
        raise Refused(UNSPACED)
    return words(text)


def _may_swap(first: Word, second: Word) -> bool:
    """Words within one part of a sentence; a word of negation keeps its place, or it would deny something else."""
    if first.fixed or second.fixed or first.after or second.before or first.is_negation or second.is_negation:
        return False
    both = {first.plain, second.plain}
    return len(both) > 1 and not both.isdisjoint(_LOOSE) and both.isdisjoint(_TIED)
