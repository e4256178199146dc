import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from proctor import InputError
from proctor.metrics import Catalog, Facts, NotApplicable, RunFacts, Score, Status, builtin_catalog, metric
from proctor.metrics.classification import ConfusionMatrix, accuracy, confusion_matrix, f1, precision, recall
from tables import in_one_test

CATALOG = builtin_catalog()
FOUR = ("accuracy", "precision", "recall", "f1")
GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "classification.json").read_text("utf-8"))["cases"]
SPAM = [("spam", "spam"), ("ham", "ham"), ("ham", "spam"), ("spam", "spam"), ("ham", "ham"), ("other", "none")]


def run_scores(pairs: list[tuple[str, str]], **options: object) -> dict[str, Score]:
    given = dict.fromkeys(FOUR[1:], options) if options else {}
    facts: RunFacts = {"confusion": Counter(pairs)}
    return {score.metric: score for score in CATALOG.plan(FOUR, options=given).score_run(facts)}


def row(answer: str | None, *expected: str, **options: object) -> Score:
    facts: Facts = {"answer": answer, "expected_answers": expected}
    (score,) = CATALOG.plan(["row_correct"], options={"row_correct": options}).score_now(facts)
    return score


@in_one_test("case", GOLDEN)
def test_the_figures_are_those_of_scikit_learn(case: dict[str, object]) -> None:
    pairs = list(zip(case["expected"], case["predicted"], strict=True))
    found = run_scores(pairs, **({"positive_label": case["positive_label"]} if case["positive_label"] else {}))
    assert {name: score.value for name, score in found.items()} == pytest.approx(case["values"], abs=1e-12)
    table = confusion_matrix(Counter(pairs))
    assert [list(table.labels), list(table.columns), [list(line) for line in table.counts]] == [
        case["labels"],
        case["columns"],
        case["counts"],
    ]


def test_the_examples_of_the_specification() -> None:
    found = run_scores(SPAM)
    assert [round(score.value or 0, 4) for score in found.values()] == [0.6667, 0.5556, 0.5556, 0.5333]
    assert confusion_matrix(Counter(SPAM)) == ConfusionMatrix(
        ("ham", "other", "spam"), ("ham", "other", "spam", "none"), ((2, 0, 1, 0), (0, 0, 0, 1), (0, 0, 2, 0))
    )
    binary = run_scores(SPAM[:4], positive_label=" Spam ")
    assert [round(binary[name].value or 0, 4) for name in FOUR[1:]] == [0.6667, 1.0, 0.8]
    assert binary["f1"].details == {"positive_label": "spam"}


def test_each_label_has_its_own_figure_in_the_details() -> None:
    details = run_scores(SPAM)["recall"].details["by_label"]
    assert details == {"ham": pytest.approx(2 / 3), "other": 0.0, "spam": 1.0}


@pytest.mark.parametrize("pairs", [[], [("ham", "ham")], [("ham", "spam"), ("ham", "ham")]])
def test_fewer_than_two_expected_labels_say_nothing(pairs: list[tuple[str, str]]) -> None:
    for score in run_scores(pairs).values():
        assert (score.status, score.reason) == (Status.NOT_APPLICABLE, "single_class")


def test_a_positive_label_that_nobody_expects_is_a_mistake() -> None:
    score = run_scores(SPAM, positive_label="spm")["precision"]
    assert (score.status, score.value) == (Status.ERROR, None)
    assert score.details["message"] == "positive_label is 'spm'; the expected labels are ham, other, spam"


def test_a_row_is_right_when_the_labels_are_the_same_in_normal_form() -> None:
    right, wrong = row("  SPAM\n", "Spam"), row("spam!", "spam")
    assert (right.value, right.details) == (1.0, {"label": "spam", "prediction": "spam"})
    assert (wrong.value, wrong.details) == (0.0, {"label": "spam", "prediction": "spam!"})
    raw = row("SPAM", "Spam", raw_labels=True)
    assert (raw.value, raw.details) == (0.0, {"label": "Spam", "prediction": "SPAM"})


def test_a_blank_answer_is_a_wrong_prediction() -> None:
    score = row(" ", "spam")
    assert (score.value, score.details) == (0.0, {"label": "spam", "prediction": ""})


def test_rows_without_a_label_or_an_answer_are_left_out() -> None:
    assert row("spam", " ").reason == "expected_missing"
    assert row(None, "spam").reason == "answer_missing"


def test_of_several_labels_the_one_that_was_said_counts() -> None:
    score = row("Junk", "spam", "junk")
    assert (score.value, score.details) == (1.0, {"label": "junk", "prediction": "junk", "reference": 1})


@pytest.mark.parametrize("name", FOUR)
def test_each_of_the_four_brings_the_row_metric_along(name: str) -> None:
    plan = CATALOG.plan([name])
    assert [metric.id for metric in plan.metrics] == ["row_correct"]
    assert [metric.id for metric in plan.run_metrics] == [name]
    named = CATALOG.plan(["row_correct", "exact_match", name])
    assert [metric.id for metric in named.metrics] == ["row_correct", "exact_match"]


def test_an_option_of_the_rows_makes_another_version_of_the_run() -> None:
    versions = {
        CATALOG.plan(["accuracy"], options={"row_correct": {"raw_labels": raw}}).run_metrics[0].version
        for raw in (False, True)
    }
    assert len(versions) == 2


def test_a_run_metric_adds_up_row_metrics_that_there_are() -> None:
    @metric(level="run", row_metrics=("rows_correct",))
    def share(rows: int) -> float:
        """Share."""
        return float(rows)

    message = r"test_classification\.py:\d+: metric 'share' is computed from 'rows_correct', which is no row metric"
    with pytest.raises(InputError, match=message):
        Catalog.of(share)


labels = st.sampled_from(["red", "green", "blue"])


@given(st.lists(st.tuples(labels, st.one_of(labels, st.just("grey"))), min_size=2, max_size=30))
def test_properties_of_the_four(pairs: list[tuple[str, str]]) -> None:
    counts = Counter(pairs)
    try:
        values = [accuracy(counts), precision(counts).value, recall(counts).value, f1(counts).value]
    except NotApplicable:
        assert len({label for label, _ in pairs}) < 2
        return
    assert all(0 <= value <= 1 for value in values)
    assert (values[0] == 1) == (values[3] == 1) == all(label == said for label, said in pairs)
    table = confusion_matrix(counts)
    assert sum(map(sum, table.counts)) == len(pairs)


def test_texts_that_are_no_labels_take_no_table_of_rows_by_rows() -> None:
    pairs = [(f"label {number}", f"text {number}") for number in range(20_000)]
    found = run_scores([*pairs, ("yes", "yes")])
    assert found["accuracy"].value == pytest.approx(1 / 20_001)
    mistaken = run_scores(pairs, positive_label="none")["precision"]
    assert len(str(mistaken.details["message"])) < 500
