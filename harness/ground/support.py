"""Support: where the documents say what a question expects, for questions that come without gold evidence."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ...knowledge.questions import Evidence, Question
from .answer_signals import THRESHOLD, Wanted, cosine_can_decide, probability, signals, wanted, weighed
from .expected_claims import expected_claims
from .ground import Ground, QuestionGold
from .sentence_book import SentenceBook, Stretch
from .text_language import LanguagesApart, languages_apart

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...knowledge.batching import BatchingEmbedder

_BY_BOTH: Final = 12  # sentences that are looked at because they share words with the claim and the question
_BY_CLAIM: Final = 6  # with the claim alone
_DEARER: Final = 0.15  # log-odds that another sentence has to bring before a stretch is made longer
_EQUAL: Final = 0.5  # log-odds below the best up to which a place is as good
_MOST_PLACES: Final = 10
_EMBEDDED: Final = 1_000  # characters of a stretch that are embedded
_NAMED: Final = 3  # questions or documents that a warning names


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch that may say a claim, and the log-odds that it does, the cosine left aside."""

    stretch: Stretch
    log_odds: float


@dataclass(frozen=True, slots=True, eq=False)
class ClaimSupport:
    """A claim of an expected answer, and the places that support it best.

    Attributes:
        claim: its text.
        score: how sure it is that the best place supports it, from 0 to 1.
        places: the best place and those as good, best first; none overlaps another. Empty where none shares a word.
    """

    claim: str
    score: float
    places: tuple[Place, ...]

    @property
    def holds(self) -> bool:
        """Whether it is supported."""
        return self.score >= THRESHOLD


@dataclass(frozen=True, slots=True, eq=False)
class AnswerSupport:
    """An expected answer: the support of its claims; longer ones weigh more."""

    claims: tuple[ClaimSupport, ...]

    @property
    def score(self) -> float:
        """From 0 to 1."""
        weights = [len(one.claim.split()) for one in self.claims]
        total = sum(one.score * weight for one, weight in zip(self.claims, weights, strict=True))
        return total / sum(weights)

    @property
    def best(self) -> ClaimSupport:
        """The claim that is supported best; the first of equal ones."""
        return max(self.claims, key=lambda one: one.score)


class SupportFinder:
    """Finds what documents say of expected answers.

    Places are those that share words with the answer or the question (BM25). To look for others by meaning, twelve
    sentences a claim beside, took 6 to 11 times as long (every sentence has to be embedded) and turned one verdict of
    274 on clapnq and wice: the formula holds nothing for supported that shares no telling word. So a paraphrase without
    any is called unsupported.
    """

    def __init__(self, book: SentenceBook, embedder: BatchingEmbedder) -> None:
        """Search a book; the embedder is called where the wording leaves it open."""
        self.book = book
        self._embedder = embedder

    def find(
        self, questions: Sequence[Question], without: Mapping[str, Collection[str]] | None = None
    ) -> dict[str, AnswerSupport]:
        """The accepted answer of each question that is supported best, by the question's key; this blocks.

        Questions that expect nothing that can be looked for are left out.

        Args:
            questions: what was asked, with the expected answers.
            without: by key, documents that are not looked at.
        """
        if not self.book.words:
            return {one.id: _unfounded(claims[0]) for one in questions if (claims := expected_claims(one))}
        looked = {
            one.id: [[self._look(claim, one.text, (without or {}).get(one.id, ())) for claim in claims]
                     for claims in answers]
            for one in questions if (answers := expected_claims(one))
        }  # fmt: skip
        every = [each for answers in looked.values() for claims in answers for each in claims]
        cosines = self._cosines([one for one in every if one.places and cosine_can_decide(one.places[0].log_odds)])
        return {
            key: max(
                (AnswerSupport(tuple(self._decided(one, cosines) for one in claims)) for claims in answers),
                key=lambda one: one.score,
            )
            for key, answers in looked.items()
        }

    def _look(self, claim: str, question: str, without: Collection[str]) -> _Looked:
        one = wanted(claim, question, self.book)
        sentences = [
            *self.book.search(f"{claim} {question}", _BY_BOTH, without),
            *self.book.search(claim, _BY_CLAIM, without),
        ]
        stretches = dict.fromkeys(each for at in sentences for each in self.book.around(at))
        rated = [Place(each, weighed(signals(one, each, self.book))) for each in stretches]
        rated.sort(key=lambda place: (-place.log_odds + _DEARER * len(place.stretch.sentences), place.stretch.first))
        return _Looked(claim, question, one, tuple(_as_good(rated)))

    def _cosines(self, looked: Sequence[_Looked]) -> dict[tuple[str, str, Stretch], float]:
        pairs = [(one.embedded, self.book.text(one.places[0].stretch)[:_EMBEDDED]) for one in looked]
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        if not texts:
            return {}
        vectors = dict(zip(texts, self._embedder.embed_now(texts, keep=True).vectors, strict=True))
        return {
            one.key: float(np.dot(vectors[first], vectors[second]))
            for one, (first, second) in zip(looked, pairs, strict=True)
        }

    def _decided(self, one: _Looked, cosines: Mapping[tuple[str, str, Stretch], float]) -> ClaimSupport:
        if not one.places:
            return ClaimSupport(one.claim, 0.0, ())
        best = one.places[0]
        log_odds = best.log_odds
        if one.key in cosines:
            log_odds = weighed(signals(one.wanted, best.stretch, self.book, cosines[one.key]))
        return ClaimSupport(one.claim, round(probability(log_odds), 4), one.places)


