"""Metrics on words and characters: exact match, keyword recall, length, politeness, FAQ similarity."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from .declaring import metric
from .score import Measured, NotApplicable, Reason
from .text import in_order, normalise, token_cosine, token_set

POLITE_MARKERS: Final = (
    "please", "thank you", "thanks", "happy to help", "glad to help", "you're welcome", "sorry", "apologies",
    "kindly", "let me know",
)  # fmt: skip


@metric(source="Metric foundations page, strict FAQ bot")
def faq_similarity(question: str, faq_question: str) -> float:
    """Cosine of the token sets of the question and of the FAQ entry that the bot matched.

    >>> round(faq_similarity("How do I reset my password?", "How can I reset my password?"), 4)
    0.8333
    """
    return token_cosine(token_set(question), token_set(faq_question))


@metric(threshold=1.0, source="Metric foundations page, faq_basics (threshold: project default)")
def exact_match(answer: str, expected: str) -> float:
    """1 if answer and expected answer are the same after lower-casing and collapsing white space, else 0.

    A 1 can be trusted, a 0 can't: people accept many answers that are worded otherwise. Against human verdicts its
    balanced accuracy is 0.58 (evouna), 0.64 (nq301) and 0.50 (efficientqa), where a plain token F1 reaches 0.83, 0.78
    and 0.74. Measured by ``tests/benchmarks/measure_evaluators.py correctness``.

    >>> exact_match("  The Refund takes 5  days ", "the refund takes 5 days")
    1.0
    """
    return float(normalise(answer) == normalise(expected))


@metric(threshold=0.75, source="Metric foundations page, faq_basics (threshold: project default)")
def keyword_recall(answer: str, expected: str) -> float | Measured:
    """Share of the expected answer's distinct words that the answer says.

    Those that it doesn't say stand in the details.

    For short facts it is the best of the plain metrics once all accepted answers are given: AUROC against human
    verdicts 0.94 on evouna (token F1: 0.89) and 0.82 on nq301 (0.81). Where right and wrong answers use the same words
    it is no better than token F1: 0.75 on efficientqa (0.76) and 0.76 on student_answers (0.75); there a "not", or a
    guess of several names, is not noticed. Measured by ``tests/benchmarks/measure_evaluators.py correctness``.

    >>> keyword_recall("at nine", "nine sharp")
    Measured(value=0.5, details={'missing': ['sharp']})
    """
    wanted = token_set(expected)
    if not wanted:
        raise NotApplicable(Reason.EXPECTED_MISSING, tokens=0)
    missing = wanted - token_set(answer)
    value = (len(wanted) - len(missing)) / len(wanted)
    return Measured(value, {"missing": in_order(expected, missing)}) if missing else value


@metric(better="neither", high=None, blank_answer="measure", source="Metric foundations page, faq_basics")
def answer_length(answer: str) -> Measured:
    """Length of the answer in characters, untrimmed; its words are in the details.

    >>> answer_length("At nine.")
    Measured(value=8.0, details={'words': 2})
    """
    return Measured(float(len(answer)), {"words": len(answer.split())})


@metric(source="Metric foundations page, faq_basics")
def politeness(answer: str, *, markers: Sequence[str] = POLITE_MARKERS) -> float:
    """Half a point for each distinct polite phrase in the answer, at most 1.

    >>> politeness("Please wait.")
    0.5
    """
    lowered = answer.lower()
    found = 0
    for phrase, as_words in _phrases(tuple(markers)):
        # The plain search is there for speed: most answers hold none of the phrases.
        if phrase in lowered and as_words.search(lowered):
            found += 1
            if found == 2:
                return 1.0
    return found / 2


@cache
def _phrases(markers: tuple[str, ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Each phrase in lower case, with a pattern that finds it where it neither begins nor ends inside a word."""
    lowered = dict.fromkeys(marker.lower() for marker in markers if marker.strip())
    return tuple((phrase, re.compile(rf"(?<!\w){re.escape(phrase)}(?!\w)")) for phrase in lowered)
