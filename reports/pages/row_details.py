"""Row details: all that is known of some questions: every answer in full, its contexts, scores, evidence and timing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from ..store import marks
from .columns import Column

QUESTIONS_A_BLOCK: Final = 50
PASSAGES_A_BLOCK: Final = 100
LONGEST: Final = 50_000  # characters of a text that a page shows; the database has the whole

REPLIES = """
SELECT run_rows.bot_id, run_rows.question_id, run_rows.repeat, run_rows.reply_id, replies.answer, replies.error,
    replies.declined, replies.retrieved, replies.latency_ms, replies.queue_ms, replies.attempts_ms, replies.in_flight,
    replies.tokens_in, replies.tokens_out, replies.cost, replies.reasoning, replies.trace, replies.asked_at
FROM run_rows JOIN replies ON replies.id = run_rows.reply_id
WHERE run_rows.run_id = ? AND run_rows.bot_id IN ({bots}) AND run_rows.question_id BETWEEN ? AND ?"""

CONTEXTS = """
SELECT reply_id, passage_id, score FROM contexts WHERE reply_id IN ({replies}) ORDER BY reply_id, rank"""

SCORES = """
SELECT scores.reply_id, scores.question_id, metrics.name, value, status, reason, details FROM scores
JOIN metrics ON metrics.id = scores.metric_id
JOIN run_metrics ON run_metrics.metric_id = scores.metric_id AND run_metrics.run_id = ?
LEFT JOIN score_details ON score_details.reply_id = scores.reply_id
    AND score_details.question_id = scores.question_id AND score_details.metric_id = scores.metric_id
WHERE scores.reply_id IN ({replies}) AND scores.question_id BETWEEN ? AND ?"""

QUESTIONS = """
SELECT DISTINCT questions.id, questions.key, questions.text, questions.expected, questions.constraints,
    questions.evidence, questions.extra
FROM questions JOIN run_rows ON run_rows.question_id = questions.id
WHERE run_rows.run_id = ? AND questions.id BETWEEN ? AND ?"""


def detail_blocks(columns: Sequence[Column]) -> list[int]:
    """Numbers of the blocks of a run that hold anything."""
    run = columns[0].run
    lines = run.store.query(
        "SELECT DISTINCT question_id / ? FROM run_rows WHERE run_id = ? ORDER BY 1", [QUESTIONS_A_BLOCK, run.id]
    )
    return [int(number) for (number,) in lines]


def detail_block(columns: Sequence[Column], number: int) -> bytes:
    """The questions of one block: a JSON object by question id; its form is written down in ``DATA.md``.

    Args:
        columns: of one run.
        number: of the block: the question id, divided by ``QUESTIONS_A_BLOCK``.
    """
    run = columns[0].run
    span = [number * QUESTIONS_A_BLOCK, (number + 1) * QUESTIONS_A_BLOCK - 1]
    made: dict[str, dict[str, Any]] = {
        str(line[0]): _question(line) for line in run.store.query(QUESTIONS, [run.id, *span])
    }
    places = {column.bot_id: column.name for column in columns}
    replies = run.store.query(REPLIES.format(bots=marks(places)), [run.id, *places, *span])
    ids = sorted({line[3] for line in replies})
    contexts = _contexts(run.store.query(CONTEXTS.format(replies=marks(ids)), ids))
    scores = _scores(run.store.query(SCORES.format(replies=marks(ids)), [run.id, *ids, *span]))
    for line in replies:
        bot_id, question_id, repeat, reply_id = line[:4]
        row = _reply(line) | {
            "contexts": contexts.get(reply_id, []),
            "scores": scores.get((reply_id, question_id), {}),
        }
        made[str(question_id)]["rows"].setdefault(places[bot_id], {})[str(repeat)] = row
    return orjson.dumps(made)


def passage_blocks(columns: Sequence[Column]) -> list[int]:
    """Numbers of the blocks of passages that the answers of a run rest on."""
    run, bots = columns[0].run, [column.bot_id for column in columns]
    lines = run.store.query(
        "SELECT DISTINCT passage_id / ? FROM contexts JOIN run_rows ON run_rows.reply_id = contexts.reply_id"
        f" WHERE run_id = ? AND bot_id IN ({marks(bots)}) ORDER BY 1",
        [PASSAGES_A_BLOCK, run.id, *bots],
    )
    return [int(number) for (number,) in lines]


def passage_block(columns: Sequence[Column], number: int) -> bytes:
    """The passages of one block: a JSON object by passage id, without those of other runs."""
    run, bots = columns[0].run, [column.bot_id for column in columns]
    lines = run.store.query(
        'SELECT id, document, start, "end", text FROM passages WHERE id BETWEEN ? AND ? AND id IN'
        " (SELECT passage_id FROM contexts JOIN run_rows ON run_rows.reply_id = contexts.reply_id"
        f" WHERE run_id = ? AND bot_id IN ({marks(bots)}))",
        [number * PASSAGES_A_BLOCK, (number + 1) * PASSAGES_A_BLOCK - 1, run.id, *bots],
    )
    return orjson.dumps(
        {
            str(key): {"document": document, "start": start, "end": end, **_cut("text", text)}
            for key, document, start, end, text in lines
        }
    )


def _cut(name: str, text: str | None) -> dict[str, object]:
    """A text under its name; when it is cut, ``NAME_length`` says how long it is."""
    if text is None or len(text) <= LONGEST:
        return {name: text}
    return {name: text[:LONGEST], f"{name}_length": len(text)}


def _question(line: Sequence[Any]) -> dict[str, Any]:
    _, key, text, expected, constraints, evidence, extra = line
    return {
        "key": key, **_cut("text", text), "expected": orjson.Fragment(expected),
        "constraints": orjson.Fragment(constraints), "evidence": orjson.Fragment(evidence),
        "extra": orjson.Fragment(extra), "rows": {},
    }  # fmt: skip


def _reply(line: Sequence[Any]) -> dict[str, Any]:
    (_, _, _, reply_id, answer, error, declined, retrieved, latency, queue, attempts, in_flight, tokens_in, tokens_out,
     cost, reasoning, trace, asked_at) = line  # fmt: skip
    return {
        "reply_id": reply_id, **_cut("answer", answer), **_cut("error", error), "declined": declined,
        "retrieved": retrieved, "latency_ms": latency, "queue_ms": queue,
        "attempts_ms": orjson.Fragment(attempts or "[]"), "in_flight": in_flight, "tokens_in": tokens_in,
        "tokens_out": tokens_out, "cost": cost, **_cut("reasoning", reasoning), **_cut("trace", trace),
        "asked_at": asked_at,
    }  # fmt: skip


def _contexts(lines: Sequence[Sequence[Any]]) -> Mapping[int, list[list[Any]]]:
    found: dict[int, list[list[Any]]] = {}
    for reply_id, passage_id, score in lines:
        found.setdefault(reply_id, []).append([passage_id, score])
    return found


def _scores(lines: Sequence[Sequence[Any]]) -> Mapping[tuple[int, int], dict[str, Any]]:
    found: dict[tuple[int, int], dict[str, Any]] = {}
    for reply_id, question_id, name, value, status, reason, details in lines:
        score = {"value": value, "status": status, "reason": reason, "details": orjson.Fragment(details or "{}")}
        found.setdefault((reply_id, question_id), {})[name] = score
    return found