@dataclass(frozen=True, slots=True, eq=False)
class _Looked:
    """A claim beside its places, before the cosine of the best one is known."""

    claim: str
    question: str
    wanted: Wanted
    places: tuple[Place, ...]

    @property
    def embedded(self) -> str:
        """What is compared with the best place."""
        return f"{self.question} {self.claim}"

    @property
    def key(self) -> tuple[str, str, Stretch]:
        return self.claim, self.question, self.places[0].stretch


def _unfounded(claims: Sequence[str]) -> AnswerSupport:
    return AnswerSupport(tuple(ClaimSupport(claim, 0.0, ()) for claim in claims))


def _as_good(rated: Sequence[Place]) -> Iterator[Place]:
    """The best place, and those nearly as good that share no sentence with one before them."""
    taken = set[int]()
    kept = 0
    for place in rated:
        if place.log_odds < rated[0].log_odds - _EQUAL or kept == _MOST_PLACES:
            continue
        if taken.isdisjoint(place.stretch.sentences):
            taken.update(place.stretch.sentences)
            kept += 1
            yield place


def with_supports(ground: Ground, told: Callable[[str], None] | None = None) -> Ground:
    """The ground with what the documents say of the expected answers, for questions without gold evidence.

    Their gold becomes ``support``, with a group of places for each claim that has places of its own, or
    ``unsupported``. It stays ``none`` where the question is marked unanswerable, expects nothing, expects what no
    wording can support (yes, no, I don't know), or expects it in a language that no document has; and ``stale`` where
    gold evidence is all gone. This blocks.

    Args:
        ground: documents, questions and their gold evidence.
        told: told a sentence before what takes long.
    """
    asked = [one for one in ground.questions if _is_looked_for(one, ground.gold)]
    if not asked:
        return ground
    if told is not None:
        told(f"Looking for the expected answers of {len(asked)} questions without evidence")
    finder = SupportFinder(SentenceBook(ground.documents), ground.embedder)
    found = finder.find(asked)
    gold = {key: gold_by_support(one, finder.book) for key, one in found.items()}
    mute = [one.id for one in asked if one.id not in found]
    unsupported = [one for one in asked if one.id in gold and gold[one.id].kind == "unsupported"]
    apart = languages_apart(unsupported, ground.documents)
    gold |= dict.fromkeys(apart.questions, QuestionGold("none"))
    warnings = (*ground.warnings, *_warnings(mute), *_warnings_of_languages(apart))
    return replace(ground, gold={**ground.gold, **gold}, warnings=warnings)


def _is_looked_for(question: Question, gold: Mapping[str, QuestionGold]) -> bool:
    known = gold.get(question.id)
    has_expected = any(text.strip() for text in question.expected)
    return question.answerable is not False and has_expected and (known is None or known.kind == "none")


def gold_by_support(found: AnswerSupport, book: SentenceBook) -> QuestionGold:
    """What the support of an expected answer comes to; a claim that stands where another one does adds no group."""
    score = round(found.score, 4)
    if score < THRESHOLD:
        return QuestionGold("unsupported", score=score)
    groups: list[tuple[Evidence, ...]] = []
    taken = set[int]()
    for one in found.claims:
        if one.holds and taken.isdisjoint(one.places[0].stretch.sentences):
            taken.update(at for place in one.places for at in place.stretch.sentences)
            groups.append(tuple(evidence_of(place.stretch, book) for place in one.places))
    return QuestionGold("support", tuple(groups), score=score)


def evidence_of(stretch: Stretch, book: SentenceBook) -> Evidence:
    """A stretch as evidence, with its characters."""
    return Evidence(book.document(stretch.first).id, book.text(stretch), *book.span(stretch))


def _warnings(mute: Sequence[str]) -> Iterable[str]:
    if mute:
        named = _named(mute)
        what = (
            "1 question has no evidence and expects"
            if len(mute) == 1
            else f"{len(mute)} questions have no evidence and expect"
        )
        yield (
            f"{what} what no wording can support, such as a mere yes or that nothing is known ({named}): where their "
            "answers stand is not known, and nothing is found or missed for them. Add `evidence:`."
        )


def _warnings_of_languages(apart: LanguagesApart) -> Iterable[str]:
    if keys := apart.questions:
        what = "1 question expects its answer" if len(keys) == 1 else f"{len(keys)} questions expect their answers"
        yield (
            f"{what} in a language that no document has ({_named(keys)}), and words can't be compared across "
            "languages, so it is not known whether the documents hold them. Add `evidence:`."
        )
    if apart.documents:
        documents = apart.documents
        what, them = ("1 document is", "it") if len(documents) == 1 else (f"{len(documents)} documents are", "them")
        yield (
            f"{what} in another language than the expected answers that no document supports ({_named(documents)}): "
            f"what stands in {them} alone counts as unsupported. Add `evidence:` to such questions."
        )


def _named(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
