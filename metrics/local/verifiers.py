"""Verifiers: faithfulness by the judge or by one of four local models."""

from collections.abc import Sequence

from ..declaration import artefact
from ..facts import is_blank
from ..judge.judged import JudgedItems
from ..score import Measured, NotApplicable, Reason
from .checkers import CheckedClaims, Chunk, MarkedAnswer, alignment, checked_claims
from .tools import Checker


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
