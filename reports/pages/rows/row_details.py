"""Row details: all that is known of some questions: every answer in full, its contexts, scores, evidence and timing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import orjson

from ...store import marks
from .block_queries import OF_BLOCK, BlockQuery, Wanted, all_of_them, bots_of
from .columns import Column
from .kept_json import bounded, cut, fragment, rounded, short
from .row_contexts import RowContexts

PASSAGES_A_BLOCK: Final = 100

REPLIES = f"""
SELECT run_rows.bot_id, run_rows.question_id, run_rows.repeat, run_rows.reply_id, replies.answer, replies.error,
    replies.declined, replies.retrieved, replies.latency_ms, replies.queue_ms, replies.attempts_ms, replies.in_flight,
    replies.tokens_in, replies.tokens_out, replies.cost, replies.reasoning, replies.trace, replies.asked_at
FROM run_rows JOIN replies ON replies.id = run_rows.reply_id
WHERE {OF_BLOCK} ORDER BY run_rows.question_id, run_rows.bot_id, run_rows.repeat"""

CONTEXTS = f"""
SELECT DISTINCT contexts.reply_id, contexts.passage_id, contexts.score, contexts.rank
FROM run_rows JOIN contexts ON contexts.reply_id = run_rows.reply_id
WHERE {OF_BLOCK} ORDER BY contexts.reply_id, contexts.rank"""

PASSAGES = f"""
SELECT id, document, start, "end", text FROM passages WHERE id IN (
    SELECT contexts.passage_id FROM run_rows JOIN contexts ON contexts.reply_id = run_rows.reply_id WHERE {OF_BLOCK})"""

# A score with a value and nothing to say of it stands in the index alone. Details are not joined to scores: that would
# look for those of every score.
MISSING = f"""
SELECT scores.reply_id, scores.question_id, scores.metric_id, scores.status, scores.reason FROM run_rows
JOIN scores ON scores.reply_id = run_rows.reply_id AND scores.question_id = run_rows.question_id
WHERE {OF_BLOCK} AND scores.value IS NULL"""
DETAILS = f"""
SELECT score_details.reply_id, score_details.question_id, score_details.metric_id, details FROM run_rows
JOIN score_details ON score_details.reply_id = run_rows.reply_id AND score_details.question_id = run_rows.question_id
WHERE {OF_BLOCK}"""

QUESTIONS = f"""
SELECT questions.id, questions.key, questions.text, questions.expected, questions.constraints, questions.evidence,
    questions.extra
FROM questions WHERE questions.id IN (SELECT run_rows.question_id FROM run_rows WHERE {OF_BLOCK})
ORDER BY questions.id"""


def detail_block(columns: Sequence[Column], number: int, wanted: Wanted = all_of_them, indexed: int = 0) -> bytes:
    """The questions of one block: a JSON object by question id; its form is written down in ``DATA.md``.

    Args:
        columns: of one run.
        number: of the block: the question id, divided by ``QUESTIONS_A_BLOCK``.
        wanted: tells of a question id whether it is to be in the block.
        indexed: characters of an answer that the index beside it holds, which are not said twice; 0 where there may be
            another index by the time this block is read.
    """
    asked = BlockQuery(columns, number)
    kept = {line[0]: line for line in asked.lines(QUESTIONS) if wanted(line[0])}
    made = {question: _question(line) for question, line in kept.items()}
    contexts = RowContexts(
        {question: line[5] for question, line in kept.items()}, asked.lines(PASSAGES),
        _grouped((reply, (passage, score)) for reply, passage, score, _ in asked.lines(CONTEXTS)),
    )  # fmt: skip
    scores = _scores(columns[0].run.metric_ids, asked.lines(MISSING), asked.lines(DETAILS))
    for line in asked.lines(REPLIES):
        bot_id, question, repeat, reply = line[:4]
        if question not in made:
            continue
        row = {
            **_reply(line, indexed), **contexts.of_row(question, reply, has_retriever=line[7] is not None),
            "scores": scores.get((reply, question), {}),
        }  # fmt: skip
        for name in asked.names[bot_id]:
            made[question]["rows"].setdefault(name, {})[str(repeat)] = row
    return orjson.dumps({str(question): entry for question, entry in made.items()})


def passage_ids(columns: Sequence[Column]) -> list[int]:
    """The passages that the answers of a run rest on."""
    run, bots = columns[0].run, bots_of(columns)
    lines = run.store.query(
        "SELECT DISTINCT passage_id FROM run_rows JOIN contexts ON contexts.reply_id = run_rows.reply_id"
        f" WHERE run_id = ? AND bot_id IN ({marks(bots)}) ORDER BY 1",
        [run.id, *bots],
    )
    return [int(passage) for (passage,) in lines]


def passage_block(columns: Sequence[Column], number: int, wanted: Wanted = all_of_them) -> bytes:
    """The passages of one block, a JSON object by passage id: all of them, or those that are wanted."""
    lines = columns[0].run.store.query(
        'SELECT id, document, start, "end", text FROM passages WHERE id BETWEEN ? AND ?',
        [number * PASSAGES_A_BLOCK, (number + 1) * PASSAGES_A_BLOCK - 1],
    )
    return orjson.dumps(
        {
            str(key): {"document": document, "start": start, "end": end, **cut("text", text)}
            for key, document, start, end, text in lines
            if wanted(key)
        }
    )


def _question(line: Sequence[Any]) -> dict[str, Any]:
    _, key, text, expected, constraints, evidence, extra = line
    return {
        "key": key, **cut("text", text), **bounded("expected", expected), **bounded("constraints", constraints),
        **bounded("evidence", evidence), **bounded("extra", extra), "rows": {},
    }  # fmt: skip


def _reply(line: Sequence[Any], indexed: int) -> dict[str, Any]:
    (_, _, _, _, answer, error, declined, retrieved, latency, queue, attempts, in_flight, tokens_in, tokens_out,
     cost, reasoning, trace, asked_at) = line  # fmt: skip
    given = {} if answer is not None and len(answer) <= indexed else cut("answer", answer)
    timed = {} if indexed else {"latency_ms": short(latency)}
    return {
        **given, **cut("error", error), "declined": declined, "retrieved": retrieved, **timed, "queue_ms": short(queue),
        "attempts_ms": fragment(attempts or "[]"), "in_flight": in_flight, "tokens_in": tokens_in,
        "tokens_out": tokens_out, "cost": cost, **cut("reasoning", reasoning), **cut("trace", trace),
        "asked_at": asked_at,
    }  # fmt: skip


def _grouped(pairs: Iterable[tuple[int, Any]]) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def _scores(
    metrics: Mapping[str, int], missing: Sequence[Sequence[Any]], details: Sequence[Sequence[Any]]
) -> dict[tuple[int, int], dict[str, Any]]:
    """What there is to say of the scores of each reply to each question, by metric; other runs may have other ones."""
    names = {key: name for name, key in metrics.items()}
    found: defaultdict[tuple[int, int], dict[str, Any]] = defaultdict(dict)
    for reply, question, metric, status, reason in missing:
        if metric in names:
            told = {"status": status, "reason": reason} if reason else {"status": status}
            found[reply, question][names[metric]] = told
    for reply, question, metric, text in details:
        if metric in names:
            of_row, name = found[reply, question], names[metric]
            of_row[name] = of_row.get(name, {}) | bounded("details", rounded(text))
    return found
