"""Artefacts that ask the judge: claims, verdicts, reverse questions and entities, each request made once a row."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from .artefacts import TextVectors, embedded
from .declaring import Wanted, artefact
from .facts import is_blank
from .judge.claim_calls import AnswerClaims, Entities, ExpectedClaims, ReverseQuestions
from .judge.verdict_calls import CheckAnswer, CheckExpected, CompareClaims, ContextText
from .judge.verdicts import Agreement, AnswerSupport, ExpectedSupport, ReverseQuestion, Verdict, Verdicts
from .score import NotApplicable, Reason, Unreadable
from .text import sentences
from .tools import Embedder, Judge


@dataclass(frozen=True, slots=True)
class ShownChunks:
    """The chunks that the judge sees: those that are not blank.

    Attributes:
        texts: in the order in which the bot ranked them; the judge counts them from 1.
        ranks: for each its rank as the bot had it, from 1, blank chunks counted.
        retrieved: how many chunks the bot had, blank ones included.
    """

    texts: tuple[str, ...]
    ranks: tuple[int, ...]
    retrieved: int

    def ranked(self, verdicts: Verdicts) -> Verdicts:
        """Verdicts whose chunks are the bot's ranks, and no longer the numbers that the judge saw."""
        return tuple(verdict and replace(verdict, chunks=self._ranks(verdict.chunks)) for verdict in verdicts)

    def _ranks(self, numbers: Sequence[int]) -> tuple[int, ...]:
        return tuple(sorted({self.ranks[number - 1] for number in numbers if 1 <= number <= len(self.ranks)}))


@artefact
def shown_chunks(contexts: Sequence[str]) -> ShownChunks:
    """The contexts that are not blank, with their ranks."""
    shown = [(rank, text) for rank, text in enumerate(contexts, 1) if not is_blank(text)]
    return ShownChunks(tuple(text for _, text in shown), tuple(rank for rank, _ in shown), len(contexts))


@artefact
def ranked_chunks(shown_chunks: ShownChunks) -> tuple[int, ...]:
    """The ranks of the chunks whose usefulness is asked about."""
    return shown_chunks.ranks


@artefact
def context_texts(shown_chunks: ShownChunks, language: str = "en") -> tuple[ContextText, ...]:
    """All sentences of the contexts, of any length, each with the number of its chunk among those shown."""
    found = tuple(
        ContextText(number, sentence)
        for number, text in enumerate(shown_chunks.texts, 1)
        for sentence in sentences(text, language)
    )
    if not found:
        raise NotApplicable(Reason.CONTEXTS_EMPTY)
    return found


@artefact
def expected_sentences(expected: str, language: str = "en") -> tuple[str, ...]:
    """The sentences of the expected answer, of any length."""
    found = sentences(expected, language)
    if not found:
        raise NotApplicable(Reason.NO_SENTENCES)
    return found


@artefact(calls=("answer_claims",))
async def answer_claims(question: str, answer: str, judge: Judge) -> tuple[str, ...]:
    """The answer as claims that can be checked one by one (J1a); empty for an answer that claims nothing."""
    if is_blank(answer):
        raise NotApplicable(Reason.NO_CLAIMS)
    return await judge.ask(AnswerClaims(question, answer))


@artefact(calls=("expected_claims",))
async def expected_claims(question: str, expected: str, judge: Judge) -> tuple[str, ...]:
    """The expected answer as claims that can be checked one by one (J1e); empty where it claims nothing."""
    return await judge.ask(ExpectedClaims(question, expected))


@artefact(parts=("answer_claims", "context_texts"), calls=("check_answer",))
async def answer_support(
    question: str,
    shown_chunks: ShownChunks,
    judge: Judge,
    answer_claims: tuple[str, ...] | None = None,
    context_texts: tuple[ContextText, ...] | None = None,
) -> AnswerSupport:
    """What the contexts say to the answer's claims, and which context sentences the question needs (J2a)."""
    if not answer_claims and not context_texts:
        return AnswerSupport()
    call = CheckAnswer(question, shown_chunks.texts, answer_claims or (), context_texts or ())
    said = await judge.ask(call)
    return replace(said, claims=shown_chunks.ranked(said.claims))


