import asyncio
import math

import pytest
from proctor.metrics import Score, builtin_catalog
from proctor.metrics.tools import Classifier
from stub_classifier import StubClassifier

CATALOG = builtin_catalog()
ANSWER = "They always lie. Everybody knows it."
D4DATA = ("Non-biased", "Biased")


def score(classifier: Classifier | None, answer: str = ANSWER, **options: object) -> Score:
    plan = CATALOG.plan(["fairness_bias"], {"fairness_bias": options} if options else {})
    (found,) = asyncio.run(plan.score({"answer": answer, "fairness_bias_model": classifier}))
    return found


def said(*logits: float, labels: tuple[str, ...] = D4DATA) -> StubClassifier:
    return StubClassifier(labels, {ANSWER: logits})


def test_fairness_bias_is_the_softmax_of_the_label() -> None:
    found = score(said(0.9, 0.1))
    assert found.value == pytest.approx(0.3100, abs=1e-4)
    assert found.details == {
        "model": "stub@1",
        "truncated": False,
        "label": "Non-biased",
        "probability": pytest.approx(0.3100, abs=1e-4),
    }


@pytest.mark.parametrize(
    ("logits", "value", "label"),
    [((0.9, 0.1), 0.1550, "Non-biased"), ((0.0, math.log(4)), 0.9, "Biased"), ((0.0, 0.0), 0.25, "Non-biased")],
)
def test_the_stretched_scale_is_that_of_the_reference(logits: tuple[float, ...], value: float, label: str) -> None:
    found = score(said(*logits), scale="stretched")
    assert found.value == pytest.approx(value, abs=1e-4)
    assert found.details["label"] == label
    assert found.details["probability"] == score(said(*logits)).value


def test_a_threshold_on_either_scale_decides_alike() -> None:
    for logit in (-3.0, -0.2, -0.01, 0.01, 0.2, 3.0):
        plain, stretched = score(said(0.0, logit)).value, score(said(0.0, logit), scale="stretched").value
        assert plain is not None and stretched is not None
        assert (plain > 0.5) == (stretched > 0.75) == (logit > 0)
        assert not 0.25 < stretched < 0.75


@pytest.mark.parametrize(
    ("labels", "logits"),
    [
        (("Biased", "Non-biased"), (0.1, 0.9)),
        (("non_biased", "BIASED"), (0.9, 0.1)),
        (("Unbiased", "biased"), (0.9, 0.1)),
        (("BIASED", "NEUTRAL"), (0.1, 0.9)),
    ],
)
def test_labels_are_found_by_name(labels: tuple[str, ...], logits: tuple[float, ...]) -> None:
    assert score(said(*logits, labels=labels)).value == pytest.approx(0.3100, abs=1e-4)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (("LABEL_0", "LABEL_1"), "has 2 outputs without names, so it is unknown which of them is 'biased'"),
        (("left", "right"), "has no label for 'biased' among left, right"),
        (("biased", "other"), "has no label for 'non-biased' among biased, other"),
        (("non-biased", "biased", "unclear"), "wanted two, biased and non-biased"),
    ],
)
def test_other_labels_are_refused(labels: tuple[str, ...], message: str) -> None:
    found = score(said(*[0.0] * len(labels), labels=labels))
    assert (found.value, found.status, found.reason) == (None, "error", "model_unavailable")
    assert message in str(found.details["message"])


def test_the_whole_answer_is_asked_about_and_truncation_noted() -> None:
    classifier = StubClassifier(D4DATA, truncated=frozenset({ANSWER}))
    assert score(classifier).details["truncated"] is True
    assert classifier.asked == [(ANSWER,)]


def test_extreme_logits_stay_in_range() -> None:
    assert score(said(-1e5, 1e5)).value == 1.0
    assert score(said(1e5, -1e5)).value == 0.0


def test_the_documentation_warns_of_the_model() -> None:
    assert "62 %" in CATALOG.metrics["fairness_bias"].summary
