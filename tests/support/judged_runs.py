"""Answers on record, and suites, that a judge behind a server grades; scored in this process."""

import json

from judge_server import judged
from openai_server import OpenAIServer
from proctor.harness.run.engine import Watcher
from proctor.harness.run.recorded_run import recorded_evaluation
from proctor.harness.run.run import run_evaluation
from proctor.harness.run.run_config import RunConfig
from proctor.harness.run.suite_run import suite_evaluation
from proctor.harness.suite.suite_file import load_suite
from proctor.reports.store.database import Store
from suites import write_suite

KEY = "sk-judge-secret-0815-abcdef"
METRICS = ["exact_match", "faithfulness", "context_precision", "context_recall"]
CHUNKS = ["The shop opens at nine. Bikes are repaired in May.", "Parcels go out on Monday. Rome is far."]


def record(folder, rows=6, bots=("mine",)):
    """Answers on record, each with two chunks; of the two claims of an answer the contexts support one."""
    made = [
        {
            "id": f"q{n}", "question": f"When does shop {n} open?", "expected_answer": f"Shop {n} says: at nine.",
            "answer": f"The shop opens at nine. It is closed on day {n} as {bot} says.", "contexts": CHUNKS, "bot": bot,
        }
        for n in range(rows)
        for bot in bots
    ]  # fmt: skip
    (folder / "recorded.jsonl").write_text("".join(json.dumps(line) + "\n" for line in made))


def run_into(evaluation, database):
    store = Store.open(database)
    try:
        return run_evaluation(evaluation, store, Watcher())
    finally:
        store.close()
        for file in database.parent.glob("*.db*"):
            assert KEY.encode() not in file.read_bytes()


def score(folder, server, metrics=METRICS, judge="openai:test-model", database="proctor.db", **options):
    """Score what is on record, in this process."""
    options = RunConfig(metrics=metrics, judge=judge, judge_url=server.url, **options)
    return run_into(recorded_evaluation(folder / "recorded.jsonl", options, {"OPENAI_API_KEY": KEY}), folder / database)


def run(folder, **options):
    """Run the suite, in this process."""
    evaluation = suite_evaluation(load_suite(folder / "suite.yaml"), RunConfig(**options), {"OPENAI_API_KEY": KEY})
    return run_into(evaluation, folder / "proctor.db")


def metrics_of(outcome, bot=0):
    return outcome.summary.bots[bot].metrics


def suite_with_judge(folder, server, questions=4, model=None, **suite):
    """A suite with a plain bot that returns contexts, and a judge named under ``models``."""
    bot = f"def answer(question): return {{'answer': 'The shop opens at nine. ' + question, 'contexts': {CHUNKS!r}}}"
    settings = {"model": "openai:test-model", "base_url": server.url, "price_in": 1, "price_out": 10, **(model or {})}
    given = {"models": {"small": settings}, "judge": "small", "metrics": METRICS}
    return write_suite(folder, bot, questions, **given | suite)


def run_of_broken_judge(folder, readable):
    """Score six answers of each of three bots by ``correct``; of other calls than the readable ones nothing is read."""

    def reply(call):
        return judged(call) if readable(str(call.body)) else "I would rather not say."

    record(folder, bots=("plain", "rag", "careful"))
    with OpenAIServer(reply, structured="ignore") as server:
        return score(folder, server, metrics=["correct"])
