"""Local checkers: AlignScore, MiniCheck, LettuceDetect and HHEM as metrics of how the contexts support the answer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from ... import InputError
from ..declaration import Allowed, artefact, metric
from ..facts import is_blank
from ..judge.judged import JudgedItems
from ..score import Measured, NotApplicable, Reason
from ..text import sentences, shown
from ..tools import Checker, SpanDetector

if TYPE_CHECKING:
    from ...knowledge.models.span_detector import Marked


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of the contexts.

    Attributes:
        text: unchanged.
        contexts: the ranks of the contexts that it is from, counted from 1, including blank ones.
    """

    text: str
    contexts: tuple[int, ...]


def packed(texts: Sequence[str], words: int, language: str = "en", joint: bool = False) -> tuple[Chunk, ...]:
    r"""The texts cut between sentences into chunks with at most the given number of words.

    A sentence of more words is a chunk of its own. The text between the sentences of a chunk is unchanged.

    Args:
        texts: the contexts in the order of their ranks; a blank one has no chunk.
        words: maximum for a chunk, counted between white space.
        language: ISO 639 code, for the sentence splitter.
        joint: whether a chunk may span several texts, with a line break between them.

    >>> packed(["One two. Three.", "Four five."], words=3)
    (Chunk(text='One two. Three.', contexts=(1,)), Chunk(text='Four five.', contexts=(2,)))
    >>> packed(["One two. Three.", "Four five."], words=5, joint=True)
    (Chunk(text='One two. Three.\nFour five.', contexts=(1, 2)),)
    """
    chunks: list[Chunk] = []
    parts: list[tuple[int, int, int]] = []  # rank, start and end
    room = words
    for rank, text in enumerate(texts, start=1):
        for start, end in _spans(text, language):
            size = len(text[start:end].split())
            if parts and (size > room or (not joint and parts[-1][0] != rank)):
                chunks.append(_chunk(texts, parts))
                parts, room = [], words
            if parts and parts[-1][0] == rank:
                parts[-1] = (rank, parts[-1][1], end)
            else:
                parts.append((rank, start, end))
            room -= size
    return (*chunks, _chunk(texts, parts)) if parts else tuple(chunks)


def _chunk(texts: Sequence[str], parts: Sequence[tuple[int, int, int]]) -> Chunk:
    text = "\n".join(texts[rank - 1][start:end] for rank, start, end in parts)
    return Chunk(text, tuple(rank for rank, _, _ in parts))


def _spans(text: str, language: str) -> Iterator[tuple[int, int]]:
    """Start and end of each sentence; the whole text if the splitter finds none."""
    end = 0
    for sentence in sentences(text, language):
        start = text.find(sentence, end)
        end = start + len(sentence)
        yield start, end
    if end == 0 and not is_blank(text):
        yield 0, len(text)


