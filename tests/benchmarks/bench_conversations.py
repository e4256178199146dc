"""Wall time of `proctor run` over conversations against the bound that the order of their turns sets.

    python tests/benchmarks/bench_conversations.py [CONVERSATIONS] [TURNS]

A server process on loopback answers after 50 ms. Bots read the whole exchange (`history: concatenate`): one with 16
conversations in flight, three side by side with 5 each, which are 15, and three with 16 each, which are 48. No run can
be faster than its rounds: 200 conversations, 16 at once, are 13 rounds of 8 turns of 50 ms. The time is taken from the
first turn asked to the last answered, as they stand in the database. A bare loop over OpenAI's client, with no harness,
is shown beside it: what it loses is the client's and the machine's. Goal: 0.90 of the bound with 16 conversations in
flight.
"""

import asyncio
import json
import math
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SERVER = Path(__file__).parents[1] / "support" / "openai_server.py"
PROGRAM = [sys.executable, "-c", "from proctor.harness.cli.main import main; main()"]
DELAY, GOAL = 0.05, 0.90
CASES = ((1, 16, f"{GOAL:7.2f}"), (3, 5, f"{GOAL:7.2f}"), (3, 16, " " * 7))  # bots, in flight each, goal
SPAN = """
SELECT COUNT(*), (julianday(MAX(julianday(asked_at) * 86400 + latency_ms / 1000) / 86400)
    - julianday(MIN(asked_at))) * 86400, AVG(latency_ms), TOTAL(status != 'answered') FROM replies
"""


def run(url: str, conversations: int, turns: int, bots: int, in_flight: int) -> tuple[float, float]:
    """Seconds from the first turn to the last, and the mean latency in milliseconds."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "document.md").write_text("# Delivery\n\n" + "Parcels arrive within three working days. " * 20)
        talks = (
            {"id": f"c{number}", "turns": [
                {"ask": f"And when does parcel {number}-{turn} arrive?", "expected_answer": "In 3 days."}
                for turn in range(turns)
            ]} for number in range(conversations)
        )  # fmt: skip
        (folder / "questions.jsonl").write_text("".join(json.dumps(talk) + "\n" for talk in talks))
        suite = {
            "name": "conversations", "knowledge": "document.md", "questions": "questions.jsonl",
            "models": {"local": {"model": "openai:any", "base_url": url}},
            "bots": {
                f"bot{number}": {"type": "full_context", "model": "local", "history": "concatenate"}
                for number in range(bots)
            },
            "metrics": ["exact_match", "keyword_recall", "answer_length", "latency_ms"],
            "concurrency": in_flight,
        }  # fmt: skip
        (folder / "suite.yaml").write_text(json.dumps(suite))
        done = subprocess.run([*PROGRAM, "run", "suite.yaml", "--json"], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr)
        connection = sqlite3.connect(folder / "proctor.db")
        try:
            rows, seconds, latency, failed = connection.execute(SPAN).fetchone()
        finally:
            connection.close()
    if rows != conversations * turns * bots or failed:
        raise SystemExit(f"{rows} rows, {failed:.0f} failed; {conversations * turns * bots} were wanted.")
    return seconds, latency


async def bare(url: str, conversations: int, turns: int, at_once: int) -> float:
    """Seconds that the same number of turns takes over the same client, with nothing of ours around it."""
    from openai import AsyncOpenAI, DefaultAioHttpClient

    left = iter(range(conversations))
    http = DefaultAioHttpClient(trust_env=False)
    async with AsyncOpenAI(api_key="none", base_url=url, max_retries=0, http_client=http) as client:

        async def worker() -> None:
            for number in left:
                for turn in range(turns):
                    text = f"{number} {turn} " + "Parcels arrive within three working days. " * 20
                    await client.chat.completions.create(model="any", messages=[{"role": "user", "content": text}])

        begun = time.perf_counter()
        await asyncio.gather(*(worker() for _ in range(at_once)))
        return time.perf_counter() - begun


def main() -> None:
    conversations, turns = (int(each) for each in (*sys.argv[1:], *["200", "8"][len(sys.argv) - 1 :]))
    command = [sys.executable, str(SERVER), "--delay", str(DELAY)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip().rpartition(" ")[2]
            url = url if url.startswith("http") else f"http://127.0.0.1:{url}/v1"
            print(f"{conversations} conversations x {turns} turns a bot, at {DELAY * 1000:.0f} ms")
            print(f"{'':22}{'seconds':>9}{'bound':>8}{'efficiency':>12}{'goal':>7}{'latency':>10}")
            for bots, in_flight, goal in CASES:
                bound = math.ceil(conversations / in_flight) * turns * DELAY
                seconds = asyncio.run(bare(url, conversations * bots, turns, in_flight * bots))
                print(f"{f'bare loop, {bots} x {in_flight}':22}{seconds:9.2f}{bound:8.2f}{bound / seconds:12.2f}")
                seconds, latency = run(url, conversations, turns, bots, in_flight)
                name = f"proctor run, {bots} x {in_flight}"
                print(f"{name:22}{seconds:9.2f}{bound:8.2f}{bound / seconds:12.2f}{goal}{latency:8.1f}ms", flush=True)
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
