"""Exchange kinds: a word gives way to one that means the same."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from .chance import Chance
from .english import (
    ADJECTIVES_AND_VERBS,
    BE,
    DO,
    HAVE,
    MODALS,
    NOT_ENGLISH,
    NOUNS_AND_VERBS,
    PRONOUNS,
    expects_noun,
    expects_verb,
    is_english,
)
from .inflection import article
from .rewording import Change, Refused, Reworded, changed, how_many
from .units import Word, is_name, like, words
from .word_lists import Entry, Words, synonyms

_BASE, _THIRD, _PAST, _PARTICIPLE = range(4)  # of VERB_FORMS
_NEAR: Final = 4  # words
_STEM: Final = 4  # letters of a word whose forms are looked for
_PARTICLES: Final = frozenset(["aside", "away", "back", "down", "off", "out", "over", "up"])
_NEED: Final = frozenset(["need", "needs", "needed"])
_OTHER_BEFORE_TO: Final = frozenset({  # "used to live", "what happened to him", "starts to charge"
    "use", "used", "happen", "happens", "happened", "begin", "begins", "began", "begun", "start", "starts", "started",
})  # fmt: skip
_OF: Final = frozenset(["kind", "sort", "type"])  # of no special sense before "of" alone: "type 2", "a kind person"
_NO_OBJECT: Final = frozenset({"", "to", "in", "on", "into", "there", "here"})

_Place = tuple[int, Sequence[Entry]]


def use_synonyms(text: str, share: float, chance: Chance) -> Reworded:
    """Synonyms in place of some words that have one in our list, in the same form."""
    found = _english(text)
    places = [(place, entries) for place in range(len(found)) if (entries := list(_fitting(found, place, synonyms())))]
    return _exchanged(text, found, places, share, chance, "none of its words has a synonym in our list")


def _english(text: str) -> Sequence[Word]:
    found = words(text)
    if not is_english(found):
        raise Refused(NOT_ENGLISH)
    return found


def _exchanged(
    text: str, found: Sequence[Word], places: Sequence[_Place], share: float, chance: Chance, lacking: str
) -> Reworded:
    if not places:
        raise Refused(lacking)
    chosen = chance.shuffled(places, how_many(len(places), share))
    changes: list[Change] = []
    for place, entries in chosen:
        word = found[place]
        new = chance.pick([other for entry in entries for other in entry.others])
        changes.append(Change(word.start, word.end, like(new, word.text)))
        if _before(found, place) in ("a", "an"):
            changes += _agreeing(found[place - 1], new)
    return Reworded(changed(text, changes), len(chosen), len(places))


def _fitting(found: Sequence[Word], place: int, listed: Words) -> Iterator[Entry]:
    """The entries of a word that fit where it stands; none for a name, or a verb with a particle such as back."""
    word, before = found[place], _before(found, place)
    entries = listed.get(word.plain, ())
    if not entries or word.fixed or (before and is_name(word, found)):
        return
    also_base = any(entry.part == "verb" and entry.form == _BASE for entry in entries)
    for entry in entries:
        if entry.part == "noun":
            fits = _is_noun(found, place, before)
            fits = fits and not (word.plain.removesuffix("s") in _OF and _after(found, place) != "of")
        elif entry.part == "verb":
            fits = _is_verb(found, place, entry.form, before) and not _has_particle(found, place)
            fits = fits and _after(found, place) != "of"  # "the use of"
            if entry.form in (_PAST, _PARTICIPLE):
                fits = fits and not (also_base and expects_verb(before))
        else:
            fits = not (word.plain in ADJECTIVES_AND_VERBS and _reads_as_verb(found, place, before))
            fits = fits and not (word.plain == "please" and not _after(found, place))
            fits = fits and not (word.plain == "free" and _after(found, place) == "to")
            fits = fits and not (word.plain == "old" and before in ("year", "years"))
        fresh = tuple(other for other in entry.others if not _is_there(other, found)) if fits else ()
        if fresh:
            yield replace(entry, others=fresh)


def _is_there(new: str, found: Sequence[Word]) -> bool:
    """Whether a form of it stands in the text already: nobody is charged a charge."""
    return any(word.plain.startswith(new[:-1] if len(new) > _STEM else new) for word in found)


def _is_noun(found: Sequence[Word], place: int, before: str) -> bool:
    if found[place].plain.removesuffix("s") in NOUNS_AND_VERBS:
        return expects_noun(before) or not (expects_verb(before) or _has_near(found, place, DO | MODALS))
    return not before or not expects_verb(before)


def _is_verb(found: Sequence[Word], place: int, form: int, before: str) -> bool:
    """Whether a form that may be a verb is one in this place."""
    plain = found[place].plain
    if form in (_PAST, _PARTICIPLE):
        is_participle = expects_noun(before) or _has_near(found, place, BE | HAVE)
        return is_participle == (form == _PARTICIPLE)
    if plain.removesuffix("s") in NOUNS_AND_VERBS or plain in ADJECTIVES_AND_VERBS:
        return _reads_as_verb(found, place, before)
    return not expects_noun(before)


def _reads_as_verb(found: Sequence[Word], place: int, before: str) -> bool:
    if before in PRONOUNS and place > 1 and found[place - 2].plain.removesuffix("n't") in BE:  # "is it open"
        return False
    return expects_verb(before) or (not expects_noun(before) and _has_near(found, place, DO | MODALS))


def _has_near(found: Sequence[Word], place: int, helpers: frozenset[str]) -> bool:
    """Whether a helping verb stands shortly before, as in "is my order delivered"."""
    return any(word.plain.removesuffix("n't") in helpers for word in found[max(0, place - _NEAR) : place])


def _has_particle(found: Sequence[Word], place: int) -> bool:
    """Whether a word after it makes the verb another one, as in "send it back" and "get to"."""
    following = [word.plain for word in found[place + 1 : place + 1 + _NEAR]]
    plain, after = found[place].plain, _after(found, place)
    is_other = (plain in _NEED and after in _NO_OBJECT) or (plain in _OTHER_BEFORE_TO and after == "to")
    return not _PARTICLES.isdisjoint(following) or is_other


def _after(found: Sequence[Word], place: int) -> str:
    return found[place + 1].plain if place + 1 < len(found) else ""


def _before(found: Sequence[Word], place: int) -> str:
    """The word before, blank at the beginning of a sentence or of a part of one."""
    if place == 0 or found[place].before or found[place - 1].after:
        return ""
    return found[place - 1].plain


def _agreeing(before: Word, new: str) -> list[Change]:
    """``a`` before a consonant and ``an`` before a vowel."""
    wanted = article(new)
    if before.plain not in ("a", "an") or before.plain == wanted:
        return []
    return [Change(before.start, before.end, like(wanted, before.text))]
