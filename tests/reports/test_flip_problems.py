"""Flips of perturbed questions as problems of their run."""

import contextlib

from perturbed_runs import RECALL, asked, giving, perturbations, stored_run
from proctor.reports.problems import Problem
from proctor.reports.report import findings_of, keep_findings
from proctor.reports.reported_run import RowKey, open_reported
from proctor.reports.store.database import Store
from proctor.reports.store.run import RunEvaluator, RunMetric

HALLUCINATION = RunMetric("hallucination", "v1", "higher", 0.0, 1.0, 0.75)
LOW = RunEvaluator("hallucination", "Hallucination", "hallucination", ["hallucination"])


def flips(path, run_id) -> list[Problem]:
    with contextlib.closing(Store.open(path)) as store:
        found = keep_findings(store, run_id)
        assert findings_of(open_reported(store, run_id)) == found  # through the tables and back
        return [each for each in found.problems if each.type == "robustness"]


def test_each_flip_is_a_problem_of_the_run_that_holds_the_rewording(tmp_path):
    path = tmp_path / "x.db"
    questions = [asked(number) for number in range(1, 5)]
    after = perturbations(questions, ["keyboard_typo"])
    values = {"q1": 0.3, "q2": 0.80, "q3": 0.75, "q4": None}
    values |= dict(zip([each.id for each in after], [0.8, 0.76, 0.7499, 0.9], strict=True))
    first = stored_run(path, questions, {"rag": giving(values)}, metrics=[HALLUCINATION], evaluators=[LOW])
    second = stored_run(
        path, after, {"rag": giving(values)}, "run (perturbed)", metrics=[HALLUCINATION], evaluators=[LOW]
    )
    assert flips(path, first) == []
    (problem,) = flips(path, second)
    assert problem.what == (
        "rag: 2 perturbed questions flip hallucination (1 from pass to fail, 1 from fail to pass); the worst: q3 passes"
        " hallucination with 0.75, and fails it with 0.7499 once perturbed (keyboard_typo at 0.1)."
    )
    found = (problem.severity, problem.bot, problem.metric, problem.evaluator)
    assert found == ("high", "rag", "hallucination", "hallucination")
    assert (problem.threshold, problem.value, problem.row_count) == (0.75, 0.7499, 2)
    assert problem.rows == (RowKey("q3~keyboard_typo-0.1-0", 0), RowKey("q1~keyboard_typo-0.1-0", 0))
    assert "proctor robustness" in problem.action


def test_one_for_a_pair_however_many_repeats_flip(tmp_path):
    path = tmp_path / "x.db"
    questions = [asked(1)]
    bot = {"rag": lambda question, _: (0.0 if "~" in question.id else 1.0, "yes")}
    stored_run(path, questions, bot, repeats=3)
    second = stored_run(path, perturbations(questions, ["comma"]), bot, "run (perturbed)", repeats=3)
    (problem,) = flips(path, second)
    assert problem.row_count == 3


def test_many_flips_do_not_flood_and_are_counted(tmp_path):
    path = tmp_path / "x.db"
    questions = [asked(number) for number in range(30)]
    values = {each.id: 1.0 for each in questions}
    after = perturbations(questions, ["comma"])
    values |= {each.id: 0.7 - number / 100 for number, each in enumerate(after)}
    stored_run(path, questions, {"rag": giving(values)})
    second = stored_run(path, after, {"rag": giving(values)}, "run (perturbed)")
    (problem,) = flips(path, second)
    assert problem.what.startswith(
        "rag: 30 perturbed questions flip keyword_recall (30 from pass to fail); the worst: q29 "
    )
    assert problem.rows[0] == RowKey("q29~comma-0.1-0", 0)  # the worst first
    assert (problem.row_count, len(problem.rows), problem.severity) == (30, 20, "high")


def test_both_in_one_run_and_copies_told_as_such(tmp_path):
    path = tmp_path / "x.db"
    questions = [asked(1)]
    after = perturbations(questions, ["identity"])
    values = {"q1": 1.0, after[0].id: 0.0}
    run = stored_run(path, [*questions, *after], {"rag": giving(values)})
    (problem,) = flips(path, run)
    assert problem.what.endswith("once asked again in the same words.")


def test_a_changed_bot_and_a_metric_of_another_version_have_none(tmp_path):
    path = tmp_path / "x.db"
    questions = [asked(1)]
    bot = {"rag": lambda question, _: (0.0 if "~" in question.id else 1.0, "yes")}
    stored_run(path, questions, bot, metrics=[RunMetric("keyword_recall", "v0", "higher", 0.0, 1.0, 0.75)])
    second = stored_run(path, perturbations(questions, ["comma"]), bot, "run (perturbed)")
    assert flips(path, second) == []
    other = tmp_path / "y.db"
    stored_run(other, questions, bot)
    second = stored_run(other, perturbations(questions, ["comma"]), bot, "run (perturbed)")
    with contextlib.closing(Store.open(other)) as store:
        store.connection.execute(
            "INSERT INTO bots SELECT 9, 'changed', name, kind, model, embedded, settings, prompts, parts, models"
            " FROM bots WHERE id = 1"
        )
        store.connection.execute("UPDATE run_bots SET bot_id = 9 WHERE run_id = 1")
        store.connection.execute("UPDATE run_rows SET bot_id = 9 WHERE run_id = 1")
    assert flips(other, second) == []


def test_kept_problems_are_worked_out_again_when_the_questions_run_goes_on(tmp_path):
    path = tmp_path / "x.db"
    questions = [asked(1), asked(2)]
    bot = {"rag": lambda question, _: (0.0 if "~" in question.id else 1.0, "yes")}
    stored_run(path, questions[:1], bot)
    second = stored_run(path, perturbations(questions, ["comma"]), bot, "run (perturbed)")
    assert [each.row_count for each in flips(path, second)] == [1]
    stored_run(path, questions, bot)  # a later run of the same suite
    assert [each.row_count for each in flips(path, second)] == [2]


def test_runs_without_rewordings_have_none_at_no_cost(tmp_path):
    path = tmp_path / "x.db"
    run = stored_run(path, [asked(1)], {"rag": lambda *_: (0.0, "yes")}, metrics=[RECALL])
    assert flips(path, run) == []
