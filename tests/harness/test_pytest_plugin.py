"""Proctor inside somebody's pytest: real sessions in a process of their own."""

import importlib.metadata
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from suites import NOTING, proctor, write_suite

BETTER = 'def answer(question):\n    return "It is " + question.split()[-1]\n'
WORSE = 'def answer(question):\n    return "No idea"\n'
RIGHT = """
def test_the_bot(proctor):
    assert proctor.run("suite.yaml").bot("mine").mean("exact_match") == 1
"""
NOT_WORSE = """
def test_the_bot(proctor):
    assert proctor.run("suite.yaml").bot("mine").not_worse_than("baseline.json")
"""
EACH = """
import pytest

@pytest.mark.proctor("suite.yaml", limit=3)
def test_each(row):
    assert row.passed("exact_match"), row
"""


def plugin() -> list[str]:
    """How a session gets the plugin where the package is not installed but only on the path."""
    installed = importlib.metadata.entry_points(group="pytest11").names
    return [] if "proctor" in installed else ["-p", "proctor.harness.testing.plugin"]


def session(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-m", "pytest", "-q", *plugin(), "--rootdir", str(folder), *arguments]
    return subprocess.run(program, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.fixture
def folder(tmp_path):
    """A suite of forty questions that the bot gets right, its baseline, and a test that holds the bot against it."""
    write_suite(tmp_path, BETTER, 120, gate={"margins": {"exact_match": 0.05}})
    assert proctor("run", "suite.yaml", folder=tmp_path).returncode == 0
    assert proctor("baseline", "--out", "baseline.json", folder=tmp_path).returncode == 0
    (tmp_path / "test_bot.py").write_text(NOT_WORSE)
    return tmp_path


def test_a_bot_that_stayed_as_it_was_passes(folder):
    done = session(folder)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_a_bot_that_became_worse_fails_with_the_answers_that_did(folder):
    (folder / "bot.py").write_text(WORSE)
    done = session(folder)
    assert done.returncode == 1
    assert "exact_match: regressed" in done.stdout
    assert "was: It is 0" in done.stdout
    assert "now: No idea" in done.stdout


def test_what_is_undecided_fails_unless_the_test_lets_it_pass(folder):
    text = 'suite.yaml", limit=20'
    (folder / "bot.py").write_text(BETTER.replace("It is", "It really is"))
    (folder / "test_bot.py").write_text(
        "def test_strict(proctor):\n"
        "    margins = {'keyword_recall': 0.05}\n"
        f"    bot = proctor.run(\"{text}).bot('mine')\n"
        "    assert bot.not_worse_than('baseline.json', margins=margins) is not None\n"
        "    judged = bot.not_worse_than('baseline.json', margins=margins, or_undecided=True)\n"
        "    assert judged.verdict.exit_code in (1, 3)\n"
        "    assert bool(judged) == (judged.verdict.exit_code == 3)\n"
    )
    done = session(folder)
    assert "1 passed" in done.stdout, done.stdout


def test_the_mark_makes_a_test_of_every_question(tmp_path):
    write_suite(tmp_path, NOTING.format(delay=0), 5)
    (tmp_path / "test_each.py").write_text(EACH)
    done = session(tmp_path, "-vv")
    assert "3 passed" in done.stdout, done.stdout
    assert re.findall(r"test_each\[(.+?)\]", done.stdout) == ["mine-q0", "mine-q1", "mine-q2"]
    asked = (tmp_path / "asked.txt").read_text().splitlines()
    assert sorted(asked) == ["What is 0", "What is 1", "What is 2"]
    assert session(tmp_path).returncode == 0
    assert (tmp_path / "asked.txt").read_text().splitlines() == asked, "the second session asks nothing again"


def test_collecting_asks_nobody(tmp_path):
    write_suite(tmp_path, NOTING.format(delay=0), 5)
    (tmp_path / "test_each.py").write_text(EACH)
    assert "3 tests collected" in session(tmp_path, "--collect-only").stdout
    assert not (tmp_path / "asked.txt").exists()


def test_a_failed_question_shows_what_was_asked_said_and_wanted(tmp_path):
    write_suite(tmp_path, WORSE, 3)
    (tmp_path / "test_each.py").write_text(EACH)
    done = session(tmp_path)
    assert "3 failed" in done.stdout
    assert "asked q0: What is 0" in done.stdout
    assert "said: No idea" in done.stdout
    assert "wanted: It is 0" in done.stdout


@pytest.mark.parametrize(
    ("test", "words"),
    [
        ("@pytest.mark.proctor('suite.yml')\ndef test_it(row): pass", "suite.yml"),
        ("@pytest.mark.proctor('suite.yaml', bots=['mime'])\ndef test_it(row): pass", "Did you mean 'mine'?"),
        ("@pytest.mark.proctor('suite.yaml', limits=3)\ndef test_it(row): pass", "did you mean limit?"),
        ("@pytest.mark.proctor('suite.yaml')\ndef test_it(): pass", "takes the argument 'row'"),
        ("@pytest.mark.proctor\ndef test_it(row): pass", "wants one suite file"),
        ("def test_it(row): pass", "needs the mark"),
        ("def test_it(proctor): proctor.run('suite.yaml').bot('mime')", "did you mean mine?"),
        ("def test_it(proctor): proctor.run('suite.yaml').bot('mine').mean('exact')", "did you mean exact_match?"),
        ("def test_it(proctor): proctor.run('suite.yaml').bot('mine').not_worse_than('gone.json')", "gone.json"),
    ],
)
def test_mistakes_are_sentences(tmp_path, test, words):
    write_suite(tmp_path, BETTER, 2)
    (tmp_path / "test_it.py").write_text(f"import pytest\n\n{test}\n")
    done = session(tmp_path)
    assert done.returncode != 0
    assert words in done.stdout + done.stderr


def test_the_database_is_where_the_option_says(tmp_path):
    write_suite(tmp_path, BETTER, 2)
    (tmp_path / "test_it.py").write_text(RIGHT)
    assert session(tmp_path, "--proctor-db", "kept.db").returncode == 0
    done = proctor("run", "suite.yaml", "--db", "kept.db", "--json", folder=tmp_path)
    assert json.loads(done.stdout)["asked"] == 0


def test_without_a_cache_folder_a_temporary_one_will_do(tmp_path):
    write_suite(tmp_path, BETTER, 2)
    (tmp_path / "test_it.py").write_text(RIGHT)
    assert session(tmp_path, "-p", "no:cacheprovider").returncode == 0
    assert not list(tmp_path.rglob("*.db"))


def test_a_session_that_does_not_use_it_loads_nothing_of_it(tmp_path):
    """Only the plugin's own file, and the packages in which it lies."""
    (tmp_path / "test_it.py").write_text(
        "import sys\n\ndef test_it():\n"
        "    ours = {name for name in sys.modules if name.split('.')[0] == 'proctor'}\n"
        "    ours -= {'proctor', 'proctor.harness', 'proctor.harness.testing'}\n"
        "    assert ours == {'proctor.harness.testing.plugin'}\n"
    )
    done = session(tmp_path)
    assert "1 passed" in done.stdout, done.stdout
    assert not (tmp_path / ".pytest_cache" / "d" / "proctor").exists()


def test_the_package_tells_pytest_of_it():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"proctor": "proctor.harness.testing.plugin"}
