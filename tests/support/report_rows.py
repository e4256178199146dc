"""Rows and runs made by hand, for tests of the report room."""

from collections.abc import Sequence
from pathlib import Path

from proctor.bots.bot import Context, Identity, Reply
from proctor.knowledge.questions.question import Question
from proctor.metrics.score import Score, Status
from proctor.reports.store.database import Store
from proctor.reports.store.run import Row, RowStatus, RunHeader, RunMetric, ask_key
from proctor.reports.store.run_results import OpenRun, RunResults
from proctor.reports.store.writer import RowWriter

MATCH = RunMetric("exact_match", "v1", "higher", 0.0, 1.0, 1.0)
LENGTH = RunMetric("answer_length", "v1", "neither", 0.0, None, None)


def header(
    bots: Sequence[str] = ("left", "right"), metrics: Sequence[RunMetric] = (MATCH, LENGTH), **changes
) -> RunHeader:
    return RunHeader("run", [(bot, Identity("python")) for bot in bots], metrics, {"proctor": "test"}, **changes)


def row(run: OpenRun, bot: str, key: str, answer: str | None = "yes", **changes) -> Row:
    question = Question(key, f"What of {key}?", ("yes",), source_document=changes.pop("source_document", ""))
    contexts = changes.pop("contexts", None)
    made = Row(
        question, run.bot_ids[bot], changes.pop("repeat", 0), ask_key(question), asked_at="2026-01-01", **changes
    )
    if made.status is RowStatus.ANSWERED:
        made.reply = Reply(answer, contexts)
    return made


def context(text: str) -> Context:
    return Context(text, "a.md", 0, len(text), 0.5)


def ok(metric: str, value: float, **details: object) -> Score:
    return Score(metric, value, Status.OK, details=details)


class Book:
    """A database with one run, as the engine would hold it."""

    def __init__(self, path: Path, **changes) -> None:
        self.store = Store.open(path)
        self.run_results = RunResults(self.store)
        self.run = self.run_results.begin(header(**changes))
        self.writer = RowWriter(path, self.run.id, self.run.metric_ids)

    def put(self, made: Row, *scores: Score) -> Row:
        self.writer.row(made)
        self.writer.scores(made, scores)
        return made

    def close(self) -> None:
        self.writer.close()
        self.store.close()
