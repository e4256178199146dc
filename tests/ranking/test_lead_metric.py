"""The metric by which a run is looked at first."""

import contextlib

import pytest
from proctor.metrics.score import Score, Status
from proctor.reports.ranking.lead_metric import lead_metric
from proctor.reports.run import RunMetric
from proctor.reports.summary import summarise
from report_rows import LENGTH, MATCH, Book, ok, row

LATENCY = RunMetric("latency_ms", "v1", "lower", 0.0, None, None)
RATE = RunMetric("bot_error_rate", "v1", "lower", 0.0, 1.0, 0.05, level="run")
SIMILAR = RunMetric("answer_similarity", "v1", "higher", -1.0, 1.0, None)
TONE = RunMetric("tone", "v1", "higher", 0.0, 1.0, None)


@pytest.fixture
def led(tmp_path):
    def lead_by(metrics, values):
        with contextlib.closing(Book(tmp_path / "proctor.db", metrics=metrics, bots=("left", "right"))) as book:
            for bot in ("left", "right"):
                scores = [
                    Score(name, None, Status.NOT_APPLICABLE, "expected_missing") if value is None else ok(name, value)
                    for name, value in values.items()
                ]
                book.put(row(book.run, bot, "q1"), *scores)
            book.writer.close()
            return lead_metric(summarise(book.store, book.run.id))

    return lead_by


def test_what_says_who_is_right_comes_before_what_does_not(led):
    assert led((TONE, LENGTH, MATCH), {"tone": 0.5, LENGTH.name: 7, "exact_match": 1.0}).name == "exact_match"


def test_hardly_any_exact_match_tells_little(led):
    assert led((MATCH, SIMILAR), {"exact_match": 0.0, "answer_similarity": 0.8}).name == "answer_similarity"


def test_figures_of_a_whole_run_and_what_an_answer_takes_lead_nothing(led):
    assert led((RATE, LATENCY, TONE), {"latency_ms": 20.0, "tone": 0.5}).name == "tone"


def test_there_is_none_without_a_value(led):
    assert led((LATENCY, TONE), {"latency_ms": 20.0, "tone": None}) is None
