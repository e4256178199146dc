"""Runs whose scores a test chooses, kept in a database one after another as the program would keep them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from proctor.metrics.score import Score, Status
from proctor.reports.store.database import Store
from proctor.reports.store.run import RowStatus, RunMetric
from report_rows import Book, ok, row

MATCH = RunMetric("exact_match", "v1", "higher", 0.0, 1.0, 1.0)
Values = Sequence[float | str | None]  # a text is the status of a score without a value


def store_run(
    path: Path, bots: Mapping[str, Mapping[str, Values]], metrics: Sequence[RunMetric] = (MATCH,),
    milliseconds: float = 10.0, failed: Mapping[str, Sequence[int]] | None = None, status: str = "finished",
    answers: Mapping[str, str] | None = None, documents: int = 0, left_out: Sequence[int] = (),
    manifest: Mapping[str, object] | None = None,
) -> str:  # fmt: skip
    """Keep a run and return its name.

    Args:
        path: the database.
        bots: values by bot and metric, a question each, whose keys are q0, q1, ...
        metrics: of the run.
        milliseconds: of the first answer; each later one takes a little longer. The same bot in the same state with
            the same times has the same answers.
        failed: places of the questions on which a bot raised, by bot.
        status: how the run ended.
        answers: what was said, by the question's key; else its key and the first value.
        documents: how many documents the questions come from; 0 makes each its own.
        left_out: places of questions that were never asked.
        manifest: of the run.
    """
    book = Book(path, bots=tuple(bots), metrics=metrics, fresh=True)
    for bot, of_bot in bots.items():
        count = len(next(iter(of_bot.values())))
        for place in (each for each in range(count) if each not in left_out):
            key = f"q{place}"
            raised = place in (failed or {}).get(bot, ())
            said = (answers or {}).get(key, f"{key} {next(iter(of_bot.values()))[place]}")
            made = row(
                book.run, bot, key, said, latency_ms=milliseconds + place / 8,
                status=RowStatus.RAISED if raised else RowStatus.ANSWERED,
                source_document=f"{place % documents}.md" if documents else "",
            )  # fmt: skip
            scores = [
                Score(name, None, Status.BOT_ERROR) if raised else _score(name, values[place])
                for name, values in of_bot.items()
            ]
            book.put(made, *scores)
    book.writer.close()
    book.run_results.end(book.run, status, {}, manifest)
    book.store.close()
    return book.run.name


def _score(name: str, value: float | str | None) -> Score:
    if isinstance(value, (int, float)):
        return ok(name, float(value))
    return Score(name, None, Status(value or "not_applicable"))


def opened(path: Path) -> Store:
    return Store.open(path, create=False)
