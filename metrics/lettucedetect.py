"""LettuceDetect: the characters of the answer that nothing in the contexts supports."""

from collections.abc import Sequence
from dataclasses import dataclass

from .declaring import artefact, metric
from .facts import is_blank
from .local_tools import Grounded, Marked, SpanDetector
from .score import Measured, NotApplicable, Reason
from .text import shown


@dataclass(frozen=True, slots=True)
class MarkedAnswer:
    """An answer, what in it is unsupported, and the model that says so."""

    answer: str
    marked: Marked
    model: str

    @property
    def supported(self) -> float:
        """Share of the answer's characters that are not marked, of those that were read."""
        return 1 - sum(span.end - span.start for span in self.marked.spans) / self.marked.read

    def evidence(self) -> dict[str, object]:
        """What stands in a score's details: the marked spans with how they begin, the model, if it read all."""
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
    """What in the answer the contexts don't support, as the model LettuceDetect has it."""
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
    each marked span with its place in the answer and the model's confidence, the greatest of its words. A row passes
    when nothing is marked: one wrong number is few characters and makes an answer wrong all the same. What is longer
    than 4,096 tokens is cut from the end of the contexts, so that what stands there counts as unsupported;
    ``truncated`` is set.

    The model knows English only, and was trained on one data set, RAGTruth: questions, summaries and descriptions of
    businesses. There its authors report F1 0.768 for "is anything in the answer unsupported" (large: 0.792; a tuned
    Llama-3-8B: 0.839; GPT-4 with a prompt: 0.634), and of the large one F1 0.589 for which characters: see where it
    points, and don't count its characters to the last. It names no context, and says nothing of whether the contexts
    are right.
    """
    return Measured(lettucedetect_spans.supported, lettucedetect_spans.evidence())
