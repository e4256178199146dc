"""The commands that decide, each in a process of its own: the same words and exit code as in the process of a test."""

import subprocess
from pathlib import Path

import pytest
import suites
import typed
from gated_runs import store_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, in the second of which a bot became worse; and questions."""
    made = tmp_path_factory.mktemp("decided")
    for right in (60, 36):
        worse = {"exact_match": [1.0] * right + [0.0] * (60 - right)}
        store_run(made / "proctor.db", {"rag": worse, "faq": {"exact_match": [1.0, 0.0] * 30}}, milliseconds=right)
    (made / "questions.jsonl").write_text('{"id": "a", "question": "Where is my parcel today?"}')
    return made


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["gate", "-b", "previous"], 1, "Verdict: regressed (exit code 1)"),
        (["gate", "-b", "previous", "--bot", "faq", "--json"], 0, '"verdict": "not worse"'),
        (["gate", "-b", "previous", "--margin", "faq"], 2, "wanted METRIC=NUMBER"),
        (["baseline", "--out", "-"], 2, "wants a file name"),
        (["compare", "previous", "latest", "--json"], 0, '"exact_match"'),
        (["plan", "--metric", "exact_match", "--delta", "0.05"], 0, "exact_match"),
        (["rank"], 0, "faq"),
        (["abstain"], 2, "answer"),
        (["robustness"], 2, "asks each of them once"),
        (["perturb", "questions.jsonl", "--kinds", "comma", "--out", "comma.jsonl"], 0, "comma.jsonl"),
    ],
    ids=lambda given: given[0] if isinstance(given, list) else "",
)
def test_a_command_says_the_same_in_a_process_of_its_own(folder, arguments, code, says):
    here = typed.proctor(*arguments, folder=folder)
    apart = suites.proctor(*arguments, folder=folder)
    assert (apart.returncode, apart.stdout, apart.stderr) == (here.returncode, here.stdout, here.stderr)
    assert here.returncode == code
    assert says in here.stdout + here.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_a_stream_that_is_closed_is_no_fault(folder, tmp_path, closed):
    page = tmp_path / "page.html"
    command = ["bash", "-c", f'exec "$@" {closed}', "bash", *suites.PROGRAM, "report", "--html", str(page)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert (done.returncode, "Traceback" in done.stdout + done.stderr) == (0, False)
    assert page.read_text("utf-8").startswith("<!doctype html>")
