import pytest
from proctor.metrics import Facts, RunFacts, Status, builtin_catalog

PLAN = builtin_catalog().plan(["latency_ms", "cost", "tokens_in", "tokens_out"])
RUN = builtin_catalog().plan(["bot_error_rate", "empty_context_rate", "parse_failure_rate"])
JUDGING = builtin_catalog().plan(["judge_requests", "judge_cost", "judge_latency_ms"])
COUNTS: RunFacts = {
    "rows": 8,
    "failed_rows": 2,
    "retriever_rows": 4,
    "empty_context_rows": 1,
    "parse_failures": 3,
    "judge_requests": 10,
}


def outcomes(facts: Facts) -> dict[str, float | str | None]:
    return {score.metric: score.reason or score.value for score in PLAN.score_now(facts)}


def test_figures_are_handed_on() -> None:
    found = outcomes({"latency_ms": 120.5, "cost": 0.0, "tokens_in": 12, "tokens_out": 3})
    assert found == {"latency_ms": 120.5, "cost": 0.0, "tokens_in": 12.0, "tokens_out": 3.0}


def test_figures_that_nobody_reports() -> None:
    assert set(outcomes({}).values()) == {"not_reported"}
    assert set(outcomes({"latency_ms": None, "cost": None, "tokens_in": None}).values()) == {"not_reported"}


def test_a_row_without_an_answer_has_its_figures_all_the_same() -> None:
    assert outcomes({"answer": None, "latency_ms": 5.0})["latency_ms"] == 5.0


def test_a_negative_cost_is_no_cost() -> None:
    assert outcomes({"cost": -0.5})["cost"] == "negative_cost"
    (score,) = PLAN.subset(["cost"]).score_now({"cost": -0.5})
    assert (score.value, score.details) == (None, {"reported": -0.5})


def test_rates_over_a_run() -> None:
    assert {score.metric: score.value for score in RUN.score_run(COUNTS)} == {
        "bot_error_rate": 0.25,
        "empty_context_rate": 0.25,
        "parse_failure_rate": 0.3,
    }
    assert RUN.score_now({}) == []  # they are no metrics of a row
    assert RUN.bot_failed() == []


@pytest.mark.parametrize(
    ("count", "metric", "reason"),
    [
        ("rows", "bot_error_rate", "no_rows"),
        ("retriever_rows", "empty_context_rate", "contexts_missing"),
        ("judge_requests", "parse_failure_rate", "no_judge_requests"),
    ],
)
def test_a_rate_of_nothing_is_no_rate(count: str, metric: str, reason: str) -> None:
    (score,) = RUN.subset([metric]).score_run({**COUNTS, count: 0})
    assert (score.value, score.status, score.reason) == (None, Status.NOT_APPLICABLE, reason)


def test_a_count_that_is_not_there() -> None:
    assert {score.reason for score in RUN.score_run({})} == {"not_reported"}


def test_bookkeeping_of_the_judge() -> None:
    facts: RunFacts = {"judge_requests": 10, "judge_cost": 0.25, "judge_latency_ms": 80.0}
    assert {score.metric: score.value for score in JUDGING.score_run(facts)} == {
        "judge_requests": 10.0,
        "judge_cost": 0.25,
        "judge_latency_ms": 80.0,
    }
    assert {metric.better for metric in JUDGING.run_metrics} == {"neither"}
    assert {metric.threshold for metric in JUDGING.run_metrics} == {None}


def test_a_judge_that_was_not_asked_has_no_figures() -> None:
    facts: RunFacts = {"judge_requests": 0, "judge_cost": 0.0, "judge_latency_ms": 0.0}
    assert {score.reason for score in JUDGING.score_run(facts)} == {"no_judge_requests"}


def test_a_judge_without_prices_has_no_cost() -> None:
    (score,) = JUDGING.subset(["judge_cost"]).score_run({"judge_requests": 3, "judge_cost": None})
    assert score.reason == "not_reported"
