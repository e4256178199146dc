"""Checking: whether a draft can stand alone, and whether it asks what was asked already."""

import re
from collections.abc import Collection, Iterable
from typing import Final

from .draft import Asked
from .phrases import FIRST_PERSON, POINTING

_WORD: Final = re.compile(r"[^\W_]+(?:['’.,][^\W_]+)*")  # noqa: RUF001
_EMPTY: Final = frozenset({
    "a", "an", "the", "is", "are", "was", "were", "be", "do", "does", "did", "can", "will", "must", "may", "should",
    "would", "could", "i", "you", "my", "your", "me", "it", "of", "in", "on", "at", "to", "for", "from", "by", "with",
    "and", "or", "how", "what", "when", "where", "which", "who", "why", "much", "many", "long", "have", "has", "any",
    "within", "get", "there", "that", "as", "if",
})  # fmt: skip
_MOST_WORDS: Final = 28
_FEWEST_WORDS: Final = 4
_ALIKE: Final = 0.75  # share of the words of both questions together from which they ask the same
_GENERAL: Final = frozenset({
    "film", "song", "series", "show", "album", "book", "city", "company", "game", "season", "team", "state", "country",
    "town", "area", "region", "system", "event", "battle", "war", "bill", "act", "law", "king", "station",
    "building", "band", "group", "story", "episode", "novel", "movie", "video", "single", "term", "project", "site",
    "program", "programme", "character", "president", "school", "house", "family", "river", "club", "match", "word",
    "first", "second", "third", "final", "new", "original", "last", "main", "entire", "whole", "next", "total",
    "practice", "process", "work", "case", "idea", "concept", "method", "former", "current", "population", "campaign",
    "villa", "filming", "cabinet", "government", "union", "church", "council", "agreement", "treaty", "park",
    "bridge", "tower", "tournament", "competition", "festival", "sequel", "soundtrack", "player", "actor", "village",
})  # fmt: skip

# What was done once, or by somebody, is asked of a thing that has a name.
_OF_ONE: Final = frozenset(["date", "event", "maker"])
_PARTICULAR: Final = re.compile(r"(?:the (?:[a-z]+ ){0,3}?)?[A-Z0-9“\"](?!\S*-style)")
_GENERALLY: Final = re.compile(
    rf"\b[Tt]he (?:[a-z-]+ )?(?:{'|'.join(sorted(_GENERAL))})s?\b(?! (?:of |in |for )?(?:the )?[A-Z“\"])"
)


def stands_alone(asked: Asked, known: Collection[str], to_reader: bool) -> bool:
    """Whether somebody who does not see the document knows what is asked, and the question does not hold its answer.

    Args:
        asked: the question.
        known: words of the document's title and of the heading above.
        to_reader: whether the document speaks to its reader, so that what it is about goes without saying.
    """
    words = asked.question.split()
    if re.fullmatch(r"\S+ how (?:many \S+(?: \S+)?|long) \S+ \S+ \S+\?", asked.question):
        return False  # of what it asks, nothing is said
    if not _FEWEST_WORDS <= len(words) <= _MOST_WORDS or not asked.answer or "  " in asked.question:
        return False
    if re.search(r"[\[\]{}<>|\\#]|https?:|\bwww\.|``|''|\s[,.;:)]", asked.question):
        return False
    if asked.question.count("(") != asked.question.count(")") or asked.question.count('"') % 2:
        return False
    if POINTING.search(asked.question) or (not to_reader and FIRST_PERSON.search(asked.question)):
        return False
    if not to_reader and _GENERALLY.search(asked.question):
        return False
    if content(asked.answer) and content(asked.answer) <= content(asked.question):
        return False
    if not to_reader and asked.kind in _OF_ONE and not _PARTICULAR.match(asked.subject):
        return False
    return not asked.subject or _is_named(asked.subject, known, to_reader)


def _is_named(subject: str, known: Collection[str], to_reader: bool) -> bool:
    """Whether a phrase names a thing by itself: 'the film' does not, 'the battery lock' in a manual does."""
    if re.search(r"\b(?:is|are|was|were|has|had|have|said|that|which|because|when|while|if|although)\b", subject):
        return False
    words = subject.split()
    if len(words) > 10:
        return False
    if not re.match(r"(?:the|a|an|each|every|all|our|your|most|some|many)\b", subject, re.IGNORECASE) or to_reader:
        single = len(words) == 2 and words[0].lower() == "the" and words[1].lower() not in known
        return not (single and words[1].lower() in _GENERAL)
    if any(word[:1].isupper() or word[:1].isdigit() for word in words[1:]):
        return True
    if words[0].lower() != "the":
        return words[-1].lower() not in _GENERAL and words[0].lower() in ("a", "an")
    return len(words) > 3 and bool(re.search(r"\s(?:of|for|between)\s", subject)) and words[1].lower() not in _GENERAL


def content(text: str) -> frozenset[str]:
    """The telling words of a text, without their commonest endings."""
    return frozenset(_stem(word) for word in _WORD.findall(text.lower()) if word not in _EMPTY)


def _stem(word: str) -> str:
    if word[-1:].isdigit() or len(word) < 4:
        return word
    for ending in ("ing", "ies", "ied", "es", "ed", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


class AskedAlready:
    """The questions that there are, by their words."""

    def __init__(self, questions: Iterable[str] = ()) -> None:
        self._by_word: dict[str, list[frozenset[str]]] = {}
        for question in questions:
            self.add(question)

    def add(self, question: str) -> None:
        """Another one that is there from now on."""
        words = content(question)
        for word in words:
            self._by_word.setdefault(word, []).append(words)

    def has(self, question: str) -> bool:
        """Whether one of them has nearly the same telling words; numbers must be the same."""
        words = content(question)
        if not words:
            return True
        near = {other for word in words for other in self._by_word.get(word, ())}
        return any(_figures(other) == _figures(words) and _share(words, other) >= _ALIKE for other in near)


def _share(first: frozenset[str], second: frozenset[str]) -> float:
    return len(first & second) / len(first | second)


def _figures(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in words if word[:1].isdigit())


_UNNAMED: Final = re.compile(
    r"\b(?:the|this) (?:passage|text|document|article|paragraph|excerpt|section|author)\b"
    r"|^(?:what|who|where|when|how|why|which)?\s*(?:is|are|was|were|does|do|did|can|will)?\s*"
    r"(?:it|he|she|they|this|that|these|those)\b",
    re.IGNORECASE,
)


def understood_alone(question: str, answer: str) -> str:
    """Why a question of any language can't be asked as it is; blank when nothing speaks against it."""
    if _UNNAMED.search(question):
        return "it does not name what it asks about"
    if content(answer) and content(answer) <= content(question):
        return "it holds its answer"
    if not question.rstrip().endswith(("?", "？", "؟", ";")):  # noqa: RUF001 - of other scripts
        return "it is no question"
    return ""
