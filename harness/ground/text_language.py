"""Text language: in which language documents and expected answers are, as far as words can be compared at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from ...metrics.judge.embedded.language import languages
from ...metrics.languages import letters, prose

if TYPE_CHECKING:
    from ...knowledge.documents import Document
    from ...knowledge.questions import Question

_LEAST_LETTERS: Final = 40  # of shorter texts no language is told
_LOOKED_AT: Final = 1_000  # characters by which the language is told
_SURE: Final = 0.7
_SURE_OF_QUESTION: Final = 0.95
_POSSIBLE: Final = 0.05  # share from which a document may be in a language


@dataclass(frozen=True, slots=True)
class LanguagesApart:
    """What has no language in common with the other side, as far as languages can be told.

    Attributes:
        questions: keys of questions whose expected answers are in a language that no document has.
        documents: ids of documents in another language than all the other questions that tell theirs.
    """

    questions: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()


def language_of(text: str) -> str:
    """ISO 639 code of the language of a text's beginning; blank where there is too little of it, or doubt."""
    return _surest(_shares(text), _SURE)


def languages_apart(questions: Sequence[Question], documents: Sequence[Document]) -> LanguagesApart:
    """Which of some questions and documents can't be compared word by word; doubtful ones are left out."""
    expected = {one.id: code for one in questions if (code := _surest(_expected(one), _SURE_OF_QUESTION))}
    if not expected:
        return LanguagesApart()
    shares = {one.id: _shares(one.text) for one in documents}
    possible = {code for each in shares.values() for code, share in each.items() if share >= _POSSIBLE}
    if not possible:
        return LanguagesApart()
    wanted = set(expected.values()) & possible
    told = {document: _surest(each, _SURE) for document, each in shares.items()}
    return LanguagesApart(
        tuple(key for key, code in expected.items() if code not in possible),
        tuple(document for document, code in told.items() if wanted and code and code not in wanted),
    )


def _expected(question: Question) -> Mapping[str, float]:
    """The language of an expected answer, of a short one with its question."""
    text = " ".join(question.expected)
    return _shares(text) or _shares(f"{question.text} {text}")


def _shares(text: str) -> Mapping[str, float]:
    """How likely the beginning of a text is in each language; empty where there is too little of it."""
    beginning = prose(text[: 4 * _LOOKED_AT])[:_LOOKED_AT]
    if sum(1 for _ in islice(letters(beginning), _LEAST_LETTERS)) < _LEAST_LETTERS:
        return {}
    return languages(beginning)


def _surest(shares: Mapping[str, float], least: float) -> str:
    language, share = max(shares.items(), key=lambda each: each[1], default=("", 0.0))
    return language if share >= least else ""
