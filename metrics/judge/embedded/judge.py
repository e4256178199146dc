"""EmbeddedJudge: grades without a language model, from wording, numbers, names, negation, vectors and small models."""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from statistics import fmean
from typing import Final, cast

from ...abstention import abstains
from ...conversation import ConversationVerdicts, JudgeConversation, retained
from ...facts import Turn
from ...languages import asked_for, languages, letters, main_script, prose, said_alone
from ...text import sentences
from ...tools import Embedder, Entailment, SupportModel
from ...versions import code_version
from ..call import Answer, JudgeCall, cannot_grade
from ..calls import (
    AnswerClaims,
    CheckAnswer,
    CheckExpected,
    CompareClaims,
    ContextText,
    Entities,
    ExpectedClaims,
    Label,
    Level,
    ReverseQuestions,
)
from ..nuggets import SUPPORT, AssignNuggets
from ..pairs import Choice, ComparePair
from ..relevance import GradeContexts
from ..verdicts import AnswerSupport, ExpectedSupport, Verdict, Word
from .claims import claims_of, only_agrees
from .correctness import agree, right
from .support import LONGEST_READ, THRESHOLD, Supported, supported, vectors_of
from .wording import STOP_WORDS, wording

_NAME: Final = re.compile(
    r"[^\W\d_a-z][\w’'.&-]*\w(?:\s+(?:(?:of|de|del|van|von|der|du|la|le|al|bin)\s+)?[^\W\d_a-z][\w’'&-]*)*"  # noqa: RUF001
)
_PHRASE_WORDS: Final = 4


def entities_of(text: str) -> tuple[str, ...]:
    """Names, numbers and dates of a text, each once; a name is a run of capitalised words.

    The first word of a sentence is capitalised whatever it is: by itself it is a name only when it stands within
    another sentence too, or when the text is just a phrase.

    >>> entities_of("In 1879 Albert Einstein was born in Ulm. Einstein left.")
    ('Albert Einstein', 'Ulm', 'Einstein', '1879')
    """
    found = [match for sentence in sentences(text) for match in _names(sentence)]
    within = {name for name, first in found if not first}
    whole = {word for name in within for word in name.split()}
    is_phrase = len(text.split()) <= _PHRASE_WORDS and not text.rstrip().endswith((".", "!", "?"))
    names = [name for name, first in found if not first or is_phrase or name in whole or " " in name]
    figures = [word.key for word in wording(text).of_kind("number", "date")]
    return tuple(dict.fromkeys([*names, *(one for one in figures if one not in {name.lower() for name in names})]))


def _names(sentence: str) -> Iterator[tuple[str, bool]]:
    """Capitalised runs without function words at their ends, and whether each is the sentence's first word alone."""
    for match in _NAME.finditer(sentence):
        words = match[0].removesuffix("'s").removesuffix("’s").split()  # noqa: RUF001
        first = not any(sign.isalnum() for sign in sentence[: match.start()])
        while words and words[0].lower() in STOP_WORDS:
            words, first = words[1:], False
        if words and not wording(" ".join(words)).of_kind("date"):
            yield " ".join(words), first and len(words) == 1


