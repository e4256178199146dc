"""What judging costs: calls, tokens, time in flight and processor time of `proctor score` with a judge on loopback.

    python tests/benchmarks/bench_judge.py [ROWS [MILLISECONDS:IN_FLIGHT[:fp32 or :int8] ...]]

Recorded answers with three chunks each are graded by five metrics (faithfulness, answer relevancy, context precision,
context recall, answer correctness). A server process answers by rules after 50 ms, then after 500 ms. With `int8`
the embedder calculates in whole numbers: `proctor run` on a suite with `embedder: {precision: int8}`, to be compared
with `fp32` by the same command. Efficiency is calls x latency / calls in flight / seconds from the first call to the
last, as they stand in the database; of the whole evaluation, over the seconds of the program without those that one row
takes. Beside it stands what a bare loop of aiohttp reaches that sends the same requests to the same server and does
nothing else, once before and once after.
"""

import asyncio
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import aiohttp

SERVER = Path(__file__).parents[1] / "support" / "judge_server.py"
PROGRAM = [sys.executable, "-c", "from proctor.harness.cli.main import main; main()"]
METRICS = "faithfulness,answer_relevancy,context_precision,context_recall,answer_correctness"
_GOALS = {(0.05, 16): 0.9, (0.05, 64): 0.75, (0.5, 64): 0.97}
FIGURES = """
SELECT COUNT(*), MIN(julianday(asked_at)) * 86400,
    MAX(julianday(asked_at) * 86400 + (IFNULL(latency_ms, 0) + IFNULL(queue_ms, 0)) / 1000), SUM(tokens_in)
FROM judge_calls
"""
REQUESTS = """
SELECT prompts.text, requests.text, schemas.text FROM judge_calls
JOIN judge_prompts AS prompts ON prompts.id = prompt_id
JOIN judge_texts AS requests ON requests.id = request_id LEFT JOIN judge_texts AS schemas ON schemas.id = schema_id
ORDER BY judge_calls.asked_at
"""
CHUNK = (
    "Parcel {n} to region {c} leaves the depot on the morning after the order. It arrives within {d} working days. "
    "Larger boxes take one day more. The driver rings twice and leaves a card. Customs may hold it for a week. "
    "Tracking codes are sent by mail as soon as the parcel is scanned at depot {n}. Refunds are paid within 14 days."
)


def record(number: int) -> dict[str, object]:
    """One answer with three chunks of about 400 characters."""
    days = number % 7 + 2
    chunks = [CHUNK.format(n=number, c=chunk, d=days + chunk) for chunk in range(3)]
    answer = f"It arrives within {days} working days. Larger boxes take one day more. The office is in Rome {number}."
    expected = f"It arrives within {days} working days. Tracking codes are sent by mail."
    return {
        "id": f"q{number}", "question": f"When does parcel {number} arrive, and how do I follow it?",
        "expected_answer": expected, "answer": answer, "contexts": chunks,
    }  # fmt: skip


@dataclass(frozen=True)
class Scored:
    """Calls, seconds with calls under way, prompt tokens; processor time and seconds of the program; the requests."""

    calls: int
    seconds: float
    tokens: int
    spent: float
    whole: float
    bodies: list[bytes]


def score(url: str, rows: int, in_flight: int, precision: str) -> Scored:
    """Score so many rows by the program; with a precision as the run of a suite."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "recorded.jsonl").write_text("".join(json.dumps(record(number)) + "\n" for number in range(rows)))
        bots = {"recorded": {"type": "recorded", "answers": "recorded.jsonl"}}
        chosen = {"metrics": METRICS.split(","), "embedder": {"precision": precision or "fp32"}}
        suite = {"questions": "recorded.jsonl", "bots": bots, **chosen}
        (folder / "suite.yaml").write_text(json.dumps(suite))
        command = ["run", "suite.yaml"] if precision else ["score", "recorded.jsonl", "--metrics", METRICS]
        judge = ["--judge", "openai:any", "--judge-url", url, "--concurrency", str(in_flight)]
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run(
            [*PROGRAM, *command, "--json", *judge],
            cwd=folder, capture_output=True, text=True, env={**os.environ, "OPENAI_API_KEY": "none"},
        )  # fmt: skip
        seconds, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise SystemExit(done.stderr)
        connection = sqlite3.connect(folder / "proctor.db")
        try:
            calls, first, last, tokens = connection.execute(FIGURES).fetchone()
            bodies = [body(*texts) for texts in connection.execute(REQUESTS)]
        finally:
            connection.close()
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Scored(calls, last - first, tokens, spent, seconds, bodies)


def body(system: str, prompt: str, schema: str | None) -> bytes:
    """A request as the program sends it."""
    messages = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
    made: dict[str, object] = {"model": "any", "messages": messages}
    if schema is not None:
        wanted = {"name": "reply", "schema": json.loads(schema), "strict": True}
        made["response_format"] = {"type": "json_schema", "json_schema": wanted}
    return json.dumps(made).encode()


async def bare(url: str, bodies: list[bytes], in_flight: int) -> float:
    """Seconds that a bare loop takes for these requests, each of which it waits for and reads as JSON."""
    left = iter(bodies)

    async def worker(session: aiohttp.ClientSession) -> None:
        for each in left:
            headers = {"Content-Type": "application/json"}
            async with session.post(f"{url}/chat/completions", data=each, headers=headers) as response:
                await response.json()

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        began = time.monotonic()
        await asyncio.gather(*(worker(session) for _ in range(in_flight)))
        return time.monotonic() - began


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    for case in sys.argv[2:] or ("50:16", "50:64", "500:64", "50:64:fp32", "50:64:int8"):
        milliseconds, calls, *chosen = case.split(":")
        delay, in_flight, precision = int(milliseconds) / 1000, int(calls), "".join(chosen)
        command = [sys.executable, str(SERVER), "--delay", str(delay)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                url = server.stdout.readline().strip()
                base = score(url, 1, in_flight, precision)  # what starting the program and its models takes
                before = asyncio.run(bare(url, score(url, 20, in_flight, precision).bodies * (rows // 20), in_flight))
                made = score(url, rows, in_flight, precision)
                after = asyncio.run(bare(url, made.bodies, in_flight))
            finally:
                server.terminate()
        least = made.calls * delay / in_flight
        print(
            f"{delay * 1000:.0f} ms, {in_flight} in flight {precision}: efficiency {least / made.seconds:.2f} (goal"
            f" {_GOALS.get((delay, in_flight), 0.9)}), of the whole evaluation {least / (made.whole - base.whole):.2f},"
            f" bare loop {least / before:.2f} and {least / after:.2f}; {made.calls / rows:.2f} calls (goal 6) and"
            f" {made.tokens / rows:,.0f} prompt words a row; {(made.spent - base.spent) / rows:.4f} s of"
            f" processor time a row (goal 0.012); {rows / made.seconds:,.0f} rows/s, {made.whole:.1f} s in all; load"
            f" {os.getloadavg()[0]:.1f}"
        )


if __name__ == "__main__":
    main()