LIKELY: Final = 0.5  # a higher probability counts as supported


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A claim and the evidence for it.

    Attributes:
        text: the claim, a sentence of the answer.
        probability: that it is supported, by the chunk that supports it best.
        contexts: ranks of the contexts that support it on their own, counted from 1.
        chunk: the chunk that supports it best.
        truncated: whether a chunk and the claim were too long for the model.
    """

    text: str
    probability: float
    contexts: tuple[int, ...]
    chunk: Chunk
    truncated: bool = False

    @property
    def supported(self) -> bool:
        """Whether it is more likely supported than not."""
        return self.probability > LIKELY


@dataclass(frozen=True, slots=True)
class CheckedClaims:
    """Claims with the evidence for each, and the model that was asked; there is at least one claim."""

    claims: tuple[CheckedClaim, ...]
    model: str

    @property
    def share(self) -> float:
        """Share of the claims that are supported."""
        return sum(claim.supported for claim in self.claims) / len(self.claims)

    def evidence(self) -> dict[str, object]:
        """For details: the claims with excerpts of their best chunks, the model, whether anything was truncated."""
        claims = [
            {
                "claim": shown(claim.text),
                "supported": claim.supported,
                "probability": claim.probability,
                "contexts": list(claim.contexts),
                "best_chunk": {"contexts": list(claim.chunk.contexts), "text": shown(claim.chunk.text)},
            }
            for claim in self.claims
        ]
        return {"claims": claims, "model": self.model, "truncated": any(claim.truncated for claim in self.claims)}


async def checked_claims(claims: Sequence[str], chunks: Sequence[Chunk], checker: Checker) -> CheckedClaims:
    """Each claim against each chunk, with the highest probability; there must be at least one of both."""
    output = await checker.check([(chunk.text, claim) for claim in claims for chunk in chunks])
    probabilities = output.probabilities.reshape(len(claims), len(chunks))
    truncated = output.truncated.reshape(len(claims), len(chunks))
    found = [
        _claim(claim, chunks, probabilities[place].tolist(), bool(truncated[place].any()))
        for place, claim in enumerate(claims)
    ]
    return CheckedClaims(tuple(found), checker.model_id)


def _claim(text: str, chunks: Sequence[Chunk], probabilities: Sequence[float], truncated: bool) -> CheckedClaim:
    likely = [chunk for chunk, probability in zip(chunks, probabilities, strict=True) if probability > LIKELY]
    alone = {chunk.contexts[0] for chunk in likely if len(chunk.contexts) == 1}
    best = max(range(len(chunks)), key=probabilities.__getitem__)
    return CheckedClaim(text, probabilities[best], tuple(sorted(alone)), chunks[best], truncated)


_ALIGNSCORE_CHUNK_WORDS: Final = 350  # about, for a chunk


@artefact
async def alignscore_support(
    answer_sentences: tuple[str, ...], contexts: Sequence[str], alignscore_model: Checker, language: str = "en"
) -> CheckedClaims:
    """The answer's sentences, and how well the contexts support each, by the model AlignScore."""
    if not answer_sentences:
        raise NotApplicable(Reason.NO_SENTENCES)
    chunks = [
        Chunk(text, (rank,)) for rank, context in enumerate(contexts, 1) for text in even_chunks(context, language)
    ]
    return await checked_claims(answer_sentences, chunks, alignscore_model)


@metric(
    threshold=0.75,
    blank_answer=Reason.NO_SENTENCES,
    source="AlignScore (arXiv 2305.16739), mode nli_sp (threshold: project default)",
)
def alignscore(alignscore_support: CheckedClaims) -> Measured:
    """Mean over the answer's sentences of the probability that they are aligned with the contexts.

    Each sentence is compared with each chunk of the contexts, and the best chunk counts; details name it. Chunks have
    equally many sentences, about 350 words. The method is defined for one context; of several each is cut separately,
    so a sentence that needs two of them is supported by neither. If a chunk and the sentence are longer than the
    model's 512 tokens the end of the chunk is not read, and ``truncated`` is set.

    It was made for English summaries and rates the answer as a whole: a mean of 0.8 may be one invented sentence in
    five. Its authors report AUROC 0.874 for AlignScore-base on the six data sets of SummaC and 0.825 on the eleven of
    TRUE (large: 0.886 and 0.838), which says how well it ranks answers; they give no threshold. A greeting or a
    refusal is aligned with nothing. It does not say whether the contexts are right.
    """
    return Measured(alignment(alignscore_support), alignscore_support.evidence())


def alignment(support: CheckedClaims) -> float:
    """Mean probability of some claims."""
    return sum(claim.probability for claim in support.claims) / len(support.claims)


