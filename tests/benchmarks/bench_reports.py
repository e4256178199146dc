"""What problems, insights and every kind of report of a large run take: seconds and peak memory.

    python tests/benchmarks/bench_reports.py [ROWS]

Runs `proctor run` with two in-process bots on half as many questions as rows (100,000 unless given), then the same
command again (everything kept), then each writer of `proctor report` in a process of its own.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from proctor.reports.report import keep_findings
from proctor.reports.store.database import Store
from proctor.reports.summary import find_run, summarise

METRICS = ["rouge", "exact_match", "keyword_recall", "answer_length", "politeness", "latency_ms"]
BOT = """
def answer(question):
    number = int(question.split()[-1])
    return " ".join(f"word{{(number * 31 + place * {step}) % 997}}" for place in range(20)) + "."
"""


def write_suite(folder: Path, questions: int) -> Path:
    for name, step in (("near", 7), ("far", 11)):
        (folder / f"{name}.py").write_text(BOT.format(step=step))
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


def measured(folder: Path, *arguments: str) -> tuple[float, float]:
    """Seconds and peak megabytes of one call of the program."""
    code = "from proctor.harness.cli.main import main; main()"
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    _, status, used = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(process.stderr.read().decode())
    return time.perf_counter() - start, used.ru_maxrss / 1024


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        suite = write_suite(folder, rows // 2)
        print(f"{rows:,} rows       seconds  peak MB")
        for title in ("run", "the same run, kept"):
            print("{:<20}{:>8.1f}{:>9.0f}".format(title, *measured(folder, "run", str(suite))))
        store = Store.open(folder / "proctor.db")
        run_id, _ = find_run(store)
        start = time.perf_counter()
        summary = summarise(store, run_id)
        between = time.perf_counter()
        store.connection.execute("UPDATE runs SET findings_key = NULL")
        found = keep_findings(store, run_id, summary)
        store.close()
        print(f"{'of it: summary':<20}{between - start:>8.1f}")
        print(f"{'of it: findings':<20}{time.perf_counter() - between:>8.1f}", len(found.problems), "problems")
        for option, place in (("--markdown", "r.md"), ("--csv", "tables"), ("--json", "r.json"), ("--zip", "r.zip")):
            seconds, memory = measured(folder, "report", option, place)
            path = folder / place
            files = path.rglob("*") if path.is_dir() else [path]
            size = sum(file.stat().st_size for file in files if file.is_file()) / 1e6
            print(f"{'report ' + option:<20}{seconds:>8.1f}{memory:>9.0f}   {size:,.1f} MB written")


if __name__ == "__main__":
    main()
