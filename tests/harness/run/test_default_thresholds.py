"""Thresholds that nobody set are told as defaults; problems and pass marks are for those of the suite alone."""

import contextlib
import json
import xml.etree.ElementTree as ElementTree

import orjson
import pytest
from page_html import read_html
from proctor.harness.run.evaluation import run_metrics
from proctor.metrics import builtin_catalog
from proctor.reports.pages.row_index import row_index
from proctor.reports.pages.rows import columns_of
from proctor.reports.reported_run import open_reported
from proctor.reports.store.database import Store
from suites import write_suite
from typed import proctor

BOTS = {name: {"type": "python", "target": f"bot.py:{name}"} for name in ("mine", "other")}
CODE = "def mine(question): return 'It was ' + question.split()[-1]\ndef other(question): return 'nothing'\n"
METRICS = ["exact_match", "keyword_recall", "rouge"]


def reported(folder, what):
    return proctor("report", what, "-", folder=folder).stdout


def problems(folder):
    return [(each["bot"], each["metric"]) for each in json.loads(reported(folder, "--json"))["problems"]]


@pytest.fixture(scope="module")
def unset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("unset")
    write_suite(folder, CODE, bots=BOTS, metrics=METRICS)
    proctor("run", "suite.yaml", folder=folder)
    return folder


def test_no_problem_and_no_mark_without_a_threshold_of_the_suite(unset):
    assert problems(unset) == []
    assert "No problems" in reported(unset, "--markdown")
    page = reported(unset, "--html")
    overview = read_html(page).one(id="overview")
    assert not [each for each in overview.all("span", class_="label") if "missed" in each.text or "met" in each.text]


def test_the_evaluators_own_results_say_that_the_threshold_is_a_default(unset):
    (exact, *_) = json.loads(reported(unset, "--json"))["evaluators"]
    assert exact["parameters"]["metric_threshold"] == 1.0
    assert exact["parameters"]["metric_threshold_is_default"] is True
    assert exact["metrics"][0]["threshold_is_default"] is True
    assert "≥ 1.00 (default)" in reported(unset, "--html")
    assert "failed the most difficult test case by Keyword recall (default threshold 0.75)" in reported(
        unset, "--markdown"
    )


def test_rows_are_not_said_to_pass_or_fail_by_a_default(unset):
    with contextlib.closing(Store.open(unset / "proctor.db", create=False)) as store:
        index = orjson.loads(row_index(columns_of(open_reported(store, 1))).written({}))
    assert {metric["is_default"] for metric in index["metrics"]} == {True}
    marks = {mark for column in index["rows"] for marks in column["passed"] for mark in marks}
    assert marks == {"-"}


def test_junit_has_no_case_for_what_nobody_wants(unset):
    root = ElementTree.fromstring(reported(unset, "--junit"))  # noqa: S314 - our own
    assert [case.get("name") for case in root.iter("testcase")] == ["answers", "answers"]


@pytest.mark.parametrize(
    "suite",
    [
        {"metrics": METRICS, "thresholds": {"keyword_recall": 0.9}},
        {"metrics": ["exact_match", {"keyword_recall": {"metric_threshold": 0.9}}, "rouge"]},
    ],
    ids=["thresholds", "metric_threshold"],
)
def test_what_the_suite_sets_is_held_against_the_bots(tmp_path, suite):
    write_suite(tmp_path, CODE, bots=BOTS, **suite)
    shown = proctor("run", "suite.yaml", folder=tmp_path).stdout
    assert problems(tmp_path) == [("other", "keyword_recall"), ("mine", "keyword_recall")]
    assert "2 problems (1 high, 1 medium); the first: other: keyword_recall is 0, wanted at least 0.9." in shown
    root = ElementTree.fromstring(reported(tmp_path, "--junit"))  # noqa: S314 - our own
    assert [case.get("name") for case in root.iter("testcase")] == ["answers", "keyword_recall"] * 2


def test_a_threshold_that_is_taken_out_of_the_suite_raises_problems_no_more(tmp_path):
    write_suite(tmp_path, CODE, bots=BOTS, metrics=["keyword_recall"], thresholds={"keyword_recall": 0.75})
    proctor("run", "suite.yaml", folder=tmp_path)
    assert len(problems(tmp_path)) == 2
    write_suite(tmp_path, CODE, bots=BOTS, metrics=["keyword_recall"])
    proctor("run", "suite.yaml", folder=tmp_path)
    assert problems(tmp_path) == []


def test_a_metric_of_ones_own_has_the_threshold_that_its_author_wrote(tmp_path):
    (tmp_path / "own.py").write_text(
        "from proctor.metrics import metric\n\n\n"
        "@metric(threshold=0.5)\ndef says_it(answer: str) -> float:\n"
        '    """Whether it says it."""\n    return float("It was" in answer)\n'
    )
    write_suite(tmp_path, CODE, bots=BOTS, metrics=["says_it", "exact_match"], metric_files=["own.py"])
    proctor("run", "suite.yaml", folder=tmp_path)
    assert problems(tmp_path) == [("other", "says_it")]


def test_all_metrics_asks_for_the_defaults_of_its_evaluator(tmp_path):
    write_suite(tmp_path, CODE, bots=BOTS, metrics=[{"rouge": {"all_metrics": True}}, "exact_match"])
    proctor("run", "suite.yaml", folder=tmp_path)
    assert {metric for _, metric in problems(tmp_path)} == {"rouge_1", "rouge_2", "rouge_l"}


# scaled_thresholds


def test_thresholds_are_brought_to_the_scale_of_the_run():
    ids = ["judge_relevance", "judge_safety", "exact_match"]
    plan = builtin_catalog().plan(ids, options={"review": {"scale": [1, 5]}})
    metrics = run_metrics(plan, {"judge_safety": 0.5, "exact_match": 0.5})
    assert [(one.low, one.high, one.threshold) for one in metrics] == [(1, 5, 4.0), (1, 5, 3.0), (0, 1, 0.5)]
