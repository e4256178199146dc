"""Answers a second of `proctor run` with an `openai:` bot, scored and stored, against the endpoint's ideal.

    python tests/benchmarks/bench_endpoint_run.py [QUESTIONS]

A server process on loopback answers after 200 ms, then after 50 ms; 64 questions are in flight. The rate is taken from
the first question asked to the last answered, as they stand in the database. To reach: 90 % of the ideal 320 answers/s
at 200 ms, and 85 % of a bare loop over the same client at 50 ms.
"""

import asyncio
import json
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_chat import bare_rate

SERVER = Path(__file__).parents[1] / "support" / "openai_server.py"
PROGRAM = Path(sys.executable).with_name("proctor")
IN_FLIGHT = 64
RATE = """
SELECT COUNT(*), (julianday(MAX(asked_at)) - julianday(MIN(asked_at))) * 86400 + MIN(latency_ms) / 1000,
    AVG(latency_ms), AVG(queue_ms) FROM replies
"""


def run(url: str, questions: int) -> tuple[int, float, float, float]:
    """Rows, seconds, mean latency and mean queueing of one run."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "document.md").write_text("# Delivery\n\n" + "Parcels arrive within three working days. " * 20)
        lines = (
            {"question": f"When does parcel {n} arrive?", "expected_answer": "In 3 days."} for n in range(questions)
        )
        (folder / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        suite = {
            "knowledge": "document.md",
            "questions": "questions.jsonl",
            "models": {"local": {"model": "openai:any", "base_url": url}},
            "bots": {"full": {"type": "full_context", "model": "local"}},
            "metrics": ["exact_match", "keyword_recall", "rouge_l", "bleu", "answer_length", "latency_ms"],
            "concurrency": IN_FLIGHT,
        }
        (folder / "suite.yaml").write_text(json.dumps(suite))
        done = subprocess.run([PROGRAM, "run", "suite.yaml", "--json"], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr)
        connection = sqlite3.connect(folder / "proctor.db")
        try:
            return connection.execute(RATE).fetchone()
        finally:
            connection.close()


def main() -> None:
    questions = int(sys.argv[1]) if len(sys.argv) > 1 else 6400
    for delay in (0.2, 0.05):
        command = [sys.executable, str(SERVER), "--delay", str(delay)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                url = server.stdout.readline().strip()
                if not url.startswith("http"):
                    url = f"http://127.0.0.1:{url.rpartition(' ')[2]}/v1"
                bare = asyncio.run(bare_rate(url, 4.0, IN_FLIGHT))
                rows, seconds, latency, queued = run(url, questions)
            finally:
                server.terminate()
        ideal, rate = IN_FLIGHT / delay, rows / seconds
        print(
            f"{delay * 1000:.0f} ms, {IN_FLIGHT} in flight: {rate:,.0f} answers/s, {rate / ideal:.2f} of the ideal"
            f" {ideal:,.0f}, {rate / bare:.2f} of a bare loop ({bare:,.0f}/s);"
            f" mean latency {latency:.0f} ms, in our queue {queued:.1f} ms"
        )


if __name__ == "__main__":
    main()
