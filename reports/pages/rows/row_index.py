"""RowIndex: the rows of a page as columns of JSON, all that sorting, filtering and searching need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import orjson

from ...summary import MetricColumn
from .columns import Column, origins, row_metrics
from .kept_json import loaded, short

LONGEST: Final = 2_000  # characters of a text that the index holds; the opened question has more
SHORTEST: Final = 60  # the least to which texts are cut in a run with very many rows
TEXTS: Final = 24_000_000  # bytes of all answers
STATUSES: Final = ("answered", "raised", "timed_out", "refused")
PASSED, FAILED, UNKNOWN = np.frombuffer(b"10-", np.uint8)

# A text function of SQLite would stop at a null byte.
ROWS = """
SELECT run_rows.question_id, run_rows.repeat, run_rows.position, replies.status,
    SUBSTR(CAST(IFNULL(replies.answer, replies.error) AS BLOB), 1, ?), replies.declined, replies.latency_ms
FROM run_rows JOIN replies ON replies.id = run_rows.reply_id
WHERE run_rows.run_id = ? AND run_rows.bot_id = ?"""

LENGTHS = """
SELECT LENGTH(CAST(IFNULL(answer, error) AS BLOB)) FROM run_rows JOIN replies ON replies.id = run_rows.reply_id
WHERE run_rows.run_id = ? AND run_rows.bot_id = ?"""

QUESTIONS = """
SELECT id, key, text, expected, tags, source_document, answerable FROM questions
WHERE id IN (SELECT question_id FROM run_rows WHERE run_id = ?)"""

SCORES = """
SELECT {wanted} FROM run_rows
JOIN scores ON scores.reply_id = run_rows.reply_id AND scores.question_id = run_rows.question_id
WHERE run_rows.run_id = ? AND run_rows.bot_id = ? AND value IS {state}"""
VALUES = SCORES.format(wanted="run_rows.question_id, repeat, metric_id, value", state="NOT NULL")
MISSING = SCORES.format(wanted="run_rows.question_id, repeat, metric_id, scores.status, reason", state="NULL")
VALUE: Final = np.dtype([("question", "i8"), ("repeat", "i8"), ("metric", "i8"), ("value", "f8")])

ABOUT = """
SELECT runs.name, bots.kind, bots.model, bots.embedded FROM runs, bots WHERE runs.id = ? AND bots.id = ?"""

Integers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Outcomes: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]  # one character each
Case = tuple[str, int, int]  # key of a question, its place among those of this key, repeat: how columns are matched
Row = tuple[int, int]  # question id and repeat: a row of a column


@dataclass(frozen=True, slots=True)
class _Asked:
    """The questions of one run by their ids.

    Attributes:
        questions: as they are read.
        turns: which one a question is of those that have its key, from the last: it may be corrected between passes.
    """

    questions: Mapping[int, Sequence[Any]]
    turns: Mapping[int, int]


@dataclass(slots=True)
class RowIndex:
    """The index before it is written.

    Attributes:
        content: what is written, but for what the file leaves out.
        longest: characters of an answer that it holds.
        ids: for each case its question id by origin.
        trouble: for each case how much is wrong with it: failed rows above missing values above failed thresholds.
    """

    content: dict[str, object]
    longest: int
    ids: Sequence[Sequence[int | None]]
    trouble: Integers

    def worst_first(self, place: int) -> list[int]:
        """The question ids of an origin, by its place in ``ids``, those first that somebody will look for."""
        worst: dict[int, int] = {}
        for ids, trouble in zip(self.ids, self.trouble.tolist(), strict=True):
            question = ids[place]
            if question is not None:
                worst[question] = max(worst.get(question, 0), trouble)
        return sorted(worst, key=lambda question: -worst[question])

    def written(self, left_out: Mapping[str, Sequence[int]]) -> bytes:
        """The index as JSON; its form is written down in ``DATA.md``."""
        return orjson.dumps({**self.content, "left_out": left_out}, option=orjson.OPT_SERIALIZE_NUMPY)


def row_index(columns: Sequence[Column], most: int = TEXTS) -> RowIndex:
    """Read the rows of all columns and match them by question and repeat.

    Args:
        columns: of the page.
        most: bytes of all answers; where they have more, each is cut shorter.
    """
    longest = _longest(columns, most)
    read = [_rows(column, longest) for column in columns]  # before the questions: a run that goes on asks more of them
    asked = {origin: _asked(run.store.query(QUESTIONS, [run.id])) for origin, run in origins(columns).items()}
    cases = _cases(columns, read, asked)
    places = [_places(column, rows, cases, asked) for column, rows in zip(columns, read, strict=True)]
    trouble = np.zeros(len(cases), np.int64)
    metrics = row_metrics(columns)
    reasons: dict[str, int] = {}
    told = []
    for column, rows, place in zip(columns, read, places, strict=True):
        scores = _scores(column, metrics, reasons, place, trouble)
        told.append({**_replies(rows, place, trouble, longest), **scores})
    ids, about = _case_columns(cases, asked, longest)
    content: dict[str, object] = {
        "columns": [_about(column) for column in columns],
        "metrics": [_metric(columns, name) for name in metrics],
        "statuses": STATUSES, "longest": longest, "cases": {**about, "ids": ids}, "rows": told,
        "reasons": list(reasons),
    }  # fmt: skip
    return RowIndex(content, longest, ids, trouble)


def _asked(lines: Sequence[Sequence[Any]]) -> _Asked:
    counts: dict[str, int] = {}
    turns: dict[int, int] = {}
    for line in sorted(lines, key=lambda line: -line[0]):  # from the last: that is the one which another run asks
        turns[line[0]] = counts[line[1]] = counts.get(line[1], -1) + 1
    return _Asked({line[0]: line for line in lines}, turns)


def _longest(columns: Sequence[Column], most: int) -> int:
    """How many characters of each answer there is room for."""
    lengths = [
        length
        for column in columns
        for (length,) in column.run.store.query(LENGTHS, [column.run.id, column.bot_id])
        if length
    ]
    sizes = np.array(lengths, np.int64)
    longest = LONGEST
    while longest > SHORTEST and np.minimum(sizes, longest).sum() > most:
        longest = max(longest // 2, SHORTEST)
    return longest


def _rows(column: Column, longest: int) -> dict[Row, Sequence[Any]]:
    lines = column.run.store.query(ROWS, [4 * longest, column.run.id, column.bot_id])
    return {(line[0], line[1]): line for line in lines}


def _cases(
    columns: Sequence[Column], read: Sequence[Mapping[Row, Sequence[Any]]], asked: Mapping[int, _Asked]
) -> dict[Case, dict[int, int]]:
    """The cases with their question ids by origin, in the order in which the first run with a case asked them."""
    found: dict[Case, dict[int, int]] = {}
    order: dict[Case, tuple[int, float, int, int]] = {}
    for column, rows in zip(columns, read, strict=True):
        for (question, repeat), line in rows.items():
            case = _case(asked[column.origin], question, repeat)
            found.setdefault(case, {})[column.origin] = question
            place = (column.origin, np.inf if line[2] is None else line[2], question, repeat)
            order[case] = min(order.get(case, place), place)
    return {case: found[case] for case in sorted(found, key=order.__getitem__)}


def _case(asked: _Asked, question: int, repeat: int) -> Case:
    return (asked.questions[question][1], asked.turns[question], repeat)


def _places(
    column: Column, rows: Mapping[Row, Sequence[Any]], cases: Mapping[Case, object], asked: Mapping[int, _Asked]
) -> dict[Row, int]:
    """Where the rows of a column stand."""
    number = {case: place for place, case in enumerate(cases)}
    return {row: number[_case(asked[column.origin], *row)] for row in rows}


def _case_columns(
    cases: Mapping[Case, Mapping[int, int]], asked: Mapping[int, _Asked], longest: int
) -> tuple[list[list[int | None]], dict[str, object]]:
    """The columns of the cases; texts that stand in several repeats are as small as one when they are compressed."""
    tags: dict[str, int] = {}
    lines = [asked[origin].questions[ids[origin]] for ids in cases.values() for origin in [min(ids)]]
    about = {
        "key": [case[0] for case in cases],
        "repeat": [case[2] for case in cases],
        "text": [line[2][:longest] for line in lines],
        "expected": [[each[:longest] for each in loaded(line[3])] for line in lines],
        "tags": [[tags.setdefault(tag, len(tags)) for tag in loaded(line[4])] for line in lines],
        "tag_names": list(tags),
        "document": [line[5] for line in lines],
        "answerable": [line[6] for line in lines],
    }
    return [[ids.get(origin) for origin in asked] for ids in cases.values()], about


def _text(text: bytes | None, longest: int) -> str | None:
    return None if text is None else text[: 4 * longest].decode("utf-8", "ignore")[:longest]


def _about(column: Column) -> dict[str, object]:
    run, kind, model, embedded = column.run.store.query(ABOUT, [column.run.id, column.bot_id])[0]
    return {
        "name": column.name, "bot": column.bot, "run": run, "origin": column.origin, "kind": kind, "model": model,
        "embedded": bool(embedded),
    }  # fmt: skip


def _metric(columns: Sequence[Column], name: str) -> dict[str, object]:
    found = next(run.columns[name] for run in reversed(origins(columns).values()) if name in run.columns)
    return {
        "name": name, "better": found.better, "low": found.low, "high": found.high, "threshold": found.threshold,
        "is_default": _is_mere_default(found),
    }  # fmt: skip


def _replies(
    rows: Mapping[Row, Sequence[Any]], places: Mapping[Row, int], trouble: Integers, longest: int
) -> dict[str, object]:
    count = len(trouble)
    answers: list[str | None] = [None] * count
    statuses: list[int | None] = [None] * count
    declined: list[int | None] = [None] * count
    latencies: list[float | None] = [None] * count
    for row, (_, _, _, status, answer, said_no, latency) in rows.items():
        place = places[row]
        statuses[place] = STATUSES.index(status)
        answers[place], declined[place], latencies[place] = _text(answer, longest), said_no, short(latency)
        trouble[place] += (status != "answered") << 32
    return {"status": statuses, "answer": answers, "declined": declined, "latency_ms": latencies}


def _scores(
    column: Column, metrics: Sequence[str], reasons: dict[str, int], places: Mapping[Row, int], trouble: Integers
) -> dict[str, object]:
    """Values, whether they pass, and why there are none; what passes is told by the value as it is, not as rounded."""
    run = column.run
    missing: list[dict[str, int]] = [{} for _ in metrics]
    number = {run.metric_ids[name]: place for place, name in enumerate(metrics) if name in run.columns}
    values = _values(column, number, places, (len(metrics), len(trouble)))
    for question, repeat, metric_id, status, reason in run.store.query(MISSING, [run.id, column.bot_id]):
        case, metric = places.get((question, repeat)), number.get(metric_id)
        if case is None or metric is None:  # no case: a row that came while we were reading
            continue
        missing[metric][str(case)] = reasons.setdefault(reason or status, len(reasons))
        trouble[case] += (status != "not_applicable") << 16
    judged = [_judged(line, run.columns.get(name)) for line, name in zip(values, metrics, strict=True)]
    trouble += sum((line == FAILED for line in judged), start=np.zeros_like(trouble))
    return {"values": list(_short_all(values)), "passed": [_told(line) for line in judged], "missing": missing}


def _values(column: Column, number: Mapping[int, int], places: Mapping[Row, int], shape: tuple[int, int]) -> Floats:
    """The values of a column by metric and case, NaN where there is none; a run may have millions of them."""
    made = np.full(shape, np.nan)
    lines = np.fromiter(column.run.store.connection.execute(VALUES, [column.run.id, column.bot_id]), dtype=VALUE)
    if not len(lines) or not places:
        return made
    repeats = 1 + max(int(lines["repeat"].max()), max(repeat for _, repeat in places))
    rows = np.array([question * repeats + repeat for question, repeat in places], np.int64)
    cases = np.fromiter(places.values(), np.int64)
    metrics = np.full(1 + max([int(lines["metric"].max()), *number]), -1)
    for metric, place in number.items():
        metrics[metric] = place
    wanted = lines["question"] * repeats + lines["repeat"]
    order = np.argsort(rows)
    found = order[np.minimum(np.searchsorted(rows, wanted, sorter=order), len(rows) - 1)]
    there = (rows[found] == wanted) & (metrics[lines["metric"]] >= 0)
    made[metrics[lines["metric"]][there], cases[found][there]] = lines["value"][there]
    return made


def _is_mere_default(metric: MetricColumn) -> bool:
    """Whether nobody set its threshold; a check that says yes or no passes by what it is."""
    return metric.threshold_is_default and metric.aggregate != "rate"


def _judged(values: Floats, metric: MetricColumn | None) -> Outcomes:
    """What ``metrics.score.passed`` says of each value; nothing by a threshold that nobody set."""
    outcomes = np.full(len(values), UNKNOWN)
    if metric is None or metric.threshold is None or metric.better == "neither" or _is_mere_default(metric):
        return outcomes
    reached = values >= metric.threshold if metric.better == "higher" else values <= metric.threshold
    outcomes[~np.isnan(values)] = FAILED
    outcomes[reached] = PASSED
    return outcomes


def _told(outcomes: Outcomes) -> str:
    return outcomes.tobytes().decode("ascii")


def _short_all(values: Floats) -> Floats:
    """Four digits of each value: enough to sort by and to show.

    A whole number over or times an exact power of ten is the number nearest to its decimal digits, so that it is
    written with no more digits than these.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        power = 3 - np.floor(np.log10(np.abs(values)))
    power = np.clip(np.where(np.isfinite(power), power, 0), -22, 22)
    up, down = 10.0 ** np.maximum(power, 0), 10.0 ** np.maximum(-power, 0)
    rounded: Floats = np.round(values * up / down) * down / up
    return rounded
