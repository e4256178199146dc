"""A cluster on this machine: how it scales, what it costs, that it gives the results of one program, and kills.

python tests/benchmarks/bench_cluster.py scale           # 1, 2, 4, 8 workers, a bot that waits 200 ms
python tests/benchmarks/bench_cluster.py equal 100000    # rows of an instant bot, with and without a cluster
python tests/benchmarks/bench_cluster.py sample          # the packaged sample, with and without a cluster
python tests/benchmarks/bench_cluster.py kills 20        # workers, drivers and nodes killed at random points
python tests/benchmarks/bench_cluster.py plan 100000000  # what so many questions would take, by given figures
"""

import argparse
import contextlib
import itertools
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}

import proctor

WAIT, IN_FLIGHT = 0.2, 4
BOT = """
import asyncio, os, time
async def answer(question):
    with open({notes!r}, "a") as file:
        file.write(f"{{os.getpid()}} {{time.time()}} {{question}}\\n")
    await asyncio.sleep({wait})
    return "It is " + question.split()[-1]
"""
PROGRAM = [sys.executable, "-c", "from proctor.harness.cli.main import main; main()"]
COMPARED = {
    "rows": "SELECT questions.key, run_rows.repeat, run_rows.position, status, answer FROM run_rows JOIN replies"
    " ON replies.id = reply_id JOIN questions ON questions.id = question_id",
    # To 6 digits: a text that is embedded in another batch has another last bit. Times differ, of course.
    "scores": "SELECT bots.name, questions.key, metrics.name, ROUND(value, 6), scores.status, reason FROM scores"
    " JOIN replies ON replies.id = reply_id JOIN bots ON bots.id = bot_id"
    " JOIN questions ON questions.id = question_id JOIN metrics ON metrics.id = metric_id"
    " WHERE metrics.name != 'latency_ms'",
    "means": "SELECT bot, metric, ROUND(mean, 5), n_ok FROM leaderboard WHERE metric != 'latency_ms'",
}


def write(folder: Path, questions: int, wait: float, in_flight: int = IN_FLIGHT) -> Path:
    """A suite with one bot that waits."""
    (folder / "bot.py").write_text(BOT.format(notes=str(folder / "asked.txt"), wait=wait))
    rows = ({"id": f"q{n}", "question": f"What is {n}", "expected_answer": f"It is {n}"} for n in range(questions))
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = {
        "name": "cluster", "questions": "questions.jsonl", "metrics": ["exact_match", "keyword_recall"],
        "bots": {"mine": {"type": "python", "target": "bot.py:answer"}}, "concurrency": in_flight,
    }  # fmt: skip
    (folder / "suite.yaml").write_text(json.dumps(made))
    return folder / "suite.yaml"


def query(database: Path, sql: str) -> list[tuple]:
    with contextlib.closing(sqlite3.connect(database)) as connection:
        return connection.execute(sql).fetchall()


def steady(notes: Path, workers: int) -> tuple[float, float]:
    """Seconds while all workers were asking, and how many questions they should have asked meanwhile; and did."""
    asked = [(int(pid), float(moment)) for pid, moment in (line.split()[:2] for line in notes.read_text().splitlines())]
    first = {pid: min(moment for one, moment in asked if one == pid) for pid, _ in asked}
    last = {pid: max(moment for one, moment in asked if one == pid) for pid, _ in asked}
    begin, end = max(first.values()), min(last.values())
    assert len(first) == workers, f"{len(first)} of {workers} workers were asked for anything: take more questions"
    done = sum(begin < moment <= end for _, moment in asked)
    return end - begin, done / max((end - begin) * workers * IN_FLIGHT / WAIT, 1e-9)


@contextlib.contextmanager
def nodes(processors: int) -> Iterator[None]:
    """One Ray for all runs, so that each pays for its workers alone."""
    import ray

    ray.init("local", num_cpus=processors, include_dashboard=False, object_store_memory=100 << 20, log_to_driver=False)
    try:
        yield
    finally:
        ray.shutdown()


