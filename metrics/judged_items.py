"""JudgedItems: what the judge said of claims, sentences and chunks; one list for each thing that was asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from .declaring import artefact
from .judge.verdict_calls import ContextText
from .judge.verdicts import Agreement, AnswerSupport, ExpectedSupport, Verdict, Verdicts
from .judged import ShownChunks
from .score import Unreadable
from .tools import Judge


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """An item and the verdict on it; ``chunk`` is the rank of the chunk that it is or stands in, 0 for a claim."""

    text: str
    verdict: Verdict
    chunk: int = 0


@dataclass(frozen=True, slots=True)
class JudgedItems:
    """Items of one kind with the verdict on each, and the judge that gave them."""

    items: tuple[JudgedItem, ...]
    judge: str

    @property
    def held(self) -> tuple[bool, ...]:
        """For each item whether the verdict is yes."""
        return tuple(item.verdict.holds for item in self.items)

    @property
    def share(self) -> float:
        """Share of the items with the verdict yes; there must be an item."""
        return sum(self.held) / len(self.items)

    @property
    def mean(self) -> float:
        """Mean probability that an item holds; its verdict, 0 or 1, where the judge has none. There must be an item."""
        said = [item.verdict for item in self.items]
        return fmean(float(one.holds) if one.probability is None else one.probability for one in said)

    def evidence(self, kind: str, verdict: str) -> list[dict[str, object]]:
        """For each item its text, verdict and reason, as they stand in a score's details.

        Args:
            kind: what the items are: ``claim``, ``sentence``; blank for chunks, which the row has already.
            verdict: what a yes means: ``supported``, ``useful``.
        """
        return [_evidence(item, kind, verdict) for item in self.items]


def _evidence(item: JudgedItem, kind: str, name: str) -> dict[str, object]:
    said = item.verdict
    found: dict[str, object] = {kind: item.text} if kind else {}
    if item.chunk:
        found["chunk"] = item.chunk
    found[name] = said.holds
    if said.probability is not None:
        found["probability"] = round(said.probability, 4)
    if said.contradicted:
        found["contradicted"] = True
    if said.chunks:
        found["chunks"] = list(said.chunks)
    if said.why:
        found["why"] = said.why
    if said.evidence:
        found["evidence"] = said.evidence
    if said.agreement < 1:  # of several judges or votes
        found["agreement"] = said.agreement
    return found


def judged(texts: Sequence[str], verdicts: Verdicts, judge: Judge, chunks: Sequence[int] = ()) -> JudgedItems:
    """Items with their verdicts. Raises Unreadable when the judge's word on any of them can't be read."""
    places = chunks or [0] * len(texts)
    if len(verdicts) != len(texts):
        raise Unreadable(f"the judge gave {len(verdicts)} verdicts on {len(texts)} items")
    unread = sum(verdict is None for verdict in verdicts)
    if unread:
        raise Unreadable(f"the judge's verdict can't be read on {unread} of {len(texts)} items")
    items = tuple(
        JudgedItem(text, verdict, chunk)
        for text, verdict, chunk in zip(texts, verdicts, places, strict=True)
        if verdict is not None
    )
    return JudgedItems(items, judge.model_id)


@artefact
def claim_support(answer_claims: tuple[str, ...], answer_support: AnswerSupport, judge: Judge) -> JudgedItems:
    """The answer's claims, and whether the contexts support them."""
    return judged(answer_claims, answer_support.claims, judge)


@artefact
def needed_sentences(
    context_texts: tuple[ContextText, ...], answer_support: AnswerSupport, shown_chunks: ShownChunks, judge: Judge
) -> JudgedItems:
    """The contexts' sentences, and whether the question needs them."""
    return _judged_sentences(context_texts, answer_support.needed, shown_chunks, judge)


@artefact
def supporting_sentences(
    context_texts: tuple[ContextText, ...], expected_support: ExpectedSupport, shown_chunks: ShownChunks, judge: Judge
) -> JudgedItems:
    """The contexts' sentences, and whether they support the expected answer."""
    return _judged_sentences(context_texts, expected_support.supporting, shown_chunks, judge)


def _judged_sentences(
    texts: Sequence[ContextText], verdicts: Verdicts, chunks: ShownChunks, judge: Judge
) -> JudgedItems:
    ranks = [chunks.ranks[sentence.chunk - 1] for sentence in texts]
    return judged([sentence.text for sentence in texts], verdicts, judge, ranks)


@artefact
def expected_claim_support(
    expected_claims: tuple[str, ...], expected_support: ExpectedSupport, judge: Judge
) -> JudgedItems:
    """The expected answer's claims, and whether the contexts support them."""
    return judged(expected_claims, expected_support.claims, judge)


@artefact
def expected_sentence_support(
    expected_sentences: tuple[str, ...], expected_support: ExpectedSupport, judge: Judge
) -> JudgedItems:
    """The expected answer's sentences, and whether they can be attributed to the contexts."""
    return judged(expected_sentences, expected_support.sentences, judge)


@artefact
def useful_chunks(
    ranked_chunks: tuple[int, ...], expected_support: ExpectedSupport, shown_chunks: ShownChunks, judge: Judge
) -> JudgedItems:
    """All chunks as the bot ranked them, and whether they help to reach the expected answer; a blank one doesn't."""
    return _judged_chunks(shown_chunks, ranked_chunks, expected_support.useful, judge)


@artefact
def chunks_useful_for_answer(useful_for_answer: Verdicts, shown_chunks: ShownChunks, judge: Judge) -> JudgedItems:
    """All chunks as the bot ranked them, and whether they help to reach its own answer; a blank one doesn't."""
    return _judged_chunks(shown_chunks, shown_chunks.ranks, useful_for_answer, judge)


def _judged_chunks(chunks: ShownChunks, asked: Sequence[int], verdicts: Verdicts, judge: Judge) -> JudgedItems:
    shown = {item.chunk: item for item in judged(chunks.texts, verdicts, judge, asked).items}
    blank = Verdict(holds=False, why="the chunk is blank")
    ranks = range(1, chunks.retrieved + 1)
    return JudgedItems(tuple(shown.get(rank) or JudgedItem("", blank, rank) for rank in ranks), judge.model_id)


@artefact
def claims_right(answer_claims: tuple[str, ...], agreement: Agreement, judge: Judge) -> JudgedItems:
    """The answer's claims, and whether the expected answer supports them."""
    return judged(answer_claims, agreement.answer_claims, judge)


@artefact
def claims_covered(expected_claims: tuple[str, ...], agreement: Agreement, judge: Judge) -> JudgedItems:
    """The expected answer's claims, and whether the answer covers them."""
    return judged(expected_claims, agreement.expected_claims, judge)
