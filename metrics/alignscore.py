"""AlignScore: how well the contexts support each sentence of the answer, and the mean over them."""

from collections.abc import Iterator, Sequence
from typing import Final

from .checked_claims import CheckedClaims, checked_claims
from .chunks import Chunk
from .declaring import artefact, metric
from .facts import is_blank
from .local_tools import Checker
from .score import Measured, NotApplicable, Reason
from .text import sentences

_WORDS: Final = 350  # of a chunk, about


@artefact
async def alignscore_support(
    answer_sentences: tuple[str, ...], contexts: Sequence[str], alignscore_model: Checker, language: str = "en"
) -> CheckedClaims:
    """The answer's sentences, and how well the contexts support each, as the model AlignScore has it."""
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

    Each sentence is put beside each chunk of the contexts, and the best chunk counts; details name it. Chunks are of
    equally many sentences, about 350 words. The authors know one context; of several each is cut by itself, so that a
    sentence that needs two of them is supported by neither. Where a chunk and the sentence are longer than the model's
    512 tokens the chunk's end is not read, and ``truncated`` is set.

    It was made for English summaries and rates the answer as a whole: a mean of 0.8 may be one invented sentence among
    five. Its authors report AUROC 0.874 for AlignScore-base on the six data sets of SummaC and 0.825 on the eleven of
    TRUE (large: 0.886 and 0.838), which says how well it orders answers; they name no threshold. A greeting or a
    refusal is aligned with nothing. It says nothing of whether the contexts are right.
    """
    return Measured(alignment(alignscore_support), alignscore_support.evidence())


def alignment(support: CheckedClaims) -> float:
    """Mean probability of some claims."""
    return sum(claim.probability for claim in support.claims) / len(support.claims)


def even_chunks(text: str, language: str = "en") -> list[str]:
    """The text cut between sentences into chunks of equally many sentences, on average of at most 350 words.

    This is AlignScore's own rule, but that a sentence of more words, such as a table, is cut between words first: the
    model would not read its end. A blank text has no chunks.

    >>> even_chunks("One two. Three.")
    ['One two. Three.']
    >>> [len(chunk.split()) for chunk in even_chunks("It takes two days. " * 100)]
    [200, 200]
    """
    found = sentences(text, language) or (() if is_blank(text) else (text.strip(),))
    pieces = [piece for sentence in found for piece in _pieces(sentence)]
    chunks = len(text.split()) // _WORDS + 1
    together = max(len(pieces) // chunks, 1)
    return [" ".join(pieces[first : first + together]) for first in range(0, len(pieces), together)]


def _pieces(sentence: str) -> Iterator[str]:
    words = sentence.split()
    if len(words) <= _WORDS:
        yield sentence
        return
    for first in range(0, len(words), _WORDS):
        yield " ".join(words[first : first + _WORDS])
