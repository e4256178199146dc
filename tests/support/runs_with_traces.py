"""Databases with runs of several bots, their traces, contexts and judges, for tests of rankings."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from proctor.bots.bot import Context, Identity, Reply
from proctor.knowledge.questions.question import Question
from proctor.metrics.score import Score, Status
from proctor.reports.store.database import Store
from proctor.reports.store.run import Row, RunHeader, RunMetric, ask_key
from proctor.reports.store.run_results import RunResults
from proctor.reports.store.writer import RowWriter

METRIC = RunMetric("right", "v1", "higher", 0.0, 1.0, 0.5)

# What a bot says to a question, by its number: the value of the metric, and its reply.
Says = Callable[[int], tuple[float, Reply]]


def says(
    value: float, abstained: bool | None = None, score: float | None = None, **trace: object
) -> tuple[float, Reply]:
    contexts = None if score is None else (Context("far", score=score / 2), Context("near", score=score))
    return value, Reply("so", contexts, abstained=abstained, trace=trace)


def write_run(
    path: Path, bots: Mapping[str, Says], count: int = 10, *, judge: str = "", version: str = "v1",
    answerable: Sequence[bool | None] = (), settings: Mapping[str, Mapping[str, object]] | None = None,
    texts: Callable[[int], str] = "What is {}".format,
) -> str:  # fmt: skip
    """Write a finished run and return its name; two questions make a document."""
    metric = RunMetric(METRIC.name, version, METRIC.better, METRIC.low, METRIC.high, METRIC.threshold)
    model = {"name": judge, "model_id": f"{judge} at 0", "embedded": False, "metrics": [metric.name]}
    manifest = {"settings": {"judge": model}} if judge else {}
    identities = [(bot, Identity("python", settings=(settings or {}).get(bot, {"name": bot}))) for bot in bots]
    store = Store.open(path)
    try:
        run_results = RunResults(store)
        run = run_results.begin(RunHeader("run", identities, [metric], manifest, questions=texts(0)))
        writer = RowWriter(path, run.id, run.metric_ids)
        for number in range(count):
            known = answerable[number] if answerable else None
            expected = () if known is None else ("so",)  # what is expected would tell that there is an answer
            question = Question(
                f"q{number}", texts(number), expected, source_document=f"{number // 2}.md", answerable=known
            )
            for bot, speak in bots.items():
                value, reply = speak(number)
                row = Row(question, run.bot_ids[bot], 0, ask_key(question), asked_at="2026-01-01", position=number)
                row.reply, row.latency_ms = reply, 5.0
                writer.row(row)
                writer.scores(row, [Score(metric.name, value, Status.OK)])
        writer.close()
        run_results.end(run, "finished", {})
        return run.name
    finally:
        store.close()
