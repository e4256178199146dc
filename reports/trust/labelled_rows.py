"""Labelled rows: the rows of a run that people can put a label on, in the order of a draw, with what they are shown."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import orjson

from ..reported_run import ReportedRun
from ..store import MOST_BOUND, marks


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """A row with a value of the metric in question.

    Attributes:
        bot: name of the bot.
        question: id of the question in its set.
        repeat: from 0.
        value: what the metric says.
        cluster: the question's source document, or the question itself.
        reply_id: replies.id.
        question_id: questions.id.
    """

    bot: str
    question: str
    repeat: int
    value: float
    cluster: str
    reply_id: int
    question_id: int

    @property
    def key(self) -> str:
        """A name for the row that no spreadsheet takes for a number or a date; the same in every run."""
        return _digest(self.bot, self.question, str(self.repeat)).hex()[:16]


@dataclass(frozen=True, slots=True)
class ShownRow:
    """What a person sees of a row when judging it."""

    question: str
    expected: tuple[str, ...]
    answer: str
    contexts: tuple[str, ...]

    @property
    def content(self) -> bytes:
        """Hash of it all: a label holds wherever the same was said to the same from the same contexts."""
        parts = (self.expected, self.contexts)
        counts = (str(len(part)) for part in parts)
        return _digest(*counts, self.question, self.answer, *(text for part in parts for text in part))


ROWS = """
SELECT bots.name, questions.key, run_rows.repeat, scores.value,
    CASE source_document WHEN '' THEN 'question ' || questions.id ELSE 'document ' || source_document END,
    run_rows.reply_id, run_rows.question_id
FROM run_rows
JOIN bots ON bots.id = run_rows.bot_id
JOIN run_bots ON run_bots.run_id = run_rows.run_id AND run_bots.bot_id = run_rows.bot_id
JOIN questions ON questions.id = run_rows.question_id
JOIN scores ON scores.reply_id = run_rows.reply_id AND scores.question_id = run_rows.question_id
    AND scores.metric_id = :metric
WHERE run_rows.run_id = :run AND scores.value IS NOT NULL
ORDER BY run_bots.position, run_rows.position, run_rows.question_id, run_rows.repeat"""

CONTEXTS = """
SELECT reply_id, text FROM contexts JOIN passages ON passages.id = passage_id
WHERE reply_id IN ({}) ORDER BY reply_id, rank"""


def scored_rows(run: ReportedRun, metric: str) -> dict[str, list[ScoredRow]]:
    """The rows on which a metric has a value, by bot in the order of the suite; bots without one are left out."""
    found: dict[str, list[ScoredRow]] = {}
    for line in run.store.query(ROWS, {"run": run.id, "metric": run.metric_ids[metric]}):
        found.setdefault(line[0], []).append(ScoredRow(*line))
    return found


def drawn(rows: Iterable[ScoredRow], seed: int) -> list[ScoredRow]:
    """The rows in an order of chance that the seed alone decides.

    The first rows are a random sample of all, however many one takes. The order of a row depends on its question and
    repeat alone: every bot gets the same questions, rows that are added later keep the others in order, and another
    run of the same questions has the same order.
    """
    return sorted(rows, key=lambda row: _digest(str(seed), row.question, str(row.repeat)))


def shown_rows(run: ReportedRun, rows: Sequence[ScoredRow]) -> dict[ScoredRow, ShownRow]:
    """What people see of the rows."""
    questions = _texts(run, "SELECT id, text, expected FROM questions", {row.question_id for row in rows})
    replies = _texts(run, "SELECT id, answer FROM replies", {row.reply_id for row in rows})
    contexts: dict[int, list[str]] = {}
    ids = sorted(replies)
    for start in range(0, len(ids), MOST_BOUND):
        some = ids[start : start + MOST_BOUND]
        for reply_id, text in run.store.query(CONTEXTS.format(marks(some)), some):
            contexts.setdefault(reply_id, []).append(text)
    shown = {}
    for row in rows:
        text, expected = questions[row.question_id]
        answer = replies[row.reply_id][0] or ""
        there = tuple(contexts.get(row.reply_id, ()))
        shown[row] = ShownRow(str(text), tuple(orjson.loads(str(expected))), str(answer), there)
    return shown


def _texts(run: ReportedRun, select: str, ids: set[int]) -> dict[int, tuple[str | None, ...]]:
    wanted = sorted(ids)
    found: dict[int, tuple[str | None, ...]] = {}
    for start in range(0, len(wanted), MOST_BOUND):
        some = wanted[start : start + MOST_BOUND]
        found |= {line[0]: line[1:] for line in run.store.query(f"{select} WHERE id IN ({marks(some)})", some)}
    return found


def _digest(*texts: str) -> bytes:
    joined = "\0".join(texts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(joined, digest_size=16).digest()
