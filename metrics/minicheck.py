"""MiniCheck: whether the contexts support each sentence of the answer."""

from collections.abc import Sequence
from typing import Annotated, Final

from .checked_claims import CheckedClaims, checked_claims
from .chunks import packed
from .declaring import Wanted, artefact, metric
from .local_tools import Checker
from .score import Measured, NotApplicable, Reason

_WORDS: Final = 500


@artefact
async def minicheck_support(
    answer_sentences: tuple[str, ...],
    contexts: Sequence[str],
    minicheck_model: Checker,
    language: str = "en",
    *,
    chunk_words: Annotated[int, Wanted("at least 1", lambda words: words >= 1)] = _WORDS,
    joint_contexts: bool = False,
) -> CheckedClaims:
    """The answer's sentences, and how likely the contexts support each, as the model MiniCheck has it."""
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
    ours: the authors give no figure for a whole answer. Each context is a document of its own and is cut, between
    sentences, into chunks of about 500 words (``chunk_words``). With ``joint_contexts: true`` the contexts are one
    document, so that a chunk may hold several of them and a sentence may rest on two. MiniCheck's variants on RoBERTa
    or DeBERTa want chunks of 400 tokens: set ``chunk_words: 300``. Where the model did not read all, ``truncated``
    is set.

    A sentence is not made to stand alone: one with "it" or "they", or with two claims of which one is wrong, is
    judged as it stands, and "I'm happy to help" is supported by nothing. The model knows English only. On its authors'
    own benchmark (LLM-AggreFact) MiniCheck-Flan-T5-Large has a mean balanced accuracy of 74.7 %, as good as GPT-4's
    75.3 %: where half of the sentences are unsupported, one in four is judged wrongly. It says nothing of whether the
    contexts are right.
    """
    return Measured(minicheck_support.share, minicheck_support.evidence())
