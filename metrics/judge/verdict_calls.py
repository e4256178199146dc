"""Calls in which a judge checks numbered items: claims, sentences and chunks against texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from .call import Block
from .item_calls import ItemCall, ItemList
from .items import ANSWER_CLAIM, CHUNK, EXPECTED_CLAIM, EXPECTED_SENTENCE, SENTENCE, item, listing, numbered, unmarked
from .verdicts import Agreement, AnswerSupport, ExpectedSupport


@dataclass(frozen=True, slots=True)
class ContextText:
    """A sentence of the contexts, and the number of its chunk, from 1."""

    chunk: int
    text: str


@dataclass(frozen=True, slots=True)
class CheckAnswer(ItemCall[AnswerSupport]):
    """J2a: the answer's claims against the contexts, and which context sentences the question needs.

    The expected answer is not shown. Parts that are empty are not asked about: ``claims``, ``sentences``.
    """

    name: ClassVar[str] = "check_answer"
    answer_type: ClassVar[type[Any]] = AnswerSupport

    question: str
    chunks: tuple[str, ...]
    claims: tuple[str, ...] = ()
    sentences: tuple[ContextText, ...] = ()

    def lists(self) -> tuple[ItemList, ...]:
        """Claims, and sentences of the contexts."""
        claims = numbered(ANSWER_CLAIM, len(self.claims))
        sentences = numbered(SENTENCE, len(self.sentences))
        return (
            ItemList("claims", "claims", claims, "supported", chunks=len(self.chunks)),
            ItemList("sentences", "needed", sentences, "needed", why=False),
        )

    def shown(self) -> Sequence[Block]:
        """Question, chunks and claims; never the expected answer."""
        chunks = shown_chunks(self.chunks, self.sentences)
        blocks = [Block("question", unmarked(self.question)), Block("chunks", chunks)]
        if self.claims:
            blocks.append(Block("claims", listing(numbered(ANSWER_CLAIM, len(self.claims)), self.claims)))
        return blocks


@dataclass(frozen=True, slots=True)
class CheckExpected(ItemCall[ExpectedSupport]):
    """J2b: the expected answer's claims and sentences against the contexts, and which chunks and sentences help.

    The answer is not shown. Parts: ``claims``, ``expected_sentences``, ``usefulness`` (of every chunk) and
    ``sentences`` (of the contexts, that support the expected answer).
    """

    name: ClassVar[str] = "check_expected"
    answer_type: ClassVar[type[Any]] = ExpectedSupport

    question: str
    expected: str
    chunks: tuple[str, ...]
    claims: tuple[str, ...] = ()
    expected_sentences: tuple[str, ...] = ()
    usefulness: bool = False
    sentences: tuple[ContextText, ...] = ()

    def lists(self) -> tuple[ItemList, ...]:
        """Claims and sentences of the expected answer, chunks, and sentences of the contexts."""
        claims = numbered(EXPECTED_CLAIM, len(self.claims))
        expected = numbered(EXPECTED_SENTENCE, len(self.expected_sentences))
        chunks = numbered(CHUNK, len(self.chunks) if self.usefulness else 0)
        sentences = numbered(SENTENCE, len(self.sentences))
        return (
            ItemList("claims", "claims", claims, "supported", chunks=len(self.chunks)),
            ItemList("expected_sentences", "sentences", expected, "supported", chunks=len(self.chunks)),
            ItemList("usefulness", "useful", chunks, "useful"),
            ItemList("sentences", "supporting", sentences, "supports", why=False),
        )

    def shown(self) -> Sequence[Block]:
        """Question, expected answer, chunks and claims; never the answer."""
        ids = numbered(EXPECTED_SENTENCE, len(self.expected_sentences))
        # Numbered sentences are the expected answer; it is not shown twice.
        expected = listing(ids, self.expected_sentences) if ids else unmarked(self.expected)
        blocks = [
            Block("question", unmarked(self.question)),
            Block("expected", expected),
            Block("chunks", shown_chunks(self.chunks, self.sentences)),
        ]
        if self.claims:
            blocks.append(Block("claims", listing(numbered(EXPECTED_CLAIM, len(self.claims)), self.claims)))
        return blocks


@dataclass(frozen=True, slots=True)
class CompareClaims(ItemCall[Agreement]):
    """J3: the answer's claims against the expected answer, and the expected claims against the answer.

    ``question`` is for judges that need it to understand short answers; the specification's prompt shows E, A and
    both lists.
    """

    name: ClassVar[str] = "compare_claims"
    answer_type: ClassVar[type[Any]] = Agreement

    expected: str
    answer: str
    answer_claims: tuple[str, ...]
    expected_claims: tuple[str, ...]
    question: str = ""

    def lists(self) -> tuple[ItemList, ...]:
        """The answer's claims, and the expected ones."""
        answer = numbered(ANSWER_CLAIM, len(self.answer_claims))
        expected = numbered(EXPECTED_CLAIM, len(self.expected_claims))
        return (
            ItemList("answer_claims", "answer_claims", answer, "supported"),
            ItemList("expected_claims", "expected_claims", expected, "covered"),
        )

    def shown(self) -> Sequence[Block]:
        """Both answers and their claims."""
        blocks = [Block("expected", unmarked(self.expected)), Block("answer", unmarked(self.answer))]
        if self.answer_claims:
            ids = numbered(ANSWER_CLAIM, len(self.answer_claims))
            blocks.append(Block("answer_claims", listing(ids, self.answer_claims)))
        if self.expected_claims:
            ids = numbered(EXPECTED_CLAIM, len(self.expected_claims))
            blocks.append(Block("expected_claims", listing(ids, self.expected_claims)))
        return blocks


def shown_chunks(chunks: Sequence[str], sentences: Sequence[ContextText]) -> str:
    """The chunks, each on one line; or, where their sentences are asked about, each with its sentences below it."""
    within: dict[int, list[str]] = {}
    for identity, sentence in zip(numbered(SENTENCE, len(sentences)), sentences, strict=True):
        within.setdefault(sentence.chunk, []).append(item(identity, sentence.text))
    lines: list[str] = []
    for number, (identity, chunk) in enumerate(zip(numbered(CHUNK, len(chunks)), chunks, strict=True), start=1):
        lines += [f"[{identity}]", *within[number]] if number in within else [item(identity, chunk)]
    return "\n".join(lines)
