"""`proctor report`: what a person types, what is written, and what is said where nothing can be."""

import csv
import json
import sqlite3
import zipfile

import pytest
from suites import NOTING, count, lines, write_suite
from typed import full_disk, proctor

WRONG = """
def answer(question):
    return "It is " + ("?" if question.endswith("3") else question.split()[-1])
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A folder with a finished run."""
    folder = tmp_path_factory.mktemp("report")
    write_suite(
        folder, WRONG, metrics=[{"exact_match": {"metric_threshold": 1}}, "keyword_recall", {"rouge": {}}, "latency_ms"]
    )
    assert proctor("run", "suite.yaml", folder=folder).returncode == 0
    return folder


def test_problems_are_counted_after_the_leaderboard_and_listed_for_machines(done):
    again = proctor("run", "suite.yaml", folder=done)
    assert "1 problem (1 medium); mine: exact_match is 0.8, wanted at least 1." in again.stdout
    assert "Next:\n  proctor report --open\n" in again.stdout
    made = json.loads(proctor("run", "suite.yaml", "--json", folder=done).stdout)
    assert [(each["metric"], each["rows"]) for each in made["problems"]] == [
        ("exact_match", [{"question_id": "q3", "repeat": 0}])
    ]
    assert "most_difficult_case" in {each["type"] for each in made["insights"]}


def test_all_files_are_written_and_named(done, tmp_path):
    made = proctor(
        "report", "--csv", tmp_path / "tables", "--json", tmp_path / "r.json", "--markdown", tmp_path / "r.md",
        "--zip", tmp_path / "r.zip", folder=done,
    )  # fmt: skip
    assert (made.returncode, made.stdout) == (0, "")
    assert len(made.stderr.splitlines()) == 4
    with (tmp_path / "tables" / "rows.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["question_id"] for row in rows] == ["q0", "q1", "q2", "q3", "q4"]
    assert [row["exact_match"] for row in rows] == ["1.0", "1.0", "1.0", "0.0", "1.0"]
    assert sorted(path.name for path in (tmp_path / "tables").iterdir()) == [
        "evaluators", "insights.csv", "leaderboard.csv", "problems.csv", "rows.csv",
    ]  # fmt: skip
    assert [path.name for path in (tmp_path / "tables" / "evaluators").iterdir()] == ["rouge.csv"]
    assert len(json.loads((tmp_path / "r.json").read_bytes())["rows"]) == 5
    assert "exact\\_match is 0.8, wanted at least 1." in (tmp_path / "r.md").read_text("utf-8")
    assert zipfile.ZipFile(tmp_path / "r.zip").testzip() is None
    assert not [path for path in tmp_path.rglob("*") if "unfinished" in path.name or path.name.startswith(".")]


def test_equal_runs_give_equal_archives(tmp_path):
    made = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        write_suite(folder, WRONG, questions=40, metrics=["exact_match", "rouge_l", "latency_ms"])
        for _ in range(2):
            assert proctor("run", "suite.yaml", "--fresh", folder=folder).returncode == 0
        assert proctor("report", "--zip", "r.zip", folder=folder).returncode == 0
        made.append((folder / "r.zip").read_bytes())
    names = [lines(tmp_path / name / "proctor.db", "SELECT name FROM runs") for name in ("one", "two")]
    assert set(names[0]).isdisjoint(names[1])
    assert made[0] == made[1]


def test_stdout_takes_the_page_or_the_object_and_nothing_else(done):
    page = proctor("report", "--markdown", "-", folder=done)
    assert page.stdout.startswith("## test: 5 questions, 1 bot")
    assert page.stderr == ""
    assert json.loads(proctor("report", "--json", "-", folder=done).stdout)["suite"] == "test"
    assert "can't both" in proctor("report", "--json", "-", "--markdown", "-", folder=done).stderr
    assert "needs a file" in proctor("report", "--zip", "-", folder=done).stderr


def test_a_run_is_found_by_the_beginning_of_its_name(done):
    ((name,),) = lines(done / "proctor.db", "SELECT name FROM runs")
    assert f"Run `{name}`" in proctor("report", name[:12], "--markdown", "-", folder=done).stdout
    missed = proctor("report", "nonsense", "--markdown", "-", folder=done)
    assert missed.returncode == 2
    assert "'nonsense' is no run of proctor.db" in missed.stderr
    assert name in missed.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--db", "nowhere.db", "--json", "r.json"], "There is no database nowhere.db"),
        (["--json", "nowhere/r.json"], "--json: the folder nowhere does not exist"),
        (["--json", "."], "is a folder; a file was wanted"),
        (["--csv", "suite.yaml"], "is a file; a folder was wanted"),
        (["--csv", "nowhere/tables"], "--csv: the folder nowhere does not exist"),
        (["--json", "proctor.db"], "is given for --db already"),
        (["--json", "r", "--markdown", "r"], "is given for --json already"),
        (["--json", "/dev/full"], "No space left on device"),
    ],
)
def test_what_cannot_be_written_is_a_sentence_and_exit_code_two(done, arguments, words):
    before = sorted(path.name for path in done.iterdir())
    made = proctor("report", *arguments, folder=done)
    assert made.returncode == 2
    assert words in made.stderr
    assert "Traceback" not in made.stderr
    assert made.stdout == ""
    assert sorted(path.name for path in done.iterdir()) == before


def test_a_full_disk_leaves_the_files_of_before_and_nothing_else(tmp_path):
    """The limit is wide enough for SQLite's own files."""
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    write_suite(source, WRONG, questions=400)
    proctor("run", "suite.yaml", folder=source)
    for name in ("r.json", "r.zip", "r.html"):
        (target / name).write_text("as it was")
    (target / "tables").mkdir()
    for option, name in (("--json", "r.json"), ("--zip", "r.zip"), ("--html", "r.html"), ("--csv", "tables")):
        with full_disk(33 << 10):
            made = proctor("report", option, target / name, folder=source)
        assert made.returncode == 2, made.stderr
        assert f"{target / name} could not be written: File too large." in made.stderr
    assert sorted(path.name for path in target.iterdir()) == ["r.html", "r.json", "r.zip", "tables"]
    assert list((target / "tables").iterdir()) == []
    assert {(target / name).read_text() for name in ("r.json", "r.zip", "r.html")} == {"as it was"}


def test_tables_are_written_anew_beside_files_of_others(done, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "rows.csv").write_text("old")
    assert proctor("report", "--csv", tmp_path, folder=done).returncode == 0
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert (tmp_path / "rows.csv").read_bytes().startswith(b"\xef\xbb\xbf")


def test_a_stopped_run_is_told_as_far_as_it_went(tmp_path):
    write_suite(tmp_path, NOTING.format(delay=0))
    proctor("run", "suite.yaml", "--limit", "2", folder=tmp_path)
    connection = sqlite3.connect(tmp_path / "proctor.db")
    connection.execute("UPDATE runs SET status = 'stopped', findings_key = NULL")
    connection.commit()
    connection.close()
    page = proctor("report", "--markdown", "-", folder=tmp_path).stdout
    assert "(stopped)" in page and "2 questions" in page
    assert count(tmp_path / "proctor.db", "SELECT COUNT(*) FROM runs WHERE findings_key IS NULL") == 1  # only read
