"""Matching: how much of an expected claim a text says, and what in the text speaks against it."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

import numpy as np

from .signals import negated, opposites
from .spelling import SAME_WORD, letters, likeness, spelled_alike, unaccented, unspaced
from .support import Vectors
from .word_lists import ORDINALS, QUANTITIES
from .wording import Word, Wording, wording

_OF_QUESTION: Final = 0.2  # weight of a word that the question gave, beside 1 for one that it did not
_KNOWN: Final = 0.75  # coverage from which on an answer is none of ignorance, whatever it says besides
_SAID: Final = 0.95  # coverage from which on a claim is said, so that a negation turns it round
_PHRASE_WORDS: Final = 5
_STOPS: Final = (".", "!", "?", "。", "।", "؟")
_SPELLED_WORDS: Final = 12  # a longer claim is compared with the text as a whole
_COMPARED_WORDS: Final = 300  # distinct content words of either text that are looked at
_INITIALS: Final = range(2, 7)
# Function words that say where, when and how much: an answer may be nothing else.
_RELATIONS: Final = QUANTITIES | {
    *("same", "other", "again", "before", "after", "during", "until", "between", "against", "through"),
    *("above", "below", "under", "over", "up", "down", "off", "out"),
}
_NOTHING_AGAINST: Final = (0.0,) * 5
_ORDINAL: Final = re.compile(r"(\d+)(?:st|nd|rd|th)")
_ORDINAL_WORDS: Final = {word: number for number, word in ORDINALS.items()}
_REFUSES: Final = re.compile(
    r"\b(?:unknown|sorry|unclear|not sure|no (?:information|answer|record)"
    r"|i (?:do not|don.?t) (?:know|have)|(?:can ?not|can.?t|could ?n.?t|could not|unable to) "
    r"(?:find|determine|answer|provide|say|tell|help)"
    r"|not (?:specified|mentioned|known|clear|available)|did(?:n.t| not) (?:mention|find))\b",
    re.IGNORECASE,
)
_DECLINES: Final = re.compile(
    r"\bsorry\b|\b(?:i|we)(?: am|.m| are|.re)? (?:not sure|unable to"
    r"|(?:do not|don.?t|can ?not|can.?t|could not|couldn.?t) (?:know|say|tell|find|answer|determine|help))\b",
    re.IGNORECASE,
)
_PARTICLE: Final = re.compile(r"\s*(yes|no)\b\s*(?:[,.;:!–—-]+\s*|$)", re.IGNORECASE)  # noqa: RUF001 - dashes
# Denials that are things as well: for nothing is free.
_NO_THINGS: Final = frozenset({"nothing", "none", "nobody", "nowhere"})


class Signals(NamedTuple):
    """What a text says of an expected claim; shares are between 0 and 1, flags 0 or 1.

    Attributes:
        coverage: share of the claim's content words that the text says, other words counting by their vectors'
            nearness; words that the question gave count a fifth.
        precision: share of the text's content words, without the question's, that the claim has.
        similarity: cosine of the two texts.
        spelling: letter trigrams of the claim that a stretch of the text has; 1 when it has all the words, in any form.
        figure: the text has another number, year or month in the place of the claim's.
        name: the text lacks the last name of the claim (the surname), and has names of its own.
        negation: the text says all of the claim, and one of the two denies it; or it says yes for no.
        opposite: a word of the one stands against its opposite in the other, and neither is denied.
        refusal: the text says that it does not know, and not the claim.
    """

    coverage: float
    precision: float
    similarity: float
    spelling: float
    figure: float
    name: float
    negation: float
    opposite: float
    refusal: float


def match(question: Wording, claim: Wording, text: Wording, vectors: Vectors) -> Signals:
    """Compare an expected claim with a text; the question's words count as given, and any refusal says any other."""
    if declines(claim.text) and declines(text.text):
        return Signals(1.0, 1.0, _cosine(claim.text, text.text, vectors), 1.0, *_NOTHING_AGAINST)
    given = _keys(question.words)
    wanted, said = _content(claim), _content(text)
    found = _found(wanted, text, vectors)
    coverage = _coverage(wanted, given, found)
    new = {key: word for key, word in said.items() if key not in given}
    strange = {key for key, share in _found(new, claim, {}).items() if share < SAME_WORD}
    is_said = bool(found) and min(found.values()) >= SAME_WORD
    names = _names(claim, given)
    renamed = bool(names) and found.get(names[-1], 1.0) < SAME_WORD and not strange.isdisjoint(_names(text, given))
    # Where the question itself denies something, a negation in one answer and not in the other says nothing.
    denied = coverage >= _SAID and not question.negations and _denied(claim, text)
    opposed = _opposed(wanted, claim, text) or _opposed(new, text, claim)
    return Signals(
        coverage=coverage,
        precision=1 - len(strange) / len(new) if new else float(coverage >= _SAID),
        similarity=_cosine(claim.text, text.text, vectors),
        spelling=1.0 if is_said else _spelling(claim, text),
        figure=float(_other_figure(wanted, new, given)),
        name=float(renamed),
        negation=float(denied or _turned(claim, text)),
        opposite=float(opposed and len(claim.negations) % 2 == len(text.negations) % 2),
        refusal=float(coverage < _KNOWN and refuses(text.text)),
    )


def compared_words(text: Wording) -> list[str]:
    """The words whose vectors a comparison can use, in lower case."""
    return [word.text.lower() for word in _content(text).values() if word.kind not in {"number", "date"}]


def lacks(text: Wording, claim: Wording) -> bool:
    """Whether a text lacks a word of a claim."""
    return not _content(claim).keys() <= _keys(text.words)


