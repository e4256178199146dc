"""How fast files of other tools are recognised and imported, and how much memory it takes.

Goals: 20,000 rows a second and core, 500 MB for 1,000,000 rows, 0.2 s to recognise a file. Run: python
tests/benchmarks/importing.py [ROWS], by default 200,000 (on Linux, which says how much memory a program took).
"""

import json
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

GOAL_RATE, GOAL_MEMORY, GOAL_LOOK = 20_000, 500, 0.2
ONE = """
import re, sys, time
from pathlib import Path
def most():  # of this program alone: what getrusage says may be the parent's
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
from proctor.harness.exchange import ImportOptions, import_file
from proctor.knowledge.formats.finding import detected
path, into, database = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
detected(path)
began = time.process_time()
detected(path)
looked = time.process_time() - began
before = most()
began = time.process_time()
import_file(path, Path(into) if into else None, Path(database) if database else None, ImportOptions())
took = time.process_time() - began
print(looked, took, before, most())
"""


def rows(count, with_answers):
    for number in range(count):
        row = {"user_input": f"What does service number {number} cost, and how long does it take?",
               "reference": f"It costs {number % 97} euros and takes {number % 7} days."}  # fmt: skip
        if with_answers:
            row |= {
                "response": f"{number % 97} euros.",
                "retrieved_contexts": [f"Service {number % 1000}: see prices."],
                "faithfulness": (number % 11) / 10,
            }
        yield row


def measured(path, into, database):
    given = [sys.executable, "-c", ONE, str(path), str(into or ""), str(database or "")]
    return map(float, subprocess.run(given, check=True, capture_output=True, text=True).stdout.split())


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    print(f"{count:,} rows; goals: {GOAL_RATE:,} rows/s of processor time, {GOAL_MEMORY} MB, {GOAL_LOOK} s to look")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        questions, answers = folder / "questions.jsonl", folder / "answers.jsonl"
        for path, with_answers in ((questions, False), (answers, True)):
            with path.open("w") as file:
                file.writelines(json.dumps(row) + "\n" for row in rows(count, with_answers))
        files = [("questions JSONL into a suite", questions, True, False)]
        try:
            import pyarrow as pa
            from pyarrow import parquet

            waiting = rows(count, False)
            first = pa.Table.from_pylist(list(islice(waiting, 10_000)))
            with parquet.ParquetWriter(folder / "questions.parquet", first.schema) as writer:
                writer.write_table(first)
                while chunk := list(islice(waiting, 10_000)):
                    writer.write_table(pa.Table.from_pylist(chunk, first.schema))
            files.append(("questions Parquet into a suite", folder / "questions.parquet", True, False))
        except ImportError:
            print("no pyarrow: Parquet is left out")
        files.append(("answers and scores into a database", answers, False, True))
        for what, path, is_suite, is_database in files:
            into = folder / f"suite-{path.suffix[1:]}" if is_suite else None
            began = time.monotonic()
            looked, took, before, after = measured(path, into, folder / "x.db" if is_database else None)
            print(
                f"{what}: {count / took:,.0f} rows/s ({took:.1f} s, {time.monotonic() - began:.1f} s by the clock), "
                f"{after:.0f} MB at most ({before:.0f} before), looked in {looked * 1000:.0f} ms"
            )


if __name__ == "__main__":
    main()