def scale(questions: int) -> None:
    print(f"{questions:,} questions a worker to a bot that waits {WAIT * 1000:.0f} ms, {IN_FLIGHT} in flight at each")
    print("workers   s while all ask   ratio to the ideal   goal   s in all   driver CPU ms a row")
    with nodes(8):
        for workers in (1, 2, 4, 8):
            with tempfile.TemporaryDirectory() as name:
                suite = write(Path(name), questions * workers, WAIT)
                began, used = time.monotonic(), time.process_time()
                proctor.run(suite, on="ray", workers=workers, db=Path(name) / "proctor.db", progress=False)
                whole, cpu = time.monotonic() - began, time.process_time() - used
                seconds, ratio = steady(Path(name) / "asked.txt", workers)
                row = cpu / questions / workers * 1000
                print(f"{workers:7} {seconds:17.1f} {ratio:20.2f}   0.90 {whole:10.1f} {row:21.2f}", flush=True)


def differing(one: Path, other: Path) -> dict[str, int]:
    """How many lines are in one database and not in the other."""
    counts = {}
    for what, sql in COMPARED.items():
        mine, theirs = Counter(query(one, sql)), Counter(query(other, sql))
        others = (mine - theirs) + (theirs - mine)
        counts[what] = others.total()
        for line in others:
            print(f"  {what}: {line}")
    return counts


def verdicts(run: proctor.Run, baseline: str, candidate: str) -> list[object]:
    """What compare says of each metric of two bots, and what the gate says of the second one; to five decimals."""
    found = [each for each in run.compare(baseline, candidate).records() if "latency" not in each["metric"]]
    gate = run.gate(baseline, bots=[candidate]).to_dict()["bots"][candidate]
    every = [*found, [baseline, candidate, gate["verdict"], gate["metrics"]]]
    # Texts that are embedded in other company differ in the eighth decimal.
    return list(json.loads(json.dumps(every), parse_float=lambda figure: round(float(figure), 5)))


def equal(suite: Path, folder: Path, workers: int) -> None:
    made = {}
    for name, options in (("one program", {}), (f"{workers} workers", {"on": "ray", "workers": workers})):
        database = folder / f"{name}.db"
        began, used = time.monotonic(), time.process_time()
        run = proctor.run(suite, db=database, progress=False, **options)
        seconds = time.monotonic() - began
        ((rows,),) = query(database, "SELECT COUNT(*) FROM run_rows")
        made[name] = [
            (each["bot"], each["metric"], *(each[end] and round(each[end], 5) for end in ("ci_low", "ci_high")))
            for each in run.leaderboard()
            if each["metric"] != "latency_ms"
        ]
        made[name] += [each for pair in itertools.combinations(run.bots, 2) for each in verdicts(run, *pair)]
        print(
            f"{name}: {rows:,} rows in {seconds:.1f} s, {rows / seconds:,.0f}/s,"
            f" {(time.process_time() - used) / rows * 1000:.2f} CPU ms a row here",
            flush=True,
        )
    one, cluster = made.values()
    counts = differing(*(folder / f"{name}.db" for name in made))
    others = [(mine, theirs) for mine, theirs in zip(one, cluster, strict=True) if mine != theirs]
    counts["intervals and verdicts"] = len(others)
    for mine, theirs in others[:20]:
        print(f"  {mine}\n    {theirs}")
    print(f"{len(one):,} intervals and verdicts of compare and gate were laid side by side")
    print(f"differing: {', '.join(f'{count} {what}' for what, count in counts.items())} (goal 0)")


