import asyncio
import json
import math
from pathlib import Path

import pytest
from proctor.knowledge.models.finding import ModelChoice
from proctor.knowledge.models.pool import LocalModels
from proctor.metrics import Facts, Score, builtin_catalog
from proctor.metrics.tools import Classifier
from stub_classifier import StubClassifier
from tiny_classifier import TOXIC_BERT, golden_folder

IDS = ("toxicity", "severe_toxicity", "obscene", "threat", "insult", "identity_attack")
PLAN = builtin_catalog().plan(IDS)
GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "detoxify.json").read_text("utf-8"))
UNBIASED = (
    *("toxicity", "severe_toxicity", "obscene", "identity_attack", "insult", "threat", "sexual_explicit"),
    *("male", "female", "homosexual_gay_or_lesbian"),
)
FIRST, SECOND = "This is the first sentence.", "And that is the second one."


def scores(facts: Facts, classifier: Classifier | None) -> dict[str, Score]:
    return {score.metric: score for score in asyncio.run(PLAN.score({**facts, "toxicity_model": classifier}))}


def stub(labels: tuple[str, ...] = TOXIC_BERT, **given: object) -> StubClassifier:
    return StubClassifier(labels, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=[case["name"] for case in GOLDEN["cases"]])
def test_values_are_those_of_detoxify(case: dict[str, object], tmp_path: Path) -> None:
    folder = golden_folder(tmp_path / "tiny", GOLDEN, case)
    models = LocalModels({"toxicity": ModelChoice(str(folder))})
    sentences = [sentence for sentence in case["sentences"] if sentence]
    by_sentence = {s: v for s, v in zip(case["sentences"], case["values"], strict=True) if s}
    try:
        model = models.tool("toxicity")
        together = scores({"answer": "\n".join(sentences)}, model)
        alone = {sentence: scores({"answer": sentence}, model) for sentence in sentences}
    finally:
        models.close()
    for name in IDS:
        upstream = [by_sentence[sentence][name] for sentence in sentences]
        assert [alone[sentence][name].value for sentence in sentences] == pytest.approx(upstream, abs=1e-5)
        assert together[name].details["probabilities"] == pytest.approx(upstream, abs=1e-5)
        assert together[name].value == pytest.approx(max(upstream), abs=1e-5)
        assert together[name].details["worst_sentence"] == sentences[upstream.index(max(upstream))]
        assert together[name].details["model"] == models.found("toxicity").model_id
        assert together[name].details["truncated"] is True
    too_long = [tokens > GOLDEN["window"] for s, tokens in zip(case["sentences"], case["tokens"], strict=True) if s]
    assert [alone[sentence]["threat"].details["truncated"] for sentence in sentences] == too_long
    assert True in too_long and False in too_long


def test_the_example_of_the_specification() -> None:
    logits = {FIRST: (2.0, -3.0, 1.2, -9, -9, -9), SECOND: (-1.5, -4.0, -2.2, -9, -9, -9)}
    found = scores({"answer": f"{FIRST} {SECOND}"}, stub(logits=logits))
    values = [found[name].value for name in ("toxicity", "severe_toxicity", "obscene")]
    assert values == pytest.approx([0.8808, 0.0474, 0.7685], abs=1e-4)
    assert found["toxicity"].details == {
        "model": "stub@1",
        "truncated": False,
        "worst_sentence": FIRST,
        "probabilities": pytest.approx([0.8808, 0.1824], abs=1e-4),
    }


def test_each_label_names_its_own_worst_sentence() -> None:
    logits = {FIRST: (2.0, 0, 0, -5.0, 0, 0), SECOND: (1.0, 0, 0, 3.0, 0, 0)}
    found = scores({"answer": f"{FIRST} {SECOND}"}, stub(logits=logits))
    assert found["toxicity"].details["worst_sentence"] == FIRST
    assert found["threat"].details["worst_sentence"] == SECOND


@pytest.mark.parametrize(
    "labels",
    [TOXIC_BERT, UNBIASED, tuple(reversed(UNBIASED)), tuple(label.upper().replace("_", "-") for label in TOXIC_BERT)],
    ids=["toxic-bert", "unbiased", "turned", "written otherwise"],
)
def test_labels_are_found_by_name_whatever_their_order(labels: tuple[str, ...]) -> None:
    renamed = {"toxic": "toxicity", "severe_toxic": "severe_toxicity", "identity_hate": "identity_attack"}
    ours = [renamed.get(name, name) for name in (label.lower().replace("-", "_") for label in labels)]
    logits = [float(IDS.index(name)) if name in IDS else 50.0 for name in ours]
    found = scores({"answer": FIRST}, stub(labels, logits={FIRST: logits}))
    assert {name: score.value for name, score in found.items()} == {
        name: pytest.approx(1 / (1 + math.exp(-place))) for place, name in enumerate(IDS)
    }


def test_a_label_that_the_model_misses_is_an_error_and_never_zero() -> None:
    found = scores({"answer": FIRST}, stub(("toxic", "insult"), logits={FIRST: (1.0, 2.0)}))
    assert found["toxicity"].value == pytest.approx(0.7311, abs=1e-4)
    assert found["insult"].value == pytest.approx(0.8808, abs=1e-4)
    for name in ("severe_toxicity", "obscene", "threat", "identity_attack"):
        assert (found[name].value, found[name].status, found[name].reason) == (None, "error", "model_unavailable")
    assert found["threat"].details["message"] == (
        "The model stub@1 has no label for 'threat' among toxic, insult: take a model that has one."
    )


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (
            tuple(f"LABEL_{n}" for n in range(6)),
            "has 6 outputs without names, so it is unknown which of them is 'toxicity'",
        ),
        (("toxic", "toxicity", "threat"), "has more than one label for 'toxicity' among toxic, toxicity, threat"),
        (("neutral", "toxic"), "has the label 'neutral', so its labels exclude one another"),
        (("Non-Toxic", "Toxic"), "has the label 'Non-Toxic', so its labels exclude one another"),
    ],
)
def test_outputs_that_cannot_be_told_apart_are_refused(labels: tuple[str, ...], message: str) -> None:
    score = scores({"answer": FIRST}, stub(labels))["toxicity"]
    assert (score.status, score.reason) == ("error", "model_unavailable")
    assert message in str(score.details["message"])


def test_a_sigmoid_even_of_what_was_saved_as_a_single_label_model() -> None:
    found = scores({"answer": FIRST}, stub(logits={FIRST: (5.0,) * 6}))
    assert {round(score.value or 0, 4) for score in found.values()} == {0.9933}


def test_extreme_logits_stay_in_range() -> None:
    found = scores({"answer": FIRST}, stub(logits={FIRST: (1e30, -1e30, math.inf, -math.inf, 0.0, -800.0)}))
    assert [found[name].value for name in IDS] == [1.0, 0.0, 1.0, 0.0, 0.5, pytest.approx(0.0, abs=1e-300)]


def test_a_model_that_breaks_gives_no_value() -> None:
    score = scores({"answer": FIRST}, stub(logits={FIRST: (math.nan, 0, 0, 0, 0, 0)}))["toxicity"]
    assert (score.value, score.status, score.reason) == (None, "error", "not_finite")


def test_truncation_of_any_sentence_is_noted() -> None:
    found = scores({"answer": f"{FIRST} {SECOND}"}, stub(truncated=frozenset({SECOND})))
    assert all(score.details["truncated"] is True for score in found.values())


def test_a_row_is_asked_once_for_all_six() -> None:
    classifier = stub()
    scores({"answer": f"{FIRST} {SECOND}"}, classifier)
    assert classifier.asked == [(FIRST, SECOND)]
