"""Whether another judge, in another run of the database, would rank the bots the same."""

from pathlib import Path

import pytest
from proctor.reports.compare.operands import open_operand
from proctor.reports.ranking.ranked_run import judges_of
from ranked_tables import run_of, table
from runs_with_traces import says, write_run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "p.db"


def constant(**values):
    return {bot: lambda _, value=value: says(value) for bot, value in values.items()}


def judges(path, run="latest"):
    with open_operand(run, path) as operand:
        return judges_of(operand.run, ["right"], "source")


def test_another_judge_of_the_same_answers_is_found_and_compared(path):
    first = write_run(path, constant(a=0.9, b=0.5, c=0.1), judge="strict", version="v1")
    write_run(path, constant(a=0.9, b=0.2, c=0.7), judge="mild", version="v2")
    found = judges(path)
    assert (found.judge, found.panel) == ("mild", False)
    (only,) = found.found
    assert list(only.rankings) == ["mild", "strict"]
    assert only.runs["strict"] == first
    assert [only.rankings[judge].winners for judge in ("mild", "strict")] == [("a",), ("a",)]
    assert only.agreement.taus[0, 1] == pytest.approx(1 / 3)
    assert only.rankings["strict"].questions == 10


def test_the_same_judge_twice_is_one_judge(path):
    write_run(path, constant(a=0.9, b=0.5), judge="strict", version="v1")
    write_run(path, constant(a=0.9, b=0.5), judge="strict", version="v2")
    found = judges(path)
    assert (found.judge, found.metrics, found.found) == ("strict", ("right",), ())


def test_of_another_judge_the_latest_run_counts(path):
    write_run(path, constant(a=0.1, b=0.5), judge="old", version="v1")
    later = write_run(path, constant(a=0.9, b=0.5), judge="old", version="v2")
    write_run(path, constant(a=0.9, b=0.5), judge="new", version="v3")
    (only,) = judges(path).found
    assert only.runs["old"] == later
    assert only.agreement.concordance == 1.0


def test_other_bots_and_other_questions_are_no_second_opinion(path):
    settings = {bot: {"prompt": "new"} for bot in "ab"}
    write_run(path, constant(a=0.1, b=0.5), judge="other bots", version="v1", settings=settings)
    write_run(path, constant(a=0.1, b=0.5), judge="other texts", version="v2", texts="Why {}".format)
    write_run(path, constant(a=0.9, b=0.5), judge="mine", version="v3")
    assert judges(path).found == ()


def test_only_questions_that_both_were_asked_count(path):
    write_run(path, constant(a=0.1, b=0.5), judge="other", version="v1",
              texts=lambda number: f"{'What is' if number < 4 else 'Why'} {number}")  # fmt: skip
    write_run(path, constant(a=0.9, b=0.5), judge="mine", version="v3")
    (only,) = judges(path).found
    assert (only.rankings["mine"].questions, only.rankings["other"].questions) == (10, 4)
    assert only.agreement.taus[0, 1] == -1


def test_a_run_without_a_judge_says_so():
    assert judges_of(run_of(table("a", [1.0]), table("b", [0.0])), ["right"], "source").judge is None


def test_a_panel_is_one_judge():
    manifest = {"judge": {"name": "x, y, z", "model_id": "x + y + z; votes each: 1; majority", "metrics": ["right"]}}
    run = run_of(table("a", [1.0]), table("b", [0.0]), settings=manifest)
    found = judges_of(run, ["right"], "source")
    assert (found.judge, found.panel, found.found) == ("x, y, z", True, ())