def is_phrase(text: Wording) -> bool:
    """Whether a text is a few words without a full stop: the point of an answer, not a statement.

    >>> is_phrase(wording("in May 1990")), is_phrase(wording("It closed."))
    (True, False)
    """
    return len(text.words) <= _PHRASE_WORDS and not text.text.rstrip().endswith(_STOPS)


def refuses(text: str) -> bool:
    """Whether a text says that it does not know."""
    return _REFUSES.search(text) is not None


def declines(text: str) -> bool:
    """Whether a text is a refusal in the first person."""
    return _DECLINES.search(text) is not None


def _denied(claim: Wording, text: Wording) -> bool:
    """Whether one of two texts denies what the other says, a yes or no at their beginning aside."""
    bare = [wording(_unled(one.text)) for one in (claim, text)]
    if any(one.words[place].text.lower() in _NO_THINGS for one in bare for place in one.negations):
        return False
    return any(negated(*bare))


def _unled(text: str) -> str:
    """The text without the yes or no that leads it."""
    particle = _PARTICLE.match(text)
    return text[particle.end() :] if particle else text


def _turned(claim: Wording, text: Wording) -> bool:
    """Whether one text begins with yes and the other with no."""
    said = [_PARTICLE.match(one.text) for one in (claim, text)]
    return len({one[1].lower() for one in said if one}) > 1


def _content(text: Wording) -> dict[str, Word]:
    """The content words by key; all words when there is nothing else (Yes. No.)."""
    words = [word for word in text.words if word.kind != "stop" or word.key in _RELATIONS]
    return dict(islice({_key(word): word for word in words or text.words}.items(), _COMPARED_WORDS))


def _keys(words: Sequence[Word]) -> frozenset[str]:
    return frozenset(map(_key, words))


@lru_cache(maxsize=65_536)
def _key(word: Word) -> str:
    """The word's key without accents; ordinals are their numbers: the 20th July is July 20."""
    if ordinal := _ORDINAL.fullmatch(word.text):
        return ordinal[1]
    return _ORDINAL_WORDS.get(word.key, unaccented(word.key))


def _coverage(wanted: Mapping[str, Word], given: frozenset[str], found: Mapping[str, float]) -> float:
    weights = {key: _OF_QUESTION if key in given else 1.0 for key in wanted}
    return sum(weight * found[key] for key, weight in weights.items()) / sum(weights.values()) if weights else 0.0


def _found(wanted: Mapping[str, Word], text: Wording, vectors: Vectors) -> dict[str, float]:
    """How far each wanted word is in the text: 1 as it is, less for a spelling or a word of near meaning."""
    whole = _initials(list(wanted.values()))
    if len(whole) in _INITIALS and any(word.text.isupper() and word.text.lower() == whole for word in text.words):
        return dict.fromkeys(wanted, 1.0)
    keys = _keys(text.words)
    return {key: 1.0 if key in keys else _near(key, word, text, vectors) for key, word in wanted.items()}


def _near(key: str, word: Word, text: Wording, vectors: Vectors) -> float:
    """How near a word of the text comes to one that it lacks."""
    if word.kind in {"number", "date"} or key[:1].isdigit():
        return 0.0
    if word.text.isupper() and len(word.text) in _INITIALS and word.text.lower() in _initials(text.words):
        return 1.0
    if unspaced(key):
        return float(key in letters(text.text))
    said = _content(text)
    best = max((likeness(key, other) for other in said), default=0.0)
    ours = vectors.get(word.text.lower())
    if best >= SAME_WORD or ours is None:
        return best
    against = opposites().get(key, frozenset())
    lower = [one.text.lower() for other, one in said.items() if other not in against]
    theirs = [vectors[other] for other in lower if other in vectors]
    return max(best, round(float((np.stack(theirs) @ ours).max()), 4)) if theirs else best


def _initials(words: Sequence[Word]) -> str:
    return "".join(word.text[0].lower() for word in words if word.kind != "stop" or word.text[0].isupper())


def _cosine(first: str, second: str, vectors: Vectors) -> float:
    one, other = vectors.get(first), vectors.get(second)
    return 0.0 if one is None or other is None else round(float(one @ other), 4)


def _spelling(claim: Wording, text: Wording) -> float:
    length = len(claim.words) if len(claim.words) <= _SPELLED_WORDS else 0
    return spelled_alike(letters(claim.text), [letters(word.text) for word in text.words], length)


def _other_figure(wanted: Mapping[str, Word], said: Mapping[str, Word], given: frozenset[str]) -> bool:
    """Whether a sort of figure that the claim adds is in the text with other values only."""
    ours, theirs = _figures(wanted), _figures(said)
    return any(sort in theirs and not (keys - given or keys) & theirs[sort] for sort, keys in ours.items())


def _figures(words: Mapping[str, Word]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for key, word in words.items():
        if key[:1].isdigit():
            found.setdefault("year" if word.kind == "date" else "number", set()).add(key)
        elif word.kind == "date":
            found.setdefault("name of a date", set()).add(key)
    return found


def _names(text: Wording, given: frozenset[str]) -> list[str]:
    """Keys of the capitalised words that the question did not give.

    The word that begins a sentence is none of them, but for a phrase of capitalised words: Tom Cruise.
    """
    words = text.of_kind("name", "word")
    capitals = [word for word in words if word.text[:1].isupper()]
    titled = len(text.words) <= _PHRASE_WORDS and len(capitals) == len(words)
    return [key for word in capitals if (titled or word.kind == "name") and (key := _key(word)) not in given]


def _opposed(words: Mapping[str, Word], own: Wording, other: Wording) -> bool:
    theirs, ours = _keys(other.words), _keys(own.words)
    known = opposites()
    return any(known.get(key, frozenset()) & theirs - ours for key in words if key not in theirs)
