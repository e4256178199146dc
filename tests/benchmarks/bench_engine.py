"""Rows asked, scored and stored a second by the whole program, its peak memory, and a bare loop beside it.

    python tests/benchmarks/bench_engine.py [ROWS ...]

Runs `proctor run` on JSONL questions with an in-process bot and six metrics, in a fresh folder, and prints for each
number of rows: rows/s, peak resident memory, and the ratio to a bare loop that only calls the bot and the metrics.
"""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

METRICS = ["exact_match", "keyword_recall", "answer_length", "politeness", "rouge_l", "bleu"]
BOT = '''
WORDS = """{words}""".split()


{kind}def answer(question):
    seed = int(question.split()[-1])
    return " ".join(WORDS[(seed * 31 + place * 7) % len(WORDS)] for place in range(20)) + "."
'''


def words(count: int = 2000) -> list[str]:
    chance = random.Random(1)
    return ["".join(chance.choice("abcdefghilmnoprstu") for _ in range(chance.randint(2, 9))) for _ in range(count)]


def write_suite(folder: Path, rows: int, kind: str) -> Path:
    vocabulary = words()
    (folder / "bot.py").write_text(BOT.format(words=" ".join(vocabulary), kind=kind))
    with (folder / "questions.jsonl").open("w") as file:
        for number in range(rows):
            expected = " ".join(vocabulary[(number * 31 + place * 7) % len(vocabulary)] for place in range(12))
            file.write(
                json.dumps({"id": f"q{number}", "question": f"What is {number}", "expected_answer": expected}) + "\n"
            )
    suite = {
        "name": "bench",
        "questions": "questions.jsonl",
        "bots": {"mine": {"type": "python", "target": "bot.py:answer"}},
        "metrics": METRICS,
    }
    path = folder / "suite.yaml"
    path.write_text(json.dumps(suite))
    return path


def bare_loop(folder: Path, rows: int) -> float:
    """Rows a second of the bot and the metrics alone, without engine, store or program start."""
    from proctor.metrics import builtin_catalog

    space: dict = {}
    exec((folder / "bot.py").read_text().replace("async def", "def"), space)  # noqa: S102 - our own text from above
    plan = builtin_catalog().plan(METRICS)
    lines = (folder / "questions.jsonl").read_text().splitlines()[: min(rows, 20_000)]
    start = time.perf_counter()
    for line in lines:
        question = json.loads(line)
        answer = space["answer"](question["question"])
        plan.score_now(
            {"question": question["question"], "answer": answer, "expected_answers": (question["expected_answer"],)}
        )
    return len(lines) / (time.perf_counter() - start)


def main() -> None:
    for rows in [int(given) for given in sys.argv[1:]] or [20_000]:
        for kind in ("async ", ""):
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                suite = write_suite(folder, rows, kind)
                command = [str(Path(sys.executable).parent / "proctor"), "run", str(suite), "--json"]
                start = time.perf_counter()
                done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=os.environ)
                seconds = time.perf_counter() - start
                if done.returncode:
                    raise SystemExit(done.stderr)
                bot = json.loads(done.stdout)["bots"]["mine"]
                assert bot["rows"] == rows and bot["failed"] == 0, bot
                assert bot["metrics"]["bleu"]["n_ok"] == rows, bot
                memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
                size = (folder / "proctor.db").stat().st_size / 1e6
                bare = bare_loop(folder, rows)
                print(
                    f"{rows:>9,} rows, {kind or 'plain '}bot: {rows / seconds:>6,.0f} rows/s whole process, "
                    f"{memory:>4.0f} MB peak so far, {size:.0f} MB database, bare loop {bare:,.0f} rows/s "
                    f"(ratio {rows / seconds / bare:.2f})"
                )


if __name__ == "__main__":
    main()
