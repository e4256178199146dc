"""A database with one run of hand-made rows, as the opened question shows them, and the page that is made of it."""

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.bots.bot import Context, Reply
from proctor.bots.chat.model import Completion
from proctor.knowledge.questions.question import Question
from proctor.metrics.judge.rendering import JudgeRequest
from proctor.metrics.score import Score, Status
from proctor.reports.pages.run_page import run_file
from proctor.reports.report import make_report
from proctor.reports.store.judge_calls import CachedCall, CallRecord, call_key
from proctor.reports.store.run import Row, RunMetric, ask_key
from report_rows import Book


def measure(name: str, threshold: float | None = 0.75, better: str = "higher") -> RunMetric:
    """A metric from 0 to 1."""
    return RunMetric(name, "v1", better, 0.0, 1.0, threshold)


def passage(text: str, document: str = "a.md", start: int = 0, score: float | None = 0.5) -> Context:
    """A context that lies in a document from a character on."""
    return Context(text, document, start, start + len(text), score)


class DetailBook(Book):
    """A run whose rows are given one by one; ``page`` writes the page."""

    def ask(
        self, bot: str, question: Question, reply: Reply | None, scores: Sequence[Score] = (), **changes: Any
    ) -> Row:
        """Keep a row with its scores; without a reply it needs a status and an error."""
        made = Row(
            question, self.run.bot_ids[bot], changes.pop("repeat", 0), ask_key(question),
            asked_at="2026-01-01T09:00:00+00:00", **changes,
        )  # fmt: skip
        made.reply = reply
        return self.put(made, *scores)

    def judged(self, row: Row, judge: str, prompt: str, reply: str, **texts: Any) -> None:
        """Keep a call of a judge, and that the row's scores rest on it."""
        request = JudgeRequest(
            texts.get("name", "review"), texts.get("instructions", "Grade it."), prompt, None, (), 1, 1
        )
        record = CallRecord(
            call_key(judge, request, 0.0), judge, request, row.asked_at, CachedCall(reply, "stop"),
            Completion(reply, reasoning=texts.get("reasoning")), texts.get("problem", ""), latency_ms=140.0,
            queue_ms=0.0, attempts_ms=(140.0,),
        )  # fmt: skip
        self.writer.judge_call(record)
        self.writer.judge_notes(row, [record.stored])

    def page(self, path: Path) -> Path:
        """Write the page; nothing can be kept after that."""
        self.writer.close()
        with path.open("wb") as file:
            file.writelines(run_file(make_report(self.store, self.run.id)))
        return path


def written(path: Path, bots: Sequence[str], metrics: Sequence[RunMetric]) -> contextlib.closing[DetailBook]:
    """A book that is closed at the end of a ``with``."""
    return contextlib.closing(DetailBook(path, bots=bots, metrics=metrics))


def valued(metric: str, value: float, details: Mapping[str, object]) -> Score:
    """A score with its evidence."""
    return Score(metric, value, Status.OK, details=details)
