"""What faults of a judge cost: seconds against a clean run, and scores that are lost, of `proctor score`.

    python tests/benchmarks/bench_faults.py [ROWS [FAULT ...]]

Rows of `bench_judge.py` are graded by five metrics; the server answers after 50 ms, 16 calls are in flight. Which calls
fail is drawn from a seed by their number. `429`: 2.5 % are refused with `Retry-After: 1`. `mixed`: one of a 429, a 500,
a lost connection, a broken body and a reply that can't be read. `away`: every connection is lost for so many seconds.
"""

import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bench_judge import FIGURES, METRICS, PROGRAM, record

sys.path.append(str(Path(__file__).parents[1] / "support"))
from judge_server import JudgeServer, judged
from openai_server import BROKEN_JSON, DROP, Call, Fault, status, throttle

UNREADABLE = "unreadable"
MIXED = (throttle("1"), status(500), DROP, BROKEN_JSON, UNREADABLE)
AFTER = 100  # calls before the judge goes away
CASES = {  # name: share of calls that fail, how, seconds for which it is away, goals
    "clean": (0.0, (), 0.0, ""),
    "429": (0.025, (throttle("1"),), 0.0, "at most 1.3 times the clean seconds, 0 lost"),
    "mixed5": (0.05, MIXED, 0.0, "at most 1.5 times, 0 of 500 lost"),
    "mixed20": (0.2, MIXED, 0.0, "at most 2 of 500 lost"),
    "unreadable20": (0.2, (UNREADABLE,), 0.0, "none; 0.8 % of calls are unreadable three times"),
    "away3": (0.0, (), 3.0, "0 lost"),
    "away10": (0.0, (), 10.0, "0 lost"),
}


def planned(name: str) -> tuple[Callable[[Call], Fault | None], Callable[[Call], str | Mapping[str, Any]]]:
    """The faults of a case, and what the server answers."""
    share, kinds, away, _ = CASES[name]
    gone_at: list[float] = []

    def drawn(call: Call) -> Fault | str | None:
        luck = random.Random(call.number)
        return luck.choice(kinds) if luck.random() < share else None

    def fault(call: Call) -> Fault | None:
        if away and call.number >= AFTER:
            gone_at[:] = gone_at or [time.monotonic()]
            return DROP if time.monotonic() - gone_at[0] < away else None
        found = drawn(call)
        return found if isinstance(found, Fault) else None

    return fault, lambda call: "I would say so." if drawn(call) == UNREADABLE else judged(call)


def serve(name: str) -> None:
    """Serve one case until ended."""
    fault, script = planned(name)
    with JudgeServer(script, models=None, delay=0.05, faults=fault, structured="ignore") as server:
        print(server.url, flush=True)
        threading.Event().wait()


def scored(name: str, rows: int) -> tuple[float, float, int, int, int]:
    """Seconds with calls under way, seconds of the program, calls stored, scores without a value, exit code."""
    with (
        tempfile.TemporaryDirectory() as made,
        subprocess.Popen([sys.executable, __file__, "--serve", name], stdout=subprocess.PIPE, text=True) as server,
    ):
        try:
            url = server.stdout.readline().strip()
            folder = Path(made)
            (folder / "recorded.jsonl").write_text("".join(json.dumps(record(number)) + "\n" for number in range(rows)))
            options = ["--metrics", METRICS, "--json", "--judge", "openai:any", "--judge-url", url]
            began = time.monotonic()
            done = subprocess.run(
                [*PROGRAM, "score", "recorded.jsonl", *options, "--concurrency", "16"],
                cwd=folder, capture_output=True, text=True, env={**os.environ, "OPENAI_API_KEY": "none"},
            )  # fmt: skip
            whole = time.monotonic() - began
            connection = sqlite3.connect(folder / "proctor.db")
            calls, first, last, _ = connection.execute(FIGURES).fetchone()
            (lost,) = connection.execute("SELECT COUNT(*) FROM scores WHERE value IS NULL").fetchone()
            (made_scores,) = connection.execute("SELECT COUNT(*) FROM scores").fetchone()
            connection.close()
        finally:
            server.terminate()
    return last - first, whole, calls, lost + 5 * rows - made_scores, done.returncode


def main() -> None:
    rows, names = (int(sys.argv[1]) if len(sys.argv) > 1 else 100), sys.argv[2:] or list(CASES)[1:]
    clean = scored("clean", rows)
    print(f"clean: {clean[0]:.1f} s with calls under way, {clean[1]:.1f} s in all; {clean[2]} calls, {clean[3]} lost")
    for name in names:
        seconds, whole, calls, lost, code = scored(name, rows)
        print(
            f"{name}: {seconds / clean[0]:.2f} times with calls under way, {whole / clean[1]:.2f} in all; {calls}"
            f" calls, {lost} of {5 * rows} scores lost, exit code {code} (goal: {CASES[name][3]}); load"
            f" {os.getloadavg()[0]:.1f}",
            flush=True,
        )


if __name__ == "__main__":
    serve(sys.argv[2]) if sys.argv[1:2] == ["--serve"] else main()