def even_chunks(text: str, language: str = "en") -> list[str]:
    """The text cut between sentences into chunks of equally many sentences, on average of at most 350 words.

    This is AlignScore's rule, except that a longer sentence, such as a table, is cut between words first: the model
    would not read its end. A blank text has no chunks.

    >>> even_chunks("One two. Three.")
    ['One two. Three.']
    >>> [len(chunk.split()) for chunk in even_chunks("It takes two days. " * 100)]
    [200, 200]
    """
    found = sentences(text, language) or (() if is_blank(text) else (text.strip(),))
    pieces = [piece for sentence in found for piece in _pieces(sentence)]
    chunks = len(text.split()) // _ALIGNSCORE_CHUNK_WORDS + 1
    together = max(len(pieces) // chunks, 1)
    return [" ".join(pieces[first : first + together]) for first in range(0, len(pieces), together)]


def _pieces(sentence: str) -> Iterator[str]:
    words = sentence.split()
    if len(words) <= _ALIGNSCORE_CHUNK_WORDS:
        yield sentence
        return
    for first in range(0, len(words), _ALIGNSCORE_CHUNK_WORDS):
        yield " ".join(words[first : first + _ALIGNSCORE_CHUNK_WORDS])


_MINICHECK_CHUNK_WORDS: Final = 500


@artefact
async def minicheck_support(
    answer_sentences: tuple[str, ...],
    contexts: Sequence[str],
    minicheck_model: Checker,
    language: str = "en",
    *,
    chunk_words: Annotated[int, Allowed("at least 1", lambda words: words >= 1)] = _MINICHECK_CHUNK_WORDS,
    joint_contexts: bool = False,
) -> CheckedClaims:
    """The answer's sentences, and how likely the contexts support each, by the model MiniCheck."""
    if not answer_sentences:
        raise NotApplicable(Reason.NO_SENTENCES)
    chunks = packed(contexts, chunk_words, language, joint_contexts)
    return await checked_claims(answer_sentences, chunks, minicheck_model)


@metric(
    threshold=0.75,
    blank_answer=Reason.NO_SENTENCES,
    source="MiniCheck (arXiv 2404.10774); share of the answer's sentences (threshold: project default)",
)
def minicheck(minicheck_support: CheckedClaims) -> Measured:
    """Share of the answer's sentences that the contexts support with a probability above 0.5.

    The model gives a probability for a chunk and a sentence; the best chunk counts, and details name it. The share is
    ours: the authors define no value for a whole answer. Each context is a document of its own and is cut, between
    sentences, into chunks of about 500 words (``chunk_words``). With ``joint_contexts: true`` the contexts are one
    document, so a chunk may contain several of them and a sentence may depend on two. MiniCheck's variants on RoBERTa
    or DeBERTa need chunks of 400 tokens: set ``chunk_words: 300``. If the model did not read everything, ``truncated``
    is set.

    Sentences are not rewritten: one with "it" or "they", or with a right and a wrong claim, is judged as it is, and
    "I'm happy to help" is supported by nothing. The model was trained on English only. On its authors'
    benchmark (LLM-AggreFact) MiniCheck-Flan-T5-Large has a mean balanced accuracy of 74.7 %, as good as GPT-4's
    75.3 %: where half of the sentences are unsupported, one in four is judged wrongly. It does not say whether the
    contexts are right.
    """
    return Measured(minicheck_support.share, minicheck_support.evidence())


@dataclass(frozen=True, slots=True)
class MarkedAnswer:
    """An answer, its unsupported spans, and the model that marked them."""

    answer: str
    marked: "Marked"
    model: str

    @property
    def supported(self) -> float:
        """Share of the characters of the answer that were read and are not marked."""
        return 1 - sum(span.end - span.start for span in self.marked.spans) / self.marked.read

    def evidence(self) -> dict[str, object]:
        """For details: the marked spans with excerpts, the model, whether anything was truncated."""
        spans = [
            {
                "text": shown(self.answer[span.start : span.end]),
                "start": span.start,
                "end": span.end,
                "confidence": span.confidence,
            }
            for span in self.marked.spans
        ]
        return {"spans": spans, "model": self.model, "truncated": self.marked.truncated}


@artefact
async def lettucedetect_spans(
    answer: str, contexts: Sequence[str], lettucedetect_model: SpanDetector, question: str = ""
) -> MarkedAnswer:
    """The spans of the answer that the contexts don't support, by the model LettuceDetect."""
    from ...knowledge.models.span_detector import Grounded

    shown = tuple(context for context in contexts if not is_blank(context))
    (marked,) = await lettucedetect_model.mark([Grounded(shown, question, answer)])
    if not marked.read:
        raise NotApplicable(Reason.ANSWER_EMPTY)
    return MarkedAnswer(answer, marked, lettucedetect_model.model_id)


@metric(
    threshold=1.0,
    blank_answer=Reason.ANSWER_EMPTY,
    source="LettuceDetect (arXiv 2502.17125); share of characters (threshold: project default)",
)
def lettucedetect(lettucedetect_spans: MarkedAnswer) -> Measured:
    """Share of the answer's characters that the contexts support: 1 minus those that the model marks.

    The model reads all contexts, the question and the answer together and marks words of the answer; details have
    each marked span with its position in the answer and the model's confidence, the highest of its words. A row passes
    when nothing is marked: one wrong number is only a few characters, but makes the answer wrong. Input beyond 4,096
    tokens is cut from the end of the contexts, so claims that depend on it count as unsupported; ``truncated`` is set.

    The model reads English only, and was trained on one data set, RAGTruth: questions, summaries and descriptions of
    businesses. There its authors report F1 0.768 for "is anything in the answer unsupported" (large: 0.792; a tuned
    Llama-3-8B: 0.839; GPT-4 with a prompt: 0.634), and of the large one F1 0.589 for which characters: look at the
    spans, but don't rely on exact character counts. It names no context, and does not say whether the contexts are
    right.
    """
    return Measured(lettucedetect_spans.supported, lettucedetect_spans.evidence())


_READS_CONTEXTS: Final = 1024  # tokens; models that read fewer were made for one passage


@dataclass(frozen=True, slots=True)
class ContextConsistency:
    """How likely the whole answer is consistent with each text that it was compared with.

    Attributes:
        ranks: of the contexts in each of these texts, counted from 1.
        probabilities: in the same order.
        model: name and revision of the checker.
        truncated: whether a text and the answer were too long for it.
    """

    ranks: tuple[tuple[int, ...], ...]
    probabilities: tuple[float, ...]
    model: str
    truncated: bool


@artefact
async def context_consistency(
    answer: str, contexts: Sequence[str], hallucination_model: Checker, *, joint_contexts: bool = False
) -> ContextConsistency:
    """How likely the answer is consistent with each context that is not blank, or with all of them as one text."""
    texts = [(rank, text) for rank, text in enumerate(contexts, start=1) if not is_blank(text)]
    ranks: list[tuple[int, ...]] = [(rank,) for rank, _ in texts]
    sources = [text for _, text in texts]
    if joint_contexts:
        await _refuse_short_window(hallucination_model)
        ranks, sources = [tuple(rank for rank, _ in texts)], ["\n\n".join(sources)]
    output = await hallucination_model.check([(source, answer) for source in sources])
    probabilities = tuple(map(float, output.probabilities))
    return ContextConsistency(tuple(ranks), probabilities, hallucination_model.model_id, bool(output.truncated.any()))


async def _refuse_short_window(model: Checker) -> None:
    window = await model.window()
    if window < _READS_CONTEXTS:
        raise InputError(
            f"The hallucination model {model.model_id} reads {window} tokens at once, too few for 'joint_contexts': "
            "leave the option out, or take HHEM 2.1 (vectara/hallucination_evaluation_model)."
        )


@metric(
    threshold=0.75,
    blank_answer="not_applicable",
    zero_on_empty_contexts=True,
    source="H2O evaluators page, Hallucination",
)
def hallucination(context_consistency: ContextConsistency) -> Measured:
    """Probability that the answer is consistent with the context that supports it best; greater is better.

    Despite its name it is high for answers that are not hallucinated. Details have the probability for each context.
    The whole answer is compared with one context at a time, so an answer that needs two of them counts as
    hallucinated; with ``joint_contexts: true`` it is compared with all of them as one text, which needs HHEM 2.1.

    Two models fit. HHEM 2.1 (the default) reads up to 4,096 tokens; of more, the end of the context is not read.
    HHEM 1.0 (revision ``hhem-1.0-open``) reads 512 tokens, context and answer together. Where something was not read,
    ``truncated`` is set. Both know English only.

    Quality, by the publisher's figures (balanced accuracy at 0.5, where chance is 50 %): 2.1 has 77 %
    on AggreFact-SOTA, 64 % on RAGTruth's summaries and 74 % on its questions; 1.0 has 79 % on the first and little more
    than chance on RAGTruth, so don't use it for answers of current models. 2.1 finds 54 % of the hallucinated answers
    to RAGTruth's questions. So rank rows by it and read the lowest, and don't take one score as a verdict. It does
    not say whether the answer is true: "Paris" is hallucinated if the context says Berlin. The threshold of 0.75
    is that of the source; the model's own is 0.5.
    """
    checked = context_consistency
    best = max(range(len(checked.probabilities)), key=checked.probabilities.__getitem__)
    chunks = [
        {"contexts": list(ranks), "probability": probability}
        for ranks, probability in zip(checked.ranks, checked.probabilities, strict=True)
    ]
    details: dict[str, object] = {"chunks": chunks, "best_contexts": list(checked.ranks[best])}
    details |= {"model": checked.model, "truncated": checked.truncated}
    return Measured(checked.probabilities[best], details)


@artefact
def verdict_of_judge(claim_support: JudgedItems) -> Measured:
    """Mean over the answer's claims of the probability that the contexts support them, all taken together.

    For a judge without probabilities, such as a language model, it is the share of supported claims.
    """
    if not claim_support.items:
        raise NotApplicable(Reason.NO_CLAIMS)
    single = [bool(item.verdict.chunks) for item in claim_support.items]
    details: dict[str, object] = {"claims": claim_support.evidence("claim", "supported")}
    contradicted = sum(item.verdict.contradicted for item in claim_support.items)
    if contradicted:
        details["contradicted"] = contradicted
    return Measured(
        claim_support.mean, details | {"any_chunk": sum(single) / len(single), "judge": claim_support.judge}
    )


@artefact
async def hhem_support(
    answer_sentences: tuple[str, ...], contexts: Sequence[str], hallucination_model: Checker
) -> CheckedClaims:
    """The answer's sentences, and how likely each context supports each, by the hallucination model."""
    if not answer_sentences:
        raise NotApplicable(Reason.NO_SENTENCES)
    whole = [Chunk(context, (rank,)) for rank, context in enumerate(contexts, 1) if not is_blank(context)]
    return await checked_claims(answer_sentences, whole, hallucination_model)


@artefact
def verdict_of_hhem(hhem_support: CheckedClaims) -> Measured:
    """Share of the answer's sentences that the hallucination model finds consistent with a context."""
    return Measured(hhem_support.share, hhem_support.evidence())


@artefact
def verdict_of_minicheck(minicheck_support: CheckedClaims) -> Measured:
    """Share of the answer's sentences that MiniCheck finds supported by a chunk of the contexts."""
    return Measured(minicheck_support.share, minicheck_support.evidence())


@artefact
def verdict_of_alignscore(alignscore_support: CheckedClaims) -> Measured:
    """Mean over the answer's sentences of AlignScore's probability of their best chunk."""
    return Measured(alignment(alignscore_support), alignscore_support.evidence())


@artefact
def verdict_of_lettucedetect(lettucedetect_spans: MarkedAnswer) -> Measured:
    """Share of the answer's characters that LettuceDetect doesn't mark."""
    return Measured(lettucedetect_spans.supported, lettucedetect_spans.evidence())
