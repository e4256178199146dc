"""Claim conflicts: whether a sentence says what a claim says, or says it otherwise: a figure, a date, a name, a not.

Only what can be told for sure is told: another figure with the same unit, another name in the same place of sentences
that are otherwise the same, a plain not on one side only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from ...metrics.judge.embedded.signals import Conflict, evidence
from ...metrics.judge.embedded.wording import Word, Wording, wording
from ...metrics.text import sentences

ALONE: Final = 0.6  # of the content words, from which two figures stand for the same where no unit tells so
_ALIGNED: Final = 3  # content words of a claim; of fewer there is nothing to align
_CLOSE: Final = 3  # times its words, within which a sentence must have all of a claim to deny it
_BEFORE: Final = 2  # words before the first of them, where a not may stand
_QUOTED: Final = 6  # words of a claim in a finding
_YES_OR_NO: Final = frozenset({"yes", "no", "nothing", "none", "nobody", "nowhere", "without", "neither", "nor"})
_FIGURES: Final = frozenset({"number", "date"})


def is_said(asked: Wording, said: Wording, text: Wording) -> bool:
    """Whether a sentence has a claim word for word, or all that it adds to the question and neither denies anything."""
    wanted, words = [word.key for word in said.words], [word.key for word in text.words]
    if any(words[place : place + len(wanted)] == wanted for place in range(len(words) - len(wanted) + 1)):
        return True
    own = said.content - asked.content
    return bool(own) and own <= text.content and not text.negations and not said.negations


def shared_matter(asked: Wording, said: Wording, text: Wording) -> float:
    """Share of the content words of question and claim, figures aside, that a sentence has; at most of the claim's.

    A sentence on the same subject may share the question's words and still be about another matter than the claim.
    """
    own = {word.key for word in said.of_kind("word", "name")} - asked.content
    wanted = own | {word.key for word in asked.of_kind("word", "name")}
    if not wanted:
        return 0.0
    whole = len(wanted & text.content) / len(wanted)
    return min(whole, len(own & text.content) / len(own)) if len(own) >= _ALIGNED else whole


def conflicts(asked: Wording, said: Wording, text: Wording, shared: float) -> Iterator[Conflict]:
    """What a sentence says otherwise than a claim, of the kinds that can be told for sure."""
    yield from _other_figures(asked, said, text, shared)
    if len(said.content) < _ALIGNED:
        return
    found = evidence(said, [text])
    if len(found.missing) <= max(1, len(said.content) // 4):
        lower = _lower(asked)
        yield from (one for one in found.conflicts if one.kind == "name" and one.claimed.casefold() not in lower)
    if not found.missing and not asked.negations:
        yield from _denied(said, text)


def _denied(said: Wording, text: Wording) -> Iterator[Conflict]:
    """A plain not on one side only, where the sentence has all words of the claim close together."""
    if any(word.text.lower() in _YES_OR_NO for word in said.words):
        return
    places = {word.key: place for place, word in enumerate(text.words) if word.key in said.content}
    first, last = min(places.values()), max(places.values())
    if last - first > _CLOSE * len(said.words):
        return
    theirs = [text.words[place] for place in text.negations if first - _BEFORE <= place <= last + 1]
    ours = [said.words[place] for place in said.negations]
    if len(ours) == 1 and not text.negations and _is_not(ours[0]):
        yield Conflict("negation", ours[0].text, "")
    elif len(theirs) == 1 and not ours and _is_not(theirs[0]) and first <= text.negations[0] <= last:
        yield Conflict("negation", " ".join(word.text for word in said.words[:_QUOTED]), theirs[0].text)


def _is_not(word: Word) -> bool:
    lower = word.text.lower()
    return lower in {"not", "cannot", "never"} or lower.endswith(("n't", "n’t"))  # noqa: RUF001


def _lower(text: Wording) -> frozenset[str]:
    return frozenset(word.text.casefold() for word in text.words)


def _other_figures(asked: Wording, said: Wording, text: Wording, shared: float) -> Iterator[Conflict]:
    """A figure of the claim in whose place the sentence has another one with the same unit, or the only one there."""
    given = {word.key for word in asked.words if word.kind in _FIGURES}
    ours, every = _measured(said), _measured(text)
    kept = {word.key for word, _ in every}
    theirs = [(word, unit) for word, unit in every if word.key not in said.content | given]
    counted = _counted(asked)
    for word, unit in ours:
        if word.key in given or word.key in kept:
            continue
        wanted = unit or counted
        alike = [other for other, its in theirs if wanted and its == wanted and _is_like(word, other)]
        alone = len(ours) == len(every) == len(theirs) == 1 and shared >= ALONE and _is_like(word, theirs[0][0])
        if alone and not (unit and theirs[0][1]):
            alike = [theirs[0][0]]
        if len({other.key for other in alike}) == 1:
            yield Conflict(word.kind, word.text, alike[0].text)


def _counted(asked: Wording) -> str:
    """What a question asks the number of: how many days."""
    for place, word in enumerate(asked.words[:-2]):
        if word.text.lower() == "how" and asked.words[place + 1].text.lower() == "many":
            return asked.words[place + 2].key
    return ""


def _measured(text: Wording) -> list[tuple[Word, str]]:
    """The figures of a text, each with its unit: the content word that follows it, or what sort of date it is."""
    found = []
    for place, word in enumerate(text.words):
        if word.kind not in _FIGURES:
            continue
        after = text.words[place + 1] if place + 1 < len(text.words) else None
        if word.kind == "date":
            unit = "year" if word.key[:1].isdigit() else "month"
        elif word.key.endswith("%"):
            unit = "%"
        else:
            unit = after.key if after is not None and after.kind in {"word", "name"} else ""
        found.append((word, unit))
    return found


def _is_like(first: Word, second: Word) -> bool:
    return first.kind == second.kind and first.key[:1].isdigit() == second.key[:1].isdigit()


def held_elsewhere(conflict: Conflict, said: Wording, whole: Sequence[str]) -> bool:
    """Whether the documents of the evidence say it as the claim does somewhere: a figure with its unit, a name."""
    if conflict.kind not in {*_FIGURES, "name"}:
        return False
    if conflict.kind == "name":
        keys = {word.key for word in said.words if word.text == conflict.claimed}
        return any(keys & wording(line).content for text in whole for line in _lines(text))
    wanted = {(word.key, unit) for word, unit in _measured(said) if word.text == conflict.claimed}
    return any(
        (word.key, unit) in wanted for text in whole for line in _lines(text) for word, unit in _measured(wording(line))
    )


@lru_cache(maxsize=1_024)
def _lines(text: str) -> tuple[str, ...]:
    return tuple(line for sentence in sentences(text) for line in sentence.splitlines())
