"""Perplexity: how surprising the answer is to a language model."""

import math
import sys
from typing import Final

from .declaring import artefact, metric
from .likelihoods import Scored, Stride, scored
from .local_tools import Continuation, LanguageModel
from .score import Measured

_GREATEST_MEAN: Final = math.log(sys.float_info.max)


@artefact
async def answer_likelihood(answer: str, perplexity_model: LanguageModel, *, stride: Stride = None) -> Scored:
    """How likely a language model finds the answer; with ``stride``, also what is beyond its window."""
    return await scored(perplexity_model, [Continuation(answer, stride=stride)])


@metric(
    better="lower",
    low=1.0,
    high=None,
    blank_answer="not_applicable",
    source="H2O evaluators page, Perplexity (threshold: its 0.5 is below the least possible value)",
)
def perplexity(answer_likelihood: Scored) -> Measured:
    """Exponential of the mean cross-entropy of the answer's tokens, the first excepted, under a language model.

    Nothing is put before the answer, so its first token is not scored, and an answer of one token has no value. Of an
    answer that is longer than the model's window (1024 tokens for distilgpt2) only so much is scored, and ``truncated``
    is set; the option ``stride`` of ``answer_likelihood`` has a window move over all of it by so many tokens.

    It tells broken text from fluent text of the same kind and length. It says nothing about whether an answer is right
    or fits the question, and it is low for what is dull, quoted or repeated: a loop is the least perplexing text there
    is. Short answers, names, figures, code and languages other than English are perplexing to distilgpt2 whatever their
    quality, and the values of two models, or of two tokenizers, can't be compared. We know of no published threshold,
    and of no published agreement with people's ratings of answers.
    """
    (mean,) = answer_likelihood.means
    # A server may give a token next to no probability: what is too great for a number is no value.
    value = math.inf if mean > _GREATEST_MEAN else math.exp(mean)
    return Measured(value, {**answer_likelihood.evidence(), "mean_nll": mean})