# Cosine of a question with a sentence that it needs, and what coverage and cosine of an expected sentence add up to
# with one that supports it: chosen on clapnq and wice, where measure_support.py reports them cross-validated.
_NEEDED: Final = 0.45
_SUPPORTING: Final = 0.7
_CONTRADICTED: Final = 0.5  # probability from which a claim is called contradicted
BEFOREHAND: Final = 3.0
"""Odds that a claim of an answer is supported before anything of it is known.

People give the answers of MTRAG .78 of the marks for faithfulness. ``support`` weighs the evidence alone, as if every
other claim were supported.
"""
_MOST_SENTENCES: Final = 60  # of an answer that are compared with nuggets, the nearest ones
_NO_MEANS: Final = "the embedded judge has no language model: give a model as judge for this metric"
_NO_GROUNDS: Final = (
    "the embedded judge compares answers by an expected answer or evidence, and the question has neither: give a model"
    " as judge"
)
_PREFERRED: Final = 0.15  # by which probabilities must differ for one answer to be preferred; chosen beforehand
_NO_QUESTIONS: Final = (
    "the embedded judge can't invent questions: give a model as judge, or use answer_relevancy_sentence"
)
_WHY_NOT: Final[Mapping[object, str]] = {
    ReverseQuestions: _NO_QUESTIONS,
    GradeContexts: "the embedded judge does not grade relevance: give a model as judge, or use context_relevancy",
}


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
            case AnswerClaims(answer=text) | ExpectedClaims(expected=text):
                return claims_of(text)
            case Entities():
                return entities_of(call.text)
            case CheckAnswer():
                return await self._check_answer(call)
            case CheckExpected():
                return await self._check_expected(call)
            case ComparePair():
                return await self._compare_pair(call)
            case AssignNuggets():
                return await self._assign_nuggets(call)
            case CompareClaims():
                return await agree(call, self._embedder, self._entailment, self._model)
            case JudgeConversation():
                return await self._conversation(call)
            case Label() if call.prompt == "language_mismatch":
                return await same_language(call)
        raise cannot_grade(cast("JudgeCall[object]", call), _WHY_NOT.get(type(call), _NO_MEANS))

    async def _compare_pair(self, call: ComparePair) -> Choice:
        """The answer that is likelier to be right by the expected answers, and supported by the evidence.

        Raises:
            NotApplicable: there is neither, or the two answers don't differ enough in them.
        """
        if not call.parts:
            raise cannot_grade(call, _NO_GROUNDS)
        shares = [await self._goodness(call, answer) for answer in (call.first, call.second)]
        gap = shares[0] - shares[1]
        if abs(gap) < _PREFERRED:
            raise cannot_grade(call, f"the answers don't differ enough for it: {shares[0]:.2f} and {shares[1]:.2f}")
        reason = f"right and supported with a probability of {max(shares):.2f} against {min(shares):.2f}"
        return Choice("A" if gap > 0 else "B", reason)

    async def _conversation(self, call: JudgeConversation) -> ConversationVerdicts:
        """What is remembered, by rule, and what is complete by an expected answer; the other lists stay empty."""
        found = ConversationVerdicts()
        if "retained" in call.asked:
            found = replace(found, retained=retained(call.conversation))
        if "complete" in call.asked:
            covered = [await self._complete(turn) for turn in call.conversation.answered]
            found = replace(found, complete=tuple(covered))
        return found

    async def _complete(self, turn: Turn) -> Verdict | None:
        """How much of an expected answer the answer says; None where none is expected."""
        found = [each for expected in turn.expected if (each := await self._covered(turn, expected))]
        return max(found, key=lambda each: each.probability or 0.0, default=None)

    async def _covered(self, turn: Turn, expected: str) -> Verdict | None:
        """The mean probability that the answer says a sentence of the expected one; None where it has no words.

        By the support model; without it, and of a very long answer, the share of sentences that it has by their words.
        Who is expected to know nothing and says so has said all.
        """
        answer, wanted = turn.answer or "", sentences(expected)
        if abstains(expected, turn.question) and abstains(answer, turn.question):
            return Verdict(True, probability=1.0)
        if self._model and wanted and len(answer) <= LONGEST_READ:
            read = await self._supported([_in_context(turn.question, one) for one in wanted], [answer])
            parts = [(one.joint.holds, one.joint.score, one.joint.why) for one in read]
        else:
            call = CompareClaims(expected, answer, (), wanted, turn.question)
            claims = (await agree(call, self._embedder, self._entailment)).expected_claims
            parts = [(one.holds, float(one.holds), one.why) for one in claims if one]
        if not parts:
            return None
        holds, shares, missing = zip(*parts, strict=True)
        return Verdict(all(holds), why="; ".join(filter(None, missing)), probability=fmean(shares))

    async def _goodness(self, call: ComparePair, answer: str) -> float:
        """Mean of the probability that the answer is right, and of the support of its claims."""
        found: list[float] = []
        if expected := [text for text in call.expected if text.strip()]:
            verdicts = [
                await right(call.question, one, answer, self._embedder, self._entailment, self._model)
                for one in expected
            ]
            found.append(max(verdict.probability or 0.0 for verdict in verdicts))
        evidence = [text for text in call.evidence if text.strip()]
        if evidence and (claims := claims_of(answer)):
            supports = await self._supported([_in_context(call.question, claim) for claim in claims], evidence)
            found.append(fmean(one.joint.score for one in supports))
        return fmean(found) if found else 0.0

    async def _assign_nuggets(self, call: AssignNuggets) -> tuple[Level, ...]:
        """Whether the answer says each nugget, with the probability of it; parts of one are not known.

        The probability is the mean of that of ``agree``, which is better on short answers, and of the support model's,
        which is better on long ones (``measure_nuggets.py``) and does not read answers of more than 20,000 characters.
        """
        if any(not wording(nugget).content for nugget in call.nuggets):
            raise cannot_grade(call, "a nugget has no word that could be looked for")
        nearest = _nearest(sentences(call.answer), call.nuggets)
        compared = CompareClaims(" ".join(call.nuggets), call.answer, nearest, call.nuggets, call.question)
        agreed = (await agree(compared, self._embedder, self._entailment)).expected_claims
        likely = [one.probability or 0.0 if one else 0.0 for one in agreed]
        if self._model and len(call.answer) <= LONGEST_READ:
            found = await self._supported([_in_context(call.question, one) for one in call.nuggets], [call.answer])
            likely = [fmean((one, other.joint.score)) for one, other in zip(likely, found, strict=True)]
        return tuple(
            Level((len(SUPPORT) - 1) * (share >= THRESHOLD), one.why if one and share < THRESHOLD else "", 1.0, share)
            for share, one in zip(likely, agreed, strict=True)
        )

    async def _check_answer(self, call: CheckAnswer) -> AnswerSupport:
        claims = [_in_context(call.question, claim) for claim in call.claims]
        found = await self._supported(claims, call.chunks)
        return AnswerSupport(self._verdicts(found), await self._needed(call))

    async def _check_expected(self, call: CheckExpected) -> ExpectedSupport:
        whole = call.expected_sentences or sentences(call.expected)
        wanted = whole if call.usefulness or call.expected_sentences else ()
        in_context = [_in_context(call.question, claim) for claim in (*call.claims, *wanted)]
        found = await self._supported(in_context, call.chunks)
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
                probability=among_answers(one.joint.score) if self._model else None,
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


