"""JudgedRow: a row whose verdicts are given, with the scripted judge and the embedder that go with it."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from proctor.metrics import Facts, Score, builtin_catalog
from proctor.metrics.judge.calls import (
    AnswerClaims,
    CheckAnswer,
    CheckExpected,
    CompareClaims,
    Entities,
    ExpectedClaims,
    ReverseQuestions,
)
from proctor.metrics.judge.verdicts import Agreement, AnswerSupport, ExpectedSupport, ReverseQuestion, Verdict
from scripted_judge import ScriptedJudge
from stub_embedder import StubEmbedder

CATALOG = builtin_catalog()
OURS = (
    "answer_correctness", "answer_relevancy", "faithfulness", "context_precision", "context_precision_ratio",
    "context_recall", "context_recall_claims", "context_relevancy", "context_entities_recall", "noise_sensitivity",
    "noise_sensitivity_relevant", "noise_sensitivity_irrelevant", "ragas", "claim_precision", "claim_recall_answer",
    "claim_f1", "claim_recall_context", "chunk_precision", "context_utilization", "self_knowledge",
    "unsupported_incorrect",
)  # fmt: skip
QUESTION = "What is the refund period?"
ANSWER = "Fourteen days. By post. In cash."
CHUNKS = (
    "Refunds take 14 days. Keep the receipt. Send it by post.",
    "We are in Ulm. We open at nine.",
    "The period begins with the purchase. Cash is not paid.",
)
EXPECTED = "It is 14 days. From the purchase. Keep the receipt. Ask in Ulm."
NEEDED = ("Refunds take 14 days.", "Keep the receipt.", "The period begins with the purchase.")
COSINES = (0.7736, 0.7701, 0.1639)

Held = Sequence[bool | int]


@dataclass(frozen=True)
class JudgedRow:
    """What the judge says of a row; the default is the worked example of the specification, section 9.

    A matrix has a row for each claim and a column for each chunk that is not blank.
    """

    right: Held = (1, 1, 0)
    covered: Held = (1, 1, 0, 0)
    supported: Held = (1, 1, 0)
    found: Held = (1, 1, 0, 0)
    answer_by_chunk: Sequence[Held] = ((1, 0, 0), (0, 0, 0), (0, 0, 0))
    expected_by_chunk: Sequence[Held] = ((1, 0, 0), (0, 0, 1), (0, 0, 0), (0, 0, 0))
    useful: Held = (1, 0, 1)
    attributed: Held = (1, 1, 0, 0)
    needed: Sequence[str] = NEEDED
    noncommittal: Held = (0, 0, 0)
    cosines: Sequence[float] = COSINES
    similarity: float = 0.6911
    entities: Mapping[str, tuple[str, ...]] = field(
        default_factory=lambda: {EXPECTED: ("Albert Einstein", "Ulm", "1879")}
    )
    context_entities: tuple[str, ...] = ("Albert Einstein", "1879", "Princeton")
    contexts: Sequence[str] = CHUNKS

    @property
    def facts(self) -> Facts:
        """All that the metrics may ask for; the judge is a new one each time."""
        return {
            "question": QUESTION,
            "answer": ANSWER,
            "expected": EXPECTED,
            "contexts": self.contexts,
            "judge": self.judge(),
            "embedder": self.embedder(),
        }

    def judge(self) -> ScriptedJudge:
        """A judge that answers every call with what is told here."""
        return ScriptedJudge(
            {
                AnswerClaims: tuple(f"claim {number}" for number in range(len(self.right))),
                ExpectedClaims: tuple(f"wanted {number}" for number in range(len(self.covered))),
                CheckAnswer: self._check_answer,
                CheckExpected: self._check_expected,
                CompareClaims: self._compare,
                ReverseQuestions: tuple(
                    ReverseQuestion(f"reverse {number}", bool(is_vague))
                    for number, is_vague in enumerate(self.noncommittal)
                ),
                Entities: lambda call: self.entities.get(call.text, self.context_entities),
            }
        )

    def embedder(self) -> StubEmbedder:
        """An embedder by which the cosines are those told here."""
        vectors = {QUESTION: (1.0, 0.0), ANSWER: (1.0, 0.0), EXPECTED: _at(self.similarity)}
        return StubEmbedder(vectors | {f"reverse {number}": _at(cosine) for number, cosine in enumerate(self.cosines)})

    def _check_answer(self, call: CheckAnswer) -> AnswerSupport:
        claims = _by_chunk(self.supported, self.answer_by_chunk) if call.claims else ()
        return AnswerSupport(claims, _each(sentence.text in self.needed for sentence in call.sentences))

    def _check_expected(self, call: CheckExpected) -> ExpectedSupport:
        return ExpectedSupport(
            claims=_by_chunk(self.found, self.expected_by_chunk) if call.claims else (),
            sentences=_each(self.attributed) if call.expected_sentences else (),
            useful=_each(self.useful) if call.usefulness else (),
            supporting=_each(sentence.text in self.needed for sentence in call.sentences),
        )

    def _compare(self, call: CompareClaims) -> Agreement:
        right = _each(self.right) if call.answer_claims else ()
        return Agreement(right, _each(self.covered) if call.expected_claims else ())


def _each(held: Sequence[object]) -> tuple[Verdict, ...]:
    return tuple(Verdict(bool(one), why="" if one else "not there") for one in held)


def _by_chunk(held: Held, matrix: Sequence[Held]) -> tuple[Verdict, ...]:
    return tuple(
        Verdict(bool(one), tuple(number for number, is_found in enumerate(chunks, 1) if is_found))
        for one, chunks in zip(held, matrix, strict=True)
    )


def _at(cosine: float) -> tuple[float, float]:
    return (cosine, math.sqrt(1 - cosine**2))


WORKED = {
    "answer_correctness": 0.75 * 4 / 7 + 0.25 * 0.6911,
    "answer_relevancy": 0.5692,
    "faithfulness": 2 / 3,
    "context_precision": 0.8333,
    "context_precision_ratio": 3 / 7,
    "context_recall": 0.5,
    "context_recall_claims": 0.5,
    "context_relevancy": 0.4286,
    "context_entities_recall": 0.6667,
    "noise_sensitivity": 1 / 3,
    "ragas": 0.6195,
    "claim_precision": 2 / 3,
    "claim_recall_answer": 2 / 4,
    "claim_f1": 0.5714,
    "claim_recall_context": 0.5,
    "chunk_precision": 2 / 3,
    "context_utilization": 1.0,
    "self_knowledge": 1 / 3,
    "unsupported_incorrect": 1 / 3,
}
# What there is for a blank answer: a value or a reason; other metrics don't look at the answer.
BLANK = {
    "answer_correctness": 0.0, "answer_relevancy": 0.0, "faithfulness": "no_claims", "noise_sensitivity": "no_claims",
    "noise_sensitivity_relevant": "no_claims", "noise_sensitivity_irrelevant": "no_claims",
    "ragas": "component_not_applicable", "claim_precision": "no_claims", "claim_recall_answer": 0.0,
    "claim_f1": "no_claims", "context_utilization": 0.0, "self_knowledge": "no_claims",
    "unsupported_incorrect": "no_claims",
}  # fmt: skip


def scores(names: Sequence[str], facts: Facts, **options: Mapping[str, object]) -> dict[str, Score]:
    plan = CATALOG.plan(names, options=options)
    return {score.metric: score for score in asyncio.run(plan.score(facts))}


def score(name: str, facts: Facts, **options: object) -> Score:
    return scores([name], facts, **({name: options} if options else {}))[name]


def changed(row: JudgedRow | None = None, scripts: Mapping[Any, Any] | None = None, **facts: Any) -> Facts:
    """The facts of a row, with other facts, and with other scripts for some calls."""
    made = (row or JudgedRow()).facts
    judge = made["judge"]
    assert isinstance(judge, ScriptedJudge)
    made["judge"] = ScriptedJudge({**judge.scripts, **(scripts or {})})
    return {**made, **facts}
