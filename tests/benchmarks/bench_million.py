"""What commands take on runs of a million rows: seconds of the processor and peak memory, beside the goals.

    python tests/benchmarks/bench_million.py [--rows 1000000] [--folder FOLDER] [--only gate,rank] [--run 50000,100000]

Two bots answer 100 questions in two runs; these rows are then multiplied in SQL, with other values of the graded
metrics in each copy, so that the database is made in minutes. A folder that has one already is used as it is. ``--run``
runs instant bots on so many rows, for the growth of memory with each row. Goals: 60 s of the processor and 400 MB for
each command on 1,000,000 rows, 2 s until the first page of ``view`` is there.
"""

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

QUESTIONS, DOCUMENTS = 100, 20
METRICS = ["rouge", "exact_match", "keyword_recall", "answer_length", "politeness", "latency_ms"]
INSTANT = """
def answer(question):
    number = int(question.split()[-1])
    return " ".join(f"word{{(number * 31 + place * {step}) % 997}}" for place in range(20)) + "."
"""
BOT = """
import random
def answer(question):
    number = int(question.split()[-1])
    step = 7 if random.Random(number * 7 + {seed}).random() < {share} else 11
    return " ".join(f"word{{(number * 31 + place * step) % 997}}" for place in range(12)) + "."
"""
RUNS = ({"near": 0.6, "far": 0.5}, {"near": 0.5, "far": 0.5})
COMMANDS = {
    "compare": ["compare", "near", "far"], "rank": ["rank"], "gate": ["gate", "latest", "-b", "previous"],
    "baseline": ["baseline", "--out", "b.json"], "gate a file": ["gate", "latest", "-b", "b.json"],
    **{f"report {name}": ["report", f"--{option}", name] for option, name in
       (("html", "r.html"), ("markdown", "r.md"), ("csv", "tables"), ("json", "r.json"), ("zip", "r.zip"))},
}  # fmt: skip
# What differs in copy number i of a row; ids move on by the greatest there is.
MOVED = {
    "questions": {"id": "id+i*{questions}", "fingerprint": "randomblob(16)", "key": "key||'_'||i",
                  "source_document": "source_document||'_'||i", "text": "text||' ('||i||')'"},
    "replies": {"id": "id+i*{replies}", "question_hash": "randomblob(16)"},
    **{table: {"reply_id": "reply_id+i*{replies}", "question_id": "question_id+i*{questions}",
               "position": "position+i*{count}"} for table in ("run_rows", "scores", "score_details")},
}  # fmt: skip
VALUE = """CASE WHEN metric_id IN (SELECT id FROM metrics WHERE name IN ('rouge', 'rouge_1', 'keyword_recall'))
    THEN value * (0.5 + ABS(RANDOM() % 1000) / 2000.0) ELSE value END"""


COMMAND = "from proctor.harness.cli.main import main; main()"
# What a run stores with itself when it ends, of runs that were multiplied since.
RUN_END = """
from pathlib import Path
from proctor.reports.run_end import keep_report
from proctor.reports.store.database import Store
store = Store.open(Path("proctor.db"))
for (run,) in store.query("SELECT id FROM runs"):
    keep_report(store, run)
"""


