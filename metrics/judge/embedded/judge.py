"""EmbeddedJudge: grades without a language model, by a small model of our own, wording, numbers, names and vectors."""

from collections.abc import Sequence
from functools import cache
from typing import Final, cast

from ...text import sentences
from ...tools import Embedder, Entailment, SupportModel
from ...versions import code_version
from ..call import Answer, JudgeCall, cannot_grade
from ..claim_calls import AnswerClaims, Entities, ExpectedClaims, ReverseQuestions
from ..label_calls import Label
from ..verdict_calls import CheckAnswer, CheckExpected, CompareClaims, ContextText
from ..verdicts import AnswerSupport, ExpectedSupport, Verdict
from .agreement import agree
from .claims import claims_of, entities_of
from .language import same_language
from .support import Supported, supported, vectors_of
from .wording import wording

# Cosine of a question with a sentence that it needs, and what coverage and cosine of an expected sentence add up to
# with one that supports it: chosen on clapnq and wice, where measure_support.py reports them cross-validated.
_NEEDED: Final = 0.45
_SUPPORTING: Final = 0.7
_CONTRADICTED: Final = 0.5  # probability from which a claim is called contradicted
_NO_MEANS: Final = "the embedded judge has no language model: give a model as judge for this metric"
_NO_QUESTIONS: Final = (
    "the embedded judge can't invent questions: give a model as judge, or use answer_relevancy_sentence"
)


class EmbeddedJudge:
    """A judge that needs no language model and no key: it is local, deterministic and says what was missing.

    Claims are the sentences of a text. Support is a probability, see ``support``: of the support model and the claim's
    wording together, with an entailment model where one is given. What can't be measured so is not graded.
    """

    embedded = True

    def __init__(
        self, embedder: Embedder, entailment: Entailment | None = None, model: SupportModel | None = None
    ) -> None:
        self._embedder = embedder
        self._entailment = entailment
        self._model = model

    @property
    def model_id(self) -> str:
        """The models, and the version of the code that decides, so that scores are made anew when it changes."""
        entailment = self._entailment.model_id if self._entailment else "no entailment model"
        model = self._model.model_id if self._model else "no support model"
        return f"embedded ({self._embedder.model_id}, {model}, {entailment}, code {_version()})"

    async def ask(self, call: JudgeCall[Answer], vote: int = 1, votes: int = 1) -> Answer:  # noqa: ARG002 - see Judge
        """Answer a call, each time the same. Raises NotApplicable (``judge_cannot_grade``) where there are no means."""
        return cast("Answer", await self._answer(call))

    async def _answer(self, call: object) -> object:
        match call:
            case AnswerClaims():
                return claims_of(call.answer)
            case ExpectedClaims():
                return claims_of(call.expected)
            case Entities():
                return entities_of(call.text)
            case CheckAnswer():
                return await self._check_answer(call)
            case CheckExpected():
                return await self._check_expected(call)
            case CompareClaims():
                return await agree(call, self._embedder, self._entailment, self._model)
            case Label() if call.prompt == "language_mismatch":
                return await same_language(call)
            case ReverseQuestions():
                raise cannot_grade(call, _NO_QUESTIONS)
        raise cannot_grade(cast("JudgeCall[object]", call), _NO_MEANS)

    async def _check_answer(self, call: CheckAnswer) -> AnswerSupport:
        claims = [_told(call.question, claim) for claim in call.claims]
        found = await self._supported(claims, call.chunks)
        return AnswerSupport(self._verdicts(found), await self._needed(call))

    async def _check_expected(self, call: CheckExpected) -> ExpectedSupport:
        whole = call.expected_sentences or sentences(call.expected)
        wanted = whole if call.usefulness or call.expected_sentences else ()
        told = [_told(call.question, claim) for claim in (*call.claims, *wanted)]
        found = await self._supported(told, call.chunks)
        claims, expected = found[: len(call.claims)], found[len(call.claims) :]
        return ExpectedSupport(
            self._verdicts(claims),
            self._verdicts(expected) if call.expected_sentences else (),
            _useful(expected, len(call.chunks)) if call.usefulness else (),
            await self._supporting(whole, call.sentences),
        )

    async def _supported(self, claims: Sequence[str], chunks: Sequence[str]) -> list[Supported]:
        return await supported(claims, chunks, self._embedder, self._entailment, self._model) if claims else []

    def _verdicts(self, found: Sequence[Supported]) -> tuple[Verdict, ...]:
        """With probabilities where the support model takes part: the formula alone has odds that mean little."""
        return tuple(
            Verdict(
                one.joint.holds,
                tuple(number for number, alone in enumerate(one.chunks, 1) if alone.holds),
                one.joint.why,
                probability=one.joint.score if self._model else None,
                contradicted=not one.joint.holds and one.joint.contradicted >= _CONTRADICTED,
                evidence=one.joint.evidence if self._model else "",
            )
            for one in found
        )

    async def _needed(self, call: CheckAnswer) -> tuple[Verdict, ...]:
        """A sentence is needed when it is near enough to the question."""
        if not call.sentences:
            return ()
        vectors = await vectors_of([call.question, *(one.text for one in call.sentences)], self._embedder)
        nearness = [float(vectors[call.question] @ vectors[one.text]) for one in call.sentences]
        return tuple(Verdict(near >= _NEEDED, why=_short_of(near, _NEEDED)) for near in nearness)

    async def _supporting(self, expected: Sequence[str], texts: Sequence[ContextText]) -> tuple[Verdict, ...]:
        """A sentence supports the expected answer when it says a good part of one of its sentences."""
        if not texts:
            return ()
        vectors = await vectors_of([*expected, *(one.text for one in texts)], self._embedder)
        best = [
            max((_share(one, text.text) + float(vectors[one] @ vectors[text.text]) for one in expected), default=0.0)
            for text in texts
        ]
        return tuple(Verdict(near >= _SUPPORTING, why=_short_of(near, _SUPPORTING)) for near in best)


def _told(question: str, claim: str) -> str:
    """The claim, behind the question when by itself it says nothing that could be found: Yes."""
    return claim if wording(claim).content else f"{question} {claim}"


def _useful(expected: Sequence[Supported], chunks: int) -> tuple[Verdict, ...]:
    """A chunk is useful when it supports a sentence of the expected answer by itself."""
    if not expected:
        return (Verdict(False, why="the expected answer has no sentence"),) * chunks
    best = [max((one.chunks[place] for one in expected), key=lambda one: one.score) for place in range(chunks)]
    return tuple(Verdict(one.holds, why=one.why) for one in best)


def _share(claim: str, text: str) -> float:
    """Share of the claim's content words that a sentence has."""
    wanted = wording(claim).content
    return len(wanted & wording(text).content) / len(wanted) if wanted else 0.0


def _short_of(near: float, wanted: float) -> str:
    return "" if near >= wanted else f"nearness {near:.2f}, wanted {wanted:.2f}"


@cache
def _version() -> str:
    return code_version(EmbeddedJudge.ask)[:12]
