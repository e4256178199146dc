"""Document languages: which document, passage and question is in another language than the rest."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ...knowledge.documents import Document
from ...knowledge.examining.tokens import words_of
from ...knowledge.questions import Question
from ...metrics.judge.embedded.language import languages
from ...metrics.languages import letters, prose

_SAMPLE: Final = 1_500  # characters of a document that are looked at
_LOOKED_AT: Final = 20_000  # in which the longest paragraph is looked for
ENGLISH: Final = "en"
_LONG_PARAGRAPH: Final = 120
_LEAST_LETTERS: Final = 60  # below which the identifier guesses
_LEAST_IN_QUESTION: Final = 20
_SURE: Final = 0.9
_SURE_OF_QUESTION: Final = 0.95
_COMMON_WORDS: Final = 200  # of a language, as the documents have it
_SPOKEN: Final = 0.15  # share of a text's words that are among these, from which it is in that language
_PARAGRAPH: Final = re.compile(r"\S[^\n]*(?:\n[^\S\n]*[^\s][^\n]*)*")
NAMES: Final = {
    "ar": "Arabic", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek",
    "en": "English", "es": "Spanish", "et": "Estonian", "fa": "Persian", "fi": "Finnish", "fr": "French",
    "he": "Hebrew", "hi": "Hindi", "hu": "Hungarian", "id": "Indonesian", "it": "Italian", "ja": "Japanese",
    "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian", "nl": "Dutch", "no": "Norwegian", "pl": "Polish",
    "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovene", "sr": "Serbo-Croatian",
    "sv": "Swedish", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Foreign:
    """A paragraph in another language than its document."""

    document: str
    start: int
    end: int
    language: str
    sureness: float


@dataclass(frozen=True, slots=True)
class Languages:
    """What is in which language, by ISO 639 code.

    Attributes:
        documents: of each document that tells, by its id.
        usual: that of most of them; blank where none tells.
        foreign: paragraphs in another language than their document.
        questions: keys of questions in a language that no document has, with that language.
    """

    documents: Mapping[str, str]
    usual: str
    foreign: tuple[Foreign, ...]
    questions: Mapping[str, str]

    def not_in(self, code: str, documents: Sequence[Document]) -> tuple[str, ...]:
        """Ids of the documents in another language; one that doesn't tell is in that of most."""
        usual = self.usual or code
        return tuple(one.id for one in documents if self.documents.get(one.id, usual) != code)


def spoken(code: str) -> str:
    """The English name of a language, the code where it has none here."""
    return NAMES.get(code, code)


def document_languages(documents: Sequence[Document], questions: Sequence[Question]) -> Languages:
    """Tell the languages of documents, of their paragraphs, and of questions; doubtful ones are left out.

    A paragraph is put to the identifier only where it has few of the words that are common in its document's language.
    """
    found = {one.id: code for one in documents if (code := _told(_sample(one.text), _LEAST_LETTERS, _SURE)[0])}
    counts = Counter(found.values())
    usual = max(counts, key=lambda code: counts[code]) if counts else ""
    common = _common_words(documents, found)
    foreign = [
        one for document in documents if document.id in found for one in _foreign(document, found[document.id], common)
    ]
    return Languages(found, usual, tuple(foreign), dict(_asked(questions, set(counts), common)) if counts else {})


def _sample(text: str) -> str:
    """The longest paragraph, so that it is one language; where all are short, a piece from the middle."""
    longest = max(_PARAGRAPH.finditer(text[:_LOOKED_AT]), key=lambda found: found.end() - found.start(), default=None)
    if longest is not None and longest.end() - longest.start() >= _LONG_PARAGRAPH:
        return prose(longest[0][:_SAMPLE])
    start = max(0, (len(text) - _SAMPLE) // 2)
    return prose(text[start : start + _SAMPLE])


def _told(text: str, least: int, sure: float) -> tuple[str, float]:
    """The language of a text and how likely it is; blank where it is too short or in doubt."""
    if sum(1 for _ in letters(text)) < least:
        return "", 0.0
    shares = languages(text)
    code = max(shares, key=lambda one: shares[one])
    return (code, shares[code]) if shares[code] >= sure else ("", 0.0)


def _common_words(documents: Sequence[Document], found: Mapping[str, str]) -> Mapping[str, frozenset[str]]:
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for document in documents:
        if document.id in found:
            counts[found[document.id]].update(words_of(_sample(document.text)))
    return {code: frozenset(word for word, _ in count.most_common(_COMMON_WORDS)) for code, count in counts.items()}


def _is_in(text: str, words: frozenset[str]) -> bool:
    said = words_of(text)
    return sum(word in words for word in said) >= _SPOKEN * len(said)


def _foreign(document: Document, own: str, common: Mapping[str, frozenset[str]]) -> Iterator[Foreign]:
    for paragraph in _PARAGRAPH.finditer(document.text):
        if len(paragraph[0]) < _LEAST_LETTERS or _is_in(paragraph[0][:_SAMPLE], common[own]):
            continue
        code, sureness = _told(prose(paragraph[0][:_SAMPLE]), _LEAST_LETTERS, _SURE)
        if code and code != own and _holds_sentence(paragraph[0]):
            yield Foreign(document.id, *paragraph.span(), code, round(sureness, 4))


def _holds_sentence(text: str) -> bool:
    """Whether it is prose: lists of names look like any language."""
    words = [word for word in text.split() if word.isalpha()]
    return not words or sum(word.islower() or not word.isascii() for word in words) >= len(words) / 2


def _asked(
    questions: Sequence[Question], spoken_codes: set[str], common: Mapping[str, frozenset[str]]
) -> Iterator[tuple[str, str]]:
    for question in questions:
        if any(_is_in(question.text, words) for words in common.values()):
            continue
        code, _ = _told(prose(question.text), _LEAST_IN_QUESTION, _SURE_OF_QUESTION)
        if code and code not in spoken_codes:
            yield question.id, code
