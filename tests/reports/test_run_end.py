"""What is stored of a run when it ends: read as long as it holds, and never shown once it does not."""

import csv
import io
import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass

from judge_server import JudgeServer
from judged_runs import record, score
from proctor.reports import run_end, summary
from proctor.reports.store.database import Store
from proctor.reports.summary import summarise
from suites import write_suite
from tables import in_one_test
from typed import proctor

BOT = "def answer(question): return 'It is ' + question.split()[-1]"


def stored(folder, *, without=False) -> list:
    """What each run is said to have: as stored where that holds, or with nothing that was stored."""
    with closing(sqlite3.connect(folder / "proctor.db")) as database:
        if without:
            database.execute("DELETE FROM run_figures")
            database.commit()
    store = Store.open(folder / "proctor.db", create=False)
    try:
        return [summarise(store, run) for (run,) in store.query("SELECT id FROM runs ORDER BY id")]
    finally:
        store.close()


def change(folder, sql: str) -> None:
    """Put a sign into what is stored, by which it is known to be read."""
    with closing(sqlite3.connect(folder / "proctor.db")) as database:
        database.execute(sql)
        database.commit()


def mark(folder) -> None:
    change(
        folder,
        """UPDATE run_figures SET content = json_replace(content, '$.questions', 999)
                      WHERE name = 'summary'""",
    )


def marked(folder) -> list[bool]:
    """By run whether what was stored of it is read."""
    return [each.questions == 999 for each in stored(folder)]


def written(folder, name: str, *arguments: str) -> str:
    assert proctor("report", "latest", *arguments, folder=folder).returncode in (0, 1)
    return (folder / name).read_text()


def test_what_is_stored_is_read_and_says_the_same_to_the_last_digit(tmp_path):
    write_suite(tmp_path, BOT, questions=12, metrics=["exact_match", "rouge_l", "answer_length", "correct"])
    proctor("run", "suite.yaml", folder=tmp_path)
    with_it = stored(tmp_path), written(tmp_path, "a.json", "--json", "a.json")
    mark(tmp_path)
    assert marked(tmp_path) == [True]
    without = stored(tmp_path, without=True), written(tmp_path, "a.json", "--json", "a.json")
    assert repr(with_it[0]) == repr(without[0])
    assert with_it[1] == without[1]


def more_questions(folder):
    write_suite(folder, BOT, questions=7)


def another_threshold(folder):
    write_suite(folder, BOT, thresholds={"keyword_recall": 0.5})


def another_metric(folder):
    write_suite(folder, BOT, metrics=["exact_match", "rouge_l"])


def another_primary(folder):
    write_suite(folder, BOT, primary="keyword_recall")


@in_one_test("changed", (more_questions, another_threshold, another_metric, another_primary))
def test_a_run_that_is_made_otherwise_is_added_up_anew(changed, tmp_path):
    folder = tmp_path / changed.__name__
    folder.mkdir()
    write_suite(folder, BOT)
    proctor("run", "suite.yaml", folder=folder)
    changed(folder)
    assert proctor("run", "suite.yaml", folder=folder).returncode in (0, 1)
    assert repr(stored(folder)) == repr(stored(folder, without=True))


def test_a_stopped_run_that_goes_on_is_added_up_anew(tmp_path):
    write_suite(tmp_path, BOT)
    proctor("run", "suite.yaml", "--limit", "2", folder=tmp_path)
    with closing(sqlite3.connect(tmp_path / "proctor.db")) as database:
        database.execute("DELETE FROM scores WHERE reply_id = 1")
        database.execute("DELETE FROM score_details WHERE reply_id = 1")
        database.commit()
    mark(tmp_path)
    proctor("run", "suite.yaml", "--limit", "2", folder=tmp_path)
    assert marked(tmp_path) == [False]
    assert stored(tmp_path)[0].questions == 2


def test_scores_that_another_run_makes_of_the_same_answers_clear_both(tmp_path):
    """A run whose metric failed is read anew when a later run of the same answers has its value."""
    metrics = "def grade(answer):\n    'Whether.'\n    open({name!r}).close()\n    return 1.0\n"
    flag = tmp_path / "there"
    (tmp_path / "mine.py").write_text("import proctor\n\n\n@proctor.metric\n" + metrics.format(name=str(flag)))
    write_suite(tmp_path, BOT, metrics=["exact_match", "grade"], metric_files=["mine.py"])
    first = proctor("run", "suite.yaml", "--limit", "3", folder=tmp_path)
    assert "grade" in first.stdout, first.stderr
    assert stored(tmp_path)[0].bots[0].metrics["grade"].n_failed == 3
    flag.write_text("")
    proctor("run", "suite.yaml", folder=tmp_path)
    found = stored(tmp_path)
    assert [each.bots[0].metrics["grade"].n_ok for each in found] == [3, 5]
    assert repr(found) == repr(stored(tmp_path, without=True))


