"""Row index: the rows of a page as columns of JSON, all that sorting, filtering and searching need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from ...metrics.score import passed
from .columns import Column, origins, row_metrics

LONGEST: Final = 2_000  # characters of a text that the index holds; the opened question has more
STATUSES: Final = ("answered", "raised", "timed_out", "refused")
PASSED: Final = {True: "1", False: "0", None: "-"}

ROWS = """
SELECT questions.id, questions.key, run_rows.repeat, questions.text, questions.expected, questions.tags,
    questions.source_document, questions.answerable, run_rows.position, replies.status,
    SUBSTR(IFNULL(replies.answer, replies.error), 1, ?), replies.declined, replies.latency_ms
FROM run_rows JOIN questions ON questions.id = run_rows.question_id JOIN replies ON replies.id = run_rows.reply_id
WHERE run_rows.run_id = ? AND run_rows.bot_id = ?
ORDER BY run_rows.position, run_rows.question_id, run_rows.repeat"""

SCORES = """
SELECT questions.key, run_rows.repeat, scores.metric_id, scores.value, scores.status, scores.reason
FROM run_rows JOIN questions ON questions.id = run_rows.question_id
JOIN scores ON scores.reply_id = run_rows.reply_id AND scores.question_id = run_rows.question_id
WHERE run_rows.run_id = ? AND run_rows.bot_id = ?"""

Case = tuple[str, int]  # key of a question, and repeat: what rows of all columns are matched by


@dataclass(slots=True)
class _Cases:
    """The lines of the index, in the order in which they come."""

    places: dict[Case, int] = field(default_factory=dict)
    about: list[tuple[Any, ...]] = field(default_factory=list)
    ids: list[list[int | None]] = field(default_factory=list)
    texts: list[dict[int, tuple[str, list[str]]]] = field(default_factory=list)


def row_index(columns: Sequence[Column]) -> bytes:
    """The index as JSON; its form is written down in ``DATA.md``."""
    cases = _Cases()
    read = [list(_rows(column)) for column in columns]
    for column, rows in zip(columns, read, strict=True):
        for line in rows:
            _add(cases, column.origin, len(origins(columns)), line)
    metrics = row_metrics(columns)
    reasons: dict[str, int] = {}
    return orjson.dumps(
        {
            "columns": [_about(column) for column in columns],
            "metrics": [_metric(columns, name) for name in metrics],
            "statuses": STATUSES,
            "cases": _case_columns(cases),
            "rows": [
                {**_replies(cases, rows), **_scores(cases, column, metrics, reasons)}
                for column, rows in zip(columns, read, strict=True)
            ],
            "reasons": list(reasons),
        },
        option=orjson.OPT_SERIALIZE_NUMPY,
    )


def _rows(column: Column) -> Iterator[tuple[Any, ...]]:
    yield from column.run.store.connection.execute(ROWS, [LONGEST, column.run.id, column.bot_id])


def _add(cases: _Cases, origin: int, origin_count: int, line: tuple[Any, ...]) -> None:
    question_id, key, repeat, *about = line
    place = cases.places.setdefault((key, repeat), len(cases.about))
    if place == len(cases.about):
        cases.about.append((key, repeat, *about[:5]))
        cases.ids.append([None] * origin_count)
    cases.ids[place][origin] = question_id


def _case_columns(cases: _Cases) -> dict[str, object]:
    """The columns of the cases; texts that stand in several repeats are as small as one when they are compressed."""
    tags: dict[str, int] = {}
    keys, repeats, texts, expected, tagged, documents, answerable = (
        zip(*cases.about, strict=True) if cases.about else ((),) * 7
    )
    return {
        "key": keys,
        "repeat": repeats,
        "ids": cases.ids,
        "text": [text[:LONGEST] for text in texts],
        "expected": [[each[:LONGEST] for each in orjson.loads(each)] for each in expected],
        "tags": [[tags.setdefault(tag, len(tags)) for tag in orjson.loads(each)] for each in tagged],
        "tag_names": list(tags),
        "document": documents,
        "answerable": answerable,
    }


def _about(column: Column) -> dict[str, object]:
    bot = next(bot for bot in column.run.bots if bot.name == column.bot)
    return {
        "name": column.name, "bot": column.bot, "run": column.run.summary.run, "origin": column.origin,
        "kind": bot.kind, "model": bot.model, "embedded": bot.embedded,
    }  # fmt: skip


def _metric(columns: Sequence[Column], name: str) -> dict[str, object]:
    found = next(run.columns[name] for run in reversed(origins(columns)) if name in run.columns)
    return {"name": name, "better": found.better, "low": found.low, "high": found.high, "threshold": found.threshold}


def _replies(cases: _Cases, rows: Sequence[tuple[Any, ...]]) -> dict[str, object]:
    count = len(cases.about)
    answers: list[str | None] = [None] * count
    statuses: list[int | None] = [None] * count
    declined: list[int | None] = [None] * count
    latencies: list[float | None] = [None] * count
    for line in rows:
        place = cases.places[line[1], line[2]]
        statuses[place] = STATUSES.index(line[9])
        answers[place], declined[place], latencies[place] = line[10], line[11], _short(line[12])
    return {"status": statuses, "answer": answers, "declined": declined, "latency_ms": latencies}


def _scores(cases: _Cases, column: Column, metrics: Sequence[str], reasons: dict[str, int]) -> dict[str, object]:
    """Values, whether they pass, and why there are none; what passes is told by the value as it is, not as rounded."""
    count = len(cases.about)
    run = column.run
    places = {run.metric_ids[name]: place for place, name in enumerate(metrics) if name in run.metric_ids}
    judged = [run.columns.get(name) for name in metrics]
    values: list[list[float | None]] = [[None] * count for _ in metrics]
    outcomes = [["-"] * count for _ in metrics]
    missing: list[dict[int, int]] = [{} for _ in metrics]
    for key, repeat, metric_id, value, status, reason in run.store.connection.execute(SCORES, [run.id, column.bot_id]):
        metric = places.get(metric_id)
        if metric is None:
            continue
        case = cases.places[key, repeat]
        if value is None:
            missing[metric][case] = reasons.setdefault(reason or status, len(reasons))
            continue
        values[metric][case] = _short(value)
        about = judged[metric]
        if about is not None:
            outcomes[metric][case] = PASSED[passed(value, about.threshold, about.better)]
    missing_texts = [{str(case): reason for case, reason in each.items()} for each in missing]
    return {"values": values, "passed": ["".join(each) for each in outcomes], "missing": missing_texts}


def _short(value: float | None) -> float | None:
    """Four digits: enough to sort by and to show."""
    return None if value is None else float(f"{value:.4g}")
