"""Hallucination: how likely a checker finds the answer to be consistent with the contexts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from .. import InputError
from .declaring import artefact, metric
from .facts import is_blank
from .local_tools import Checker
from .score import Measured

_READS_CONTEXTS: Final = 1024  # tokens; models that read fewer were made for one passage


@dataclass(frozen=True, slots=True)
class ContextConsistency:
    """How likely the whole answer is consistent with each text that it was held against.

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
    said = await hallucination_model.check([(source, answer) for source in sources])
    probabilities = tuple(map(float, said.probabilities))
    return ContextConsistency(tuple(ranks), probabilities, hallucination_model.model_id, bool(said.truncated.any()))


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
    The whole answer is held against one context at a time, so an answer that needs two of them is called
    hallucinated; with ``joint_contexts: true`` it is held against all of them as one text, which takes HHEM 2.1.

    Two models fit. HHEM 2.1 (the default) reads up to 4,096 tokens; of more, the end of the context is not read.
    HHEM 1.0 (revision ``hhem-1.0-open``) reads 512 tokens, context and answer together. Where something was not read,
    ``truncated`` is set. Both know English only.

    What they are worth, by the publisher's own figures (balanced accuracy at 0.5, where chance is 50 %): 2.1 has 77 %
    on AggreFact-SOTA, 64 % on RAGTruth's summaries and 74 % on its questions; 1.0 has 79 % on the first and little more
    than chance on RAGTruth, so don't take it for answers of today's models. 2.1 finds 54 % of the hallucinated answers
    to RAGTruth's questions. So rank rows by it and read the lowest, and don't take one score for a verdict. It says
    nothing of whether the answer is true: "Paris" is hallucinated where the context says Berlin. The threshold of 0.75
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
