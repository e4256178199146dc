"""What a person reads who asks how many questions a comparison needs."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from small_runs import FakeBot, numbered, run_into
from typed import proctor


def modulo(step: int) -> Callable[[str], str]:
    """A bot's answers: right for numbers below the step."""
    return lambda question: str(int(question.split()[-1]) % step)


@pytest.fixture(scope="module")
def evaluations(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("planned")
    bots = [FakeBot(f"bot{step}", modulo(step)) for step in (3, 30, 50)]
    run_into(folder / "proctor.db", bots, numbered(range(60)))
    return folder


def test_a_plan_for_every_pair(evaluations):
    done = proctor("plan", "--metric", "exact_match", "--delta", "0.05", folder=evaluations)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "exact_match: how many questions for a difference of 0.05?"
    assert all(len(line) <= 80 for line in lines)
    assert [line.split("  ")[0] for line in lines if line.startswith("bot")] == [
        "bot3, bot30",
        "bot3, bot50",
        "bot30, bot50",
    ]
    assert any("--repeat 3" in line for line in lines)


def test_one_bot_is_planned_under_an_assumption_that_is_told(evaluations):
    done = proctor("plan", "latest:bot3", "--metric", "exact_match", "--delta", "0.1", folder=evaluations)
    assert done.returncode == 0, done.stderr
    assert "one bot alone" in done.stdout


def test_machines_get_the_plan_too(evaluations):
    found = json.loads(
        proctor("plan", "-m", "exact_match", "--delta", "0.05", "--bot", "bot50", "--json", folder=evaluations).stdout
    )
    assert [pair["bots"] for pair in found["pairs"]] == [["bot3", "bot50"], ["bot30", "bot50"]]
    assert found["delta"] == 0.05
    assert all(pair["needs"][0]["to_settle"] > pair["needs"][0]["to_show"] > 60 for pair in found["pairs"])
    table = proctor("plan", "-m", "exact_match", "--delta", "0.05", "--csv", folder=evaluations).stdout
    rows = list(csv.DictReader(table.splitlines()[1:]))
    assert {row["on"] for row in rows} == {"60"}  # a count has no point, as in the terminal
    assert rows[1]["to show"] == str(found["pairs"][0]["needs"][0]["to_show"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "--metric ID, such as: proctor plan"),
        (["-m", "exact_match"], "--delta, such as: proctor plan --metric exact_match"),
        (["-m", "exact_mach", "--delta", "0.05"], "Did you mean exact_match?"),
        (["-m", "exact_match", "--delta", "0.05", "--bot", "bot5"], "Did you mean bot50?"),
    ],
)
def test_wrong_input_is_a_sentence_and_exit_code_two(evaluations, arguments, words):
    done = proctor("plan", *arguments, folder=evaluations)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""