@artefact(
    parts=("expected_claims", "expected_sentences", "ranked_chunks", "context_texts"),
    calls=("check_expected",),
)
async def expected_support(
    question: str,
    expected: str,
    shown_chunks: ShownChunks,
    judge: Judge,
    expected_claims: tuple[str, ...] | None = None,
    expected_sentences: tuple[str, ...] | None = None,
    ranked_chunks: tuple[int, ...] | None = None,
    context_texts: tuple[ContextText, ...] | None = None,
) -> ExpectedSupport:
    """What the contexts say to the expected answer's claims and sentences, and which of them help it (J2b)."""
    if not any((expected_claims, expected_sentences, ranked_chunks, context_texts)):
        return ExpectedSupport()
    call = CheckExpected(
        question=question,
        expected=expected,
        chunks=shown_chunks.texts,
        claims=expected_claims or (),
        expected_sentences=expected_sentences or (),
        usefulness=ranked_chunks is not None,
        sentences=context_texts or (),
    )
    said = await judge.ask(call)
    claims, found = shown_chunks.ranked(said.claims), shown_chunks.ranked(said.sentences)
    return replace(said, claims=claims, sentences=found)


@artefact(calls=("check_expected",))
async def useful_for_answer(question: str, answer: str, shown_chunks: ShownChunks, judge: Judge) -> Verdicts:
    """Which chunks help to reach the bot's own answer; it stands where J2b has the expected one."""
    if is_blank(answer):
        raise NotApplicable(Reason.ANSWER_EMPTY)
    said = await judge.ask(CheckExpected(question, answer, shown_chunks.texts, usefulness=True))
    return said.useful


@artefact(parts=("answer_claims", "expected_claims"), calls=("compare_claims",))
async def agreement(
    expected: str,
    answer: str,
    judge: Judge,
    answer_claims: tuple[str, ...] | None = None,
    expected_claims: tuple[str, ...] | None = None,
    question: str = "",
) -> Agreement:
    """Which of the answer's claims the expected answer supports, and which of its claims the answer covers (J3).

    An answer without claims covers none; that takes no request.
    """
    if answer_claims == ():
        missed = Verdict(holds=False, why="the answer makes no claim")
        return Agreement((), tuple(missed for _ in expected_claims or ()))
    if not answer_claims and not expected_claims:
        return Agreement((), ())
    return await judge.ask(CompareClaims(expected, answer, answer_claims or (), expected_claims or (), question))


@artefact(calls=("reverse_questions",))
async def reverse_questions(
    answer: str, judge: Judge, *, questions: Annotated[int, Wanted("1 or more", lambda count: count >= 1)] = 3
) -> tuple[ReverseQuestion, ...]:
    """Questions that the answer would answer, made without sight of the real one (J4)."""
    if is_blank(answer):
        raise NotApplicable(Reason.ANSWER_EMPTY)
    said = await judge.ask(ReverseQuestions(answer, questions))
    readable = tuple(question for question in said if not is_blank(question.text))
    if not readable:
        raise Unreadable("the judge gave no question that the answer would answer")
    return readable


@artefact
async def reverse_question_vectors(reverse_questions: tuple[ReverseQuestion, ...], embedder: Embedder) -> TextVectors:
    """The vectors of the reverse questions."""
    return await embedded([question.text for question in reverse_questions], embedder)


@artefact(calls=("entities",))
async def expected_entities(expected: str, judge: Judge) -> tuple[str, ...]:
    """The entities that the expected answer names (J5e)."""
    return await judge.ask(Entities(expected))


@artefact(calls=("entities",))
async def context_entities(shown_chunks: ShownChunks, judge: Judge) -> tuple[str, ...]:
    """The entities that the contexts name, all of them together (J5c)."""
    return await judge.ask(Entities("\n\n".join(shown_chunks.texts)))