def among_answers(score: float) -> float:
    """The probability of support by the evidence alone, made that of a claim of an answer.

    >>> among_answers(0.5)
    0.75
    """
    return BEFOREHAND * score / (BEFOREHAND * score + 1 - score)


def _nearest(texts: Sequence[str], claims: Sequence[str]) -> tuple[str, ...]:
    """Of many sentences those that share most words with some claims, in their order."""
    if len(texts) <= _MOST_SENTENCES:
        return tuple(texts)
    wanted = frozenset[str]().union(*(wording(claim).content for claim in claims))
    shared = [len(wording(text).content & wanted) for text in texts]
    best = sorted(range(len(texts)), key=lambda place: (-shared[place], place))[:_MOST_SENTENCES]
    return tuple(texts[place] for place in sorted(best))


def _in_context(question: str, claim: str) -> str:
    """The claim, behind the question when by itself it says nothing that could be found: Yes."""
    return f"{question} {claim}" if only_agrees(claim) else claim


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


_LONGEST_TEXT: Final = 2_000  # characters that are looked at
# Chance of drawing one language from what two texts may be in, from which they count as of one; chosen on one half of
# xquad_lang and language_id, cut to four words and more. In short texts there is little to see, and most answers are
# in the language of their question: there it takes more to call them different.
_SAME: Final = 0.1
_SAME_SHORT: Final = 0.02
_SHORT_TEXT: Final = 20  # letters
_NAME_WORDS: Final = 3  # words with capitals that may be a name, which stands in any language
_TITLE_WORDS: Final = 7  # of a title, mostly an English one, of which those of four letters and more have capitals
_LONG: Final = 4
_SURE: Final = 0.5  # of a part of a question
_OPENING, _CLOSING = '"“„«', '"”“»'


async def same_language(call: Label) -> Word:
    """Whether the two texts of a call are in one language; what it takes them for is said beside.

    Texts in two scripts are in two languages; else the identifier says how likely each is in which. A question may ask
    for another language, or put a text in another one ("Summarise this text: ...").

    Raises:
        NotApplicable: a text has no letters, or may be nothing but a name or a quotation.
    """
    texts = [prose(block.text)[:_LONGEST_TEXT] for block in call.texts]
    scripts = [main_script(text) for text in texts]
    if not all(scripts):
        raise cannot_grade(call, "A text without letters is in no language.")
    first, second = await asyncio.to_thread(lambda: [languages(text) for text in texts])
    found = ", ".join(max(shares, key=lambda language: shares[language]) for shares in (first, second))
    chance = sum(share * second.get(language, 0.0) for language, share in first.items())
    is_short = any(sum(1 for _ in letters(text)) < _SHORT_TEXT for text in texts)
    limit = _SAME_SHORT if is_short else _SAME
    if chance >= limit or await asyncio.to_thread(_may_answer, texts[0], second, limit):
        return Word("same", found)
    if any(_may_be_a_name(text) for text in texts):
        raise cannot_grade(call, "A name, a title or a quotation stands in any language.")
    return Word("different", found)


def _may_answer(question: str, answer: Mapping[str, float], limit: float) -> bool:
    """Whether a question in two languages, or one that asks for another, may be answered in a language."""
    if sum(answer.get(language, 0.0) for language in asked_for(question)) >= limit:
        return True
    before, colon, after = question.partition(":")
    parts = [languages(part) for part in (before, after) if colon and main_script(part)]
    sure = [shares for shares in parts if max(shares.values()) >= _SURE]
    return any(sum(share * answer.get(language, 0.0) for language, share in one.items()) >= _SURE for one in sure)


def _may_be_a_name(text: str) -> bool:
    """A few words with capitals, an English title ("The Lord of the Rings"), or nothing but a quotation."""
    if said_alone(text):
        return False
    stripped = text.strip()
    if stripped[:1] in _OPENING and stripped.rstrip(".")[-1:] in _CLOSING:
        return True
    words = text.split()
    large = [word[:1].isupper() or not word[:1].isalpha() for word in words]
    if len(words) <= _NAME_WORDS:
        return all(large)
    is_title = sum(large) >= _NAME_WORDS and all(map(lambda one, word: one or len(word) < _LONG, large, words))
    return is_title and len(words) <= _TITLE_WORDS and text[-1:].isalnum() and languages(text).get("en", 0.0) >= _SURE