def kills(times: int, questions: int = 160, seed: int = 0) -> None:
    """Kill a worker, the driver or a node after so many answers, give the same command again, and count.

    A call is in flight from its start until its answer is on the driver's disk; a worker has no more than
    ``concurrency`` of them, and so many may be repeated for each worker that ended.
    """
    import ray
    from ray.cluster_utils import Cluster

    draw = random.Random(seed)
    node = {"num_cpus": 2, "object_store_memory": 80 << 20, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=node)
    second = cluster.add_node(**node)
    environ = {**os.environ, "RAY_ADDRESS": cluster.address}
    lost = twice = beyond = wrong = 0
    print("killed      after   rows   lost   twice   asked again   of them beyond those in flight")
    try:
        for number in range(times):
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                suite, database, notes = write(folder, questions, 0.1), folder / "proctor.db", folder / "asked.txt"
                command = [*PROGRAM, "run", str(suite), "--on", "ray", "--workers", "2", "--db", str(database)]
                point, victim = draw.randrange(1, questions - 8), ("worker", "driver", "node")[number % 3]
                program = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                while program.poll() is None and (not notes.exists() or len(notes.read_bytes().split(b"\n")) <= point):
                    time.sleep(0.002)
                ends = {"worker": 1, "driver": 2}.get(victim, 2)  # a node may have both workers
                if victim == "node":
                    cluster.remove_node(second, allow_graceful=False)
                else:
                    pid = program.pid if victim == "driver" else int(notes.read_text().split("\n")[-2].split()[0])
                    os.kill(pid, signal.SIGKILL)
                output = program.communicate(timeout=300)[0]
                wrong += victim != "driver" and program.returncode != 0
                subprocess.run(command, env=environ, capture_output=True, check=True, timeout=300)
                ((rows, distinct),) = query(database, "SELECT COUNT(*), COUNT(DISTINCT question_id) FROM run_rows")
                again = len(notes.read_text().splitlines()) - questions
                more = max(again - ends * IN_FLIGHT, 0)
                lost, twice, beyond = lost + questions - distinct, twice + rows - distinct, beyond + more
                print(f"{victim:8} {point:8} {rows:6} {questions - distinct:6} {rows - distinct:7} {again:13} {more:8}")
                if victim != "driver" and program.returncode:
                    print(output.decode())
                sys.stdout.flush()
                if victim == "node":
                    second = cluster.add_node(**node)
    finally:
        ray.shutdown()
        cluster.shutdown()
    print(
        f"{times} kills: {lost} rows lost, {twice} twice, {beyond} calls repeated beyond those in flight (goal 0, 0, 0)"
    )
    print(f"{wrong} runs whose driver was left alone did not end well (goal 0)")


def plan(questions: int, seconds: float, in_flight: int, driver_ms: float, worker_ms: float, row_bytes: int) -> None:
    """What so many questions take, by figures that ``scale`` and ``equal`` print."""
    driver = 1000 / driver_ms
    print(f"one driver merges {driver:,.0f} rows/s: {questions / driver / 3600:,.1f} h for {questions:,} rows")
    print(f"workers that keep it busy: {driver * seconds / in_flight:,.0f}, with {in_flight} in flight each")
    print(f"at {seconds:g} s an answer; processors that they take: {driver * worker_ms / 1000:,.1f}")
    print(f"blocks: {-(-questions // 256):,}")
    print(f"database: {questions * row_bytes / 1e9:,.0f} GB at {row_bytes:,} bytes a row")


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("what", choices=["scale", "equal", "sample", "kills", "plan"])
    reader.add_argument("count", type=int, nargs="?")
    reader.add_argument("--workers", type=int, default=2)
    reader.add_argument("--driver-ms", type=float, default=0.6)
    reader.add_argument("--worker-ms", type=float, default=4.0)
    reader.add_argument("--row-bytes", type=int, default=2000)
    reader.add_argument("--seconds", type=float, default=1.0)
    reader.add_argument("--in-flight", type=int, default=16)
    given = reader.parse_args()
    with tempfile.TemporaryDirectory() as name:
        match given.what:
            case "scale":
                scale(given.count or 400)
            case "equal":
                equal(write(Path(name), given.count or 10_000, 0.0, 16), Path(name), given.workers)
            case "sample":
                equal(None, Path(name), given.workers)
            case "kills":
                kills(given.count or 20)
            case "plan":
                plan(
                    given.count or 100_000_000, given.seconds, given.in_flight, given.driver_ms, given.worker_ms,
                    given.row_bytes,
                )  # fmt: skip


if __name__ == "__main__":
    main()
