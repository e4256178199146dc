"""LettuceDetect as a metric: the share of an answer's characters that are not marked."""

import asyncio
import json
from pathlib import Path

import pytest
import tiny_grounding
from proctor.knowledge.models.finding import ModelChoice
from proctor.knowledge.models.pool import LocalModels
from proctor.knowledge.models.span_detector import Grounded
from proctor.metrics import Facts, Score, builtin_catalog
from proctor.metrics.tools import SpanDetector
from stub_grounding import ScriptedDetector

PLAN = builtin_catalog().plan(["lettucedetect"])
ANSWER = "The capital is Paris 😀. It has 69 million people."
GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "lettucedetect.json").read_text("utf-8"))
CONTEXTS = ["The capital is Paris.", " ", "67 million live there."]


def scored(detector: SpanDetector | None, **changed: object) -> Score:
    facts: Facts = {"answer": ANSWER, "contexts": CONTEXTS, "lettucedetect_model": detector, **changed}  # type: ignore[typeddict-item]
    (score,) = asyncio.run(PLAN.score(facts))
    return score


def test_one_less_the_share_of_marked_characters() -> None:
    score = scored(ScriptedDetector(("Paris 😀", "69 million")))
    assert len(ANSWER) == 49
    assert score.value == pytest.approx(1 - (7 + 10) / 49)
    assert score.details == {
        "spans": [
            {"text": "Paris 😀", "start": 15, "end": 22, "confidence": 0.75},
            {"text": "69 million", "start": 31, "end": 41, "confidence": 0.75},
        ],
        "model": "stub@1",
        "truncated": False,
    }


def test_an_answer_passes_when_nothing_is_marked() -> None:
    (metric,) = PLAN.metrics
    assert (scored(ScriptedDetector()).value, metric.threshold) == (1.0, 1.0)
    assert scored(ScriptedDetector((ANSWER,))).value == 0.0


def test_the_model_sees_contexts_that_are_not_blank_and_the_question() -> None:
    detector = ScriptedDetector()
    scored(detector, question="What is the capital?")
    scored(detector)
    shown = ("The capital is Paris.", "67 million live there.")
    assert detector.asked == [Grounded(shown, "What is the capital?", ANSWER), Grounded(shown, "", ANSWER)]


def test_of_an_answer_that_was_cut_only_what_was_read_counts() -> None:
    score = scored(ScriptedDetector(("capital",), read=20))
    assert (score.value, score.details["truncated"]) == (pytest.approx(1 - 7 / 20), True)


def test_a_real_model_marks_the_characters(tmp_path) -> None:
    folder = tiny_grounding.span_detector_folder(tmp_path / "spans")
    models = LocalModels({"lettucedetect": ModelChoice(str(folder), device="cpu")})
    detector: SpanDetector = models.tool("lettucedetect")
    try:
        score = scored(detector)
    finally:
        models.close()
    spans = score.details["spans"]
    assert len(spans) > 0
    assert all(span["text"] == ANSWER[span["start"] : span["end"]] for span in spans)
    assert score.value == pytest.approx(1 - sum(len(span["text"]) for span in spans) / len(ANSWER))
    assert score.details["model"] == models.found("lettucedetect").model_id


def joined(spans: list[dict[str, float]]) -> list[tuple[float, float, float]]:
    """Upstream's spans; where a character of several bytes is in two of them, ours is one."""
    found: list[tuple[float, float, float]] = []
    for span in spans:
        if found and span["start"] < found[-1][1]:
            start, end, sure = found.pop()
            found.append((start, max(end, span["end"]), max(sure, span["confidence"])))
        else:
            found.append((span["start"], span["end"], span["confidence"]))
    return found


def test_spans_are_those_of_lettucedetect_itself(tmp_path: Path) -> None:
    cases = GOLDEN["cases"]
    folder = tiny_grounding.golden_detector_folder(tmp_path / "golden", GOLDEN)
    models = LocalModels({"lettucedetect": ModelChoice(str(folder), device="cpu")})
    detector: SpanDetector = models.tool("lettucedetect")
    rows = [Grounded(tuple(one["contexts"]), one["question"] or "", one["answer"]) for one in cases]
    try:
        found = asyncio.run(detector.mark(rows))
    finally:
        models.close()
    assert sum(len(case["spans"]) for case in cases) > 20
    for case, one in zip(cases, found, strict=True):
        wanted = joined(case["spans"])
        assert [(span.start, span.end) for span in one.spans] == [(start, end) for start, end, _ in wanted]
        assert [span.confidence for span in one.spans] == pytest.approx([sure for _, _, sure in wanted], abs=1e-5)
        assert not one.truncated
    overlapping = [case for case in cases if len(joined(case["spans"])) < len(case["spans"])]
    assert 0 < len(overlapping) < len(cases)


@pytest.mark.hub
def test_the_published_example_of_the_real_model() -> None:
    """What the authors' README says of its example."""
    models = LocalModels()
    if models.found("lettucedetect").folder is None:
        pytest.skip("the lettucedetect model is not on this machine: run 'proctor models fetch lettucedetect'")
    detector: SpanDetector = models.tool("lettucedetect")
    country = "France is a country in Europe. The capital of France is Paris. The population of France is 67 million."
    question = "What is the capital of France? What is the population of France?"
    answer = "The capital of France is Paris. The population of France is 69 million."
    (marked,) = asyncio.run(detector.mark([Grounded((country,), question, answer)]))
    models.close()
    (span,) = marked.spans
    assert (span.start, span.end) == (31, 71)
    assert span.confidence == pytest.approx(0.99444, abs=1e-3)
