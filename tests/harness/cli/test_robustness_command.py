"""proctor robustness: which runs it takes, what it prints in 80 columns, and its mistakes in sentences."""

import json
import sqlite3

import numpy as np
import pytest
from perturbed_runs import asked, perturbations, perturbed, stored_run
from typed import proctor as typed

KINDS = ("identity", "keyboard_typo", "lookalike_letters")


def proctor(folder, *arguments):
    return typed("robustness", *arguments, folder=folder)


def fragile(question, _):
    mark = question.extra.get("perturbs", {})
    if mark.get("must") == "other":
        return None, "no"
    wrong = mark.get("kind") == "keyboard_typo" and mark["intensity"] > 0.1 and question.id[1] != "7"
    return (0.25, "I do not know what [that] is") if wrong else (1.0, "it is right")


def examined(folder, bot=fragile, **changes):
    questions = [asked(number) for number in range(24)]
    after = [
        *perturbations(questions, KINDS, (0.1, 0.3)),
        *(perturbed(q, "negation", 1, 0, "other") for q in questions),
    ]
    path = folder / "proctor.db"
    return stored_run(path, questions, {"rag": bot}, **changes), stored_run(
        path, after, {"rag": bot}, suite="run (perturbed)", **changes
    )


def test_the_table_fits_80_columns_and_names_what_breaks(tmp_path):
    examined(tmp_path)
    done = proctor(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= 80
    words = " ".join(done.stdout.split())
    assert "24 questions, 144 perturbations of 4 kinds; control: identical copies" in words
    assert "keyboard_typo, keyword_recall: 48% flip, +0.48 against the control" in words
    assert "breaks down at 0.3" in words
    assert "negation (other) 24 1.00 .85-1" in words
    assert "negation: 100% got another answer, as all should (1.00 .85-1)" in words
    assert "- each question was asked once" in words
    assert "keyboard_typo at 0.3: keyword_recall 1.00 → 0.25" in words
    assert "asked: What is 0 (keyboard_typo 0.3) answer: I do not know what [that] is" in words


def test_one_metric_in_full(tmp_path):
    examined(tmp_path)
    done = proctor(tmp_path, "--metric", "keyword_recall", "--flips", "0")
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert "keyword_recall by kind" in lines
    (typos,) = (line.split() for line in lines if line.startswith("keyboard_typo") and "[" in line)
    assert typos[:4] == ["keyboard_typo", "23", "0", "0"]
    assert "lookalike_letters does not break down within the tested 0.1-0.3" in done.stdout
    assert "worst flips" not in done.stdout


def test_the_latest_run_with_rewordings_is_taken_with_the_run_of_its_bots(tmp_path):
    base, after = examined(tmp_path)
    stored_run(tmp_path / "proctor.db", [asked(number) for number in range(24)], {"faq": fragile})  # later, other bots
    with sqlite3.connect(tmp_path / "proctor.db") as database:
        names = dict(database.execute("SELECT id, name FROM runs"))
    made = json.loads(proctor(tmp_path, "--json").stdout)
    assert (made["run"], made["perturbed_run"]) == (names[base], names[after])
    given = ["--perturbed", names[after]]
    for arguments in ([names[base]], [names[after]], given, [names[base], *given]):
        assert json.loads(proctor(tmp_path, *arguments, "--json").stdout) == made


def test_a_bot_that_was_changed_meanwhile_is_warned_about(tmp_path):
    examined(tmp_path)
    with sqlite3.connect(tmp_path / "proctor.db") as database:
        database.execute(
            "INSERT INTO bots SELECT 9, 'changed', name, kind, model, embedded, settings, prompts, parts, models"
            " FROM bots WHERE id = 1"
        )
        database.execute("UPDATE run_bots SET bot_id = 9 WHERE run_id = 2")
        database.execute("UPDATE run_rows SET bot_id = 9 WHERE run_id = 2")
    done = proctor(tmp_path)
    assert done.returncode == 0
    assert "rag is not in the same state in runs" in done.stderr


def test_repeats_alone(tmp_path):
    rng = np.random.default_rng(0)
    stored_run(tmp_path / "proctor.db", [asked(1), asked(2)], {"rag": lambda *_: (1.0, str(rng.random()))}, repeats=3)
    words = " ".join(proctor(tmp_path).stdout.split())
    assert "no perturbed questions, each asked 3 times" in words
    assert "same answer when asked again 0.00" in words
    assert "same answer when perturbed - the run holds no perturbed questions" in words


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "which asks each of them once, so it is not known how robust its bots are"),
        (["nothing"], "'nothing' is no run of"),
        (["--perturbed", "2"], "holds no perturbations"),
    ],
)
def test_a_run_that_tells_nothing_says_what_to_do(tmp_path, arguments, sentence):
    stored_run(tmp_path / "proctor.db", [asked(1)], {"rag": fragile})
    done = proctor(tmp_path, *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert sentence in done.stderr


def test_rewordings_without_their_questions(tmp_path):
    stored_run(tmp_path / "proctor.db", perturbations([asked(1)], KINDS), {"rag": fragile}, suite="run (perturbed)")
    done = proctor(tmp_path)
    assert done.returncode == 2
    assert "no run of the same suite with the questions that they perturb" in done.stderr


def test_the_page_goes_to_a_file_or_stdout(tmp_path):
    examined(tmp_path)
    to_file = proctor(tmp_path, "--markdown", "page.md")
    assert "Wrote page.md" in to_file.stderr
    page = (tmp_path / "page.md").read_text("utf-8")
    assert proctor(tmp_path, "--markdown", "-").stdout == page
    assert "| `keyboard_typo` | 23 | 0 | 0 |" in page
    assert proctor(tmp_path, "--json", "--markdown", "-").returncode == 2
    assert proctor(tmp_path, "--markdown", "proctor.db").returncode == 2
