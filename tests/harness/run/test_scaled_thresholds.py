from proctor.harness.run.evaluation import run_metrics
from proctor.metrics import builtin_catalog


def test_thresholds_are_brought_to_the_scale_of_the_run():
    ids = ["judge_relevance", "judge_safety", "exact_match"]
    plan = builtin_catalog().plan(ids, options={"review": {"scale": [1, 5]}})
    metrics = run_metrics(plan, {"judge_safety": 0.5, "exact_match": 0.5})
    assert [(one.low, one.high, one.threshold) for one in metrics] == [(1, 5, 4.0), (1, 5, 3.0), (0, 1, 0.5)]