def test_an_import_that_goes_on_is_added_up_anew(tmp_path):
    lines = [{"id": f"q{n}", "question": f"What is {n}?", "answer": "One.", "score": n / 4} for n in range(4)]
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    ended = proctor("score", "answers.jsonl", "--metrics", "answer_length", folder=tmp_path)
    assert ended.returncode == 0, ended.stderr
    mark(tmp_path)
    assert marked(tmp_path) == [True]
    proctor("score", "answers.jsonl", "--metrics", "answer_length,exact_match", folder=tmp_path)
    assert repr(stored(tmp_path)[-1]) == repr(stored(tmp_path, without=True)[-1])


def test_another_judge_is_a_change(tmp_path):
    with JudgeServer() as server:
        record(tmp_path)
        score(tmp_path, server, metrics=["faithfulness"])
        mark(tmp_path)
        score(tmp_path, server, metrics=["faithfulness"], judge="openai:another-model")
    found = stored(tmp_path)
    assert found[-1].judge.name != found[0].judge.name
    assert found[-1].questions == 6


def test_what_is_stored_is_not_read_once_a_record_in_it_has_another_field(tmp_path, monkeypatch):
    @dataclass(frozen=True)
    class Costs(summary.Costs):
        rent: float | None = None

    write_suite(tmp_path, BOT, questions=2)
    assert proctor("run", folder=tmp_path).returncode == 0
    mark(tmp_path)
    assert marked(tmp_path) == [True]
    monkeypatch.setattr(summary, "Costs", Costs)
    monkeypatch.setattr(summary, "_fields_of_summary", lambda: summary._fields(summary.Summary))  # else remembered
    assert marked(tmp_path) == [False]


def test_labels_are_seen_beside_what_is_stored(tmp_path):
    write_suite(tmp_path, BOT, questions=40, metrics=["exact_match", "keyword_recall"])
    proctor("run", "suite.yaml", folder=tmp_path)
    proctor("label", "--metric", "exact_match", "--n", "40", "--out", "labels.csv", folder=tmp_path)
    sheet = (tmp_path / "labels.csv").read_text("utf-8-sig")
    with (tmp_path / "labels.csv").open("w") as file:
        rows = list(csv.DictReader(io.StringIO(sheet)))
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({**row, "verdict": "yes" if place % 4 else "no"} for place, row in enumerate(rows))
    assert stored(tmp_path)[0].bots[0].metrics["exact_match"].calibration is None
    made = proctor("calibrate", "--labels", "labels.csv", folder=tmp_path)
    assert made.returncode in (0, 1), made.stderr
    found = stored(tmp_path)
    assert found[0].bots[0].metrics["exact_match"].calibration is not None
    assert repr(found) == repr(stored(tmp_path, without=True))


def test_the_page_of_a_large_run_is_stored_and_read(tmp_path, monkeypatch):
    monkeypatch.setattr(run_end, "LARGE", 4)
    write_suite(tmp_path, BOT)
    proctor("run", "suite.yaml", folder=tmp_path)
    whole = written(tmp_path, "a.html", "--html", "a.html")
    change(tmp_path, "UPDATE run_figures SET content = replace(content, '<', 'STORED<') WHERE name = 'page'")
    assert "STORED" in written(tmp_path, "a.html", "--html", "a.html")
    write_suite(tmp_path, BOT, thresholds={"keyword_recall": 0.5})
    proctor("run", "suite.yaml", folder=tmp_path)
    assert "STORED" not in written(tmp_path, "a.html", "--html", "a.html")
    assert stored(tmp_path, without=True)
    assert "STORED" not in whole


def test_a_database_without_a_place_for_it_is_read(tmp_path):
    """One of an older version, which can only be read, has none."""
    write_suite(tmp_path, BOT)
    proctor("run", "suite.yaml", folder=tmp_path)
    found = stored(tmp_path)
    with closing(sqlite3.connect(tmp_path / "proctor.db")) as database:
        database.executescript("DROP TABLE run_figures; DROP TABLE run_changes; PRAGMA journal_mode = DELETE")
        database.execute("DELETE FROM _sqlite_migrations WHERE name = 'm004_figures'")
        database.commit()
    (tmp_path / "proctor.db").chmod(0o444)
    again = proctor("report", "--json", "a.json", folder=tmp_path)
    assert again.returncode == 0, again.stderr
    assert len(found) == 1