def make(folder: Path, rows: int) -> None:
    """Two runs of so many rows in ``proctor.db``."""
    for number, shares in enumerate(RUNS):
        for name, share in shares.items():
            (folder / f"{name}.py").write_text(BOT.format(seed=number, share=share))
        lines = (
            {"id": f"q{place}", "question": f"What is {place}", "source_document": f"d{place % DOCUMENTS}",
             "expected_answer": " ".join(f"word{(place * 31 + word * 7) % 997}" for word in range(12))}
            for place in range(QUESTIONS)
        )  # fmt: skip
        (folder / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        bots = {name: {"type": "python", "target": f"{name}.py:answer"} for name in shares}
        suite = {"name": "bench", "questions": "questions.jsonl", "bots": bots, "metrics": METRICS}
        (folder / "suite.yaml").write_text(json.dumps(suite))
        measured(folder, "run", "suite.yaml")
        time.sleep(1.1)  # names of runs are by the second
    with closing(sqlite3.connect(folder / "proctor.db")) as database:
        database.execute("PRAGMA synchronous = OFF")
        database.execute("PRAGMA cache_size = -200000")
        ids = {t: database.execute(f"SELECT MAX(id) FROM {t}").fetchone()[0] for t in ("questions", "replies")}
        copies = rows // 2 // QUESTIONS - 1
        numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
        for table, moved in MOVED.items():
            columns = [line[1] for line in database.execute(f"PRAGMA table_info({table})")]
            values = {name: sql.format(**ids, count=QUESTIONS) for name, sql in moved.items()}
            values |= {"value": VALUE} if table == "scores" else {}
            chosen = ", ".join(values.get(name, f'"{name}"') for name in columns)
            names = ", ".join(f'"{name}"' for name in columns)
            database.execute(f"INSERT INTO {table} ({names}) {numbers} SELECT {chosen} FROM n, {table}", [copies])
        database.execute("UPDATE runs SET findings_key = NULL")
        database.execute("UPDATE run_changes SET number = number + 1")
        database.execute("UPDATE run_scores SET rows = ?", [rows // 2])
        database.commit()


def write_suite(folder: Path, questions: int) -> Path:
    """A suite of two instant bots and so many questions."""
    for name, step in (("near", 7), ("far", 11)):
        (folder / f"{name}.py").write_text(INSTANT.format(step=step))
    with (folder / "questions.jsonl").open("w") as file:
        for number in range(questions):
            expected = " ".join(f"word{(number * 31 + place * 7) % 997}" for place in range(12))
            line = {"id": f"q{number}", "question": f"What is {number}", "expected_answer": expected}
            file.write(json.dumps(line) + "\n")
    suite = {
        "name": "bench",
        "questions": "questions.jsonl",
        "bots": {name: {"type": "python", "target": f"{name}.py:answer"} for name in ("near", "far")},
        "metrics": METRICS,
    }
    path = folder / "suite.yaml"
    path.write_text(json.dumps(suite))
    return path


def measured(folder: Path, *arguments: str, code: str = COMMAND) -> tuple[float, float, int]:
    """Seconds of the processor, peak megabytes and exit code of one command."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _, status, used = os.wait4(process.pid, 0)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)


def first_pages(folder: Path) -> dict[str, float]:
    """Seconds until ``view`` has sent its list of runs and the page of the latest run, each asked for once."""
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "view", "proctor.db", "--no-open", "--port", "0"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        address = next(word.rstrip(".,") for line in process.stdout for word in line.split() if "http://" in word)
        with closing(sqlite3.connect(folder / "proctor.db")) as database:
            ((run,),) = database.execute("SELECT name FROM runs ORDER BY id DESC LIMIT 1").fetchall()
        found = {}
        for name, path in (("view: runs", ""), ("view: the run", f"runs/{run}"), ("view: again", f"runs/{run}")):
            began = time.perf_counter()
            with urllib.request.urlopen(f"{address.rstrip('/')}/{path}", timeout=900) as answer:  # noqa: S310 - ours
                answer.read()
            found[name] = time.perf_counter() - began
        return found
    finally:
        process.terminate()
        process.wait()


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the database where there is none, and print each command's figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of each of the two runs")
    parser.add_argument("--folder", type=Path, help="where the database is or is to be made")
    parser.add_argument("--only", default="", help="names of commands, apart by commas")
    parser.add_argument("--run", default="", help="also run instant bots on so many rows each")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = given.folder or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "proctor.db").exists():
            make(folder, given.rows)
        print(f"{given.rows:,} rows{'':<8}  CPU s (60)  peak MB (400)")
        cpu, memory, _ = measured(folder, code=RUN_END)
        print(f"{'end of a run':<20}{cpu:>12.1f}{memory:>15.0f}  both runs; nothing where it is stored", flush=True)
        for command, typed in COMMANDS.items():
            if not given.only or command in given.only.split(","):
                cpu, memory, code = measured(folder, *typed)
                print(
                    f"{command:<20}{cpu:>12.1f}{memory:>15.0f}{'' if code in (0, 1) else f'  exit {code}'}", flush=True
                )
        if not given.only or "view" in given.only.split(","):
            for page, seconds in first_pages(folder).items():
                print(f"{page:<20}{seconds:>12.2f} s on the clock (2)", flush=True)
    for rows in filter(None, given.run.split(",")):
        with tempfile.TemporaryDirectory() as name:
            cpu, memory, _ = measured(Path(name), "run", str(write_suite(Path(name), int(rows) // 2)))
            print(f"run of {int(rows):>12,}{cpu:>13.1f}{memory:>15.0f}", flush=True)


if __name__ == "__main__":
    main()
