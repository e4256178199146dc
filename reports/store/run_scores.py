"""Run scores: what metrics of level ``run`` say of each bot, from counts in the database, stored beside its rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from ...knowledge import encodable
from ...metrics import RunFacts, Score
from .database import Store, transaction
from .encoding import to_json
from .run_results import OpenRun

COUNTS = """
SELECT COUNT(*) AS rows, TOTAL(status != 'answered') AS failed_rows, TOTAL(retrieved IS NOT NULL) AS retriever_rows,
    TOTAL(retrieved IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM contexts JOIN passages ON passages.id = passage_id
        WHERE contexts.reply_id = replies.id
            AND (unicode(text) BETWEEN 33 AND 126 OR TRIM(text, :blanks) != '')  -- what most begin with is soon seen
    )) AS empty_context_rows
FROM run_rows JOIN replies ON replies.id = reply_id WHERE run_id = :run AND run_rows.bot_id = :bot"""

# A judge's reply on which several rows of the bot rest counts once.
JUDGING = """
SELECT judge, call, COUNT(*), TOTAL(is_unreadable), TOTAL(spent), TOTAL(is_without_price), TOTAL(latency_ms) FROM (
    SELECT judge, call, MAX(problem IS NOT NULL) AS is_unreadable, MAX(latency_ms) AS latency_ms,
        MAX(IIF(paid AND judge_calls.run_id = :run, cost, 0)) AS spent,
        MAX(paid AND judge_calls.run_id = :run AND cost IS NULL) AS is_without_price
    FROM run_rows JOIN row_judge_calls ON row_judge_calls.run_id = run_rows.run_id
        AND row_judge_calls.reply_id = run_rows.reply_id AND row_judge_calls.question_id = run_rows.question_id
    JOIN judge_calls ON judge_calls.id = call_id
    WHERE run_rows.run_id = :run AND run_rows.bot_id = :bot AND judge_calls.error IS NULL
    GROUP BY judge_calls.id, judge, call)
GROUP BY judge, call ORDER BY judge, call"""

# Whether the run has the metric is looked up before its rows are.
CONFUSION = """
SELECT json_extract(details, '$.label'), json_extract(details, '$.prediction'), COUNT(*) FROM run_metrics
CROSS JOIN metrics ON metrics.id = run_metrics.metric_id AND metrics.name = 'row_correct'
CROSS JOIN run_rows ON run_rows.run_id = run_metrics.run_id
JOIN score_details ON score_details.reply_id = run_rows.reply_id
    AND score_details.question_id = run_rows.question_id AND score_details.metric_id = run_metrics.metric_id
WHERE run_rows.run_id = :run AND run_rows.bot_id = :bot AND json_extract(details, '$.label') IS NOT NULL
GROUP BY 1, 2"""

REPEATED = """
SELECT run_rows.question_id, answer FROM run_rows JOIN replies ON replies.id = reply_id
WHERE run_id = :run AND run_rows.bot_id = :bot AND status = 'answered' AND answer IS NOT NULL
ORDER BY run_rows.question_id"""

# Of a conversation without a turn that can be graded, such as a simulated one, the goal decides.
CONVERSATIONS = """
SELECT IIF(questions.conversation = '', questions.key, questions.conversation),
    IFNULL(MAX(IIF(name = 'conversation_correct', value, NULL)), MAX(value)) FROM run_metrics
CROSS JOIN metrics ON metrics.id = run_metrics.metric_id AND name IN ('conversation_correct', 'goal_reached')
CROSS JOIN run_rows ON run_rows.run_id = run_metrics.run_id
JOIN questions ON questions.id = run_rows.question_id
JOIN scores ON scores.reply_id = run_rows.reply_id AND scores.question_id = run_rows.question_id
    AND scores.metric_id = run_metrics.metric_id
WHERE run_rows.run_id = :run AND run_rows.bot_id = :bot AND value IS NOT NULL
GROUP BY 1, run_rows.repeat ORDER BY 1, run_rows.repeat"""

BLANKS = "".join(character for character in map(chr, range(0x3001)) if character.isspace())  # as metrics see blanks


def run_facts(store: Store, run_id: int, bot_id: int) -> RunFacts:
    """What is known of one bot over a whole run, as the metrics of level ``run`` ask for it."""
    arguments = {"run": run_id, "bot": bot_id}
    ((rows, failed, retriever, empty),) = store.query(COUNTS, {**arguments, "blanks": BLANKS})
    calls = store.query(JUDGING, arguments)
    requests, unreadable, spent, without_price, latency_ms = (sum(line[at] for line in calls) for at in range(2, 7))
    return {
        "rows": rows,
        "failed_rows": int(failed),
        "retriever_rows": int(retriever),
        "empty_context_rows": int(empty),
        "parse_failures": int(unreadable),
        "judge_requests": requests,
        "judge_cost": None if without_price else spent,
        "judge_latency_ms": latency_ms / requests if requests else 0.0,
        "judge_replies": {(judge, call): (int(some), count) for judge, call, count, some, *_ in calls},
        "confusion": confusion_counts(store, run_id, bot_id),
        "repeated_answers": repeated_answers(store, run_id, bot_id),
        "conversation_outcomes": conversation_outcomes(store, run_id, bot_id),
    }


def repeated_answers(store: Store, run_id: int, bot_id: int) -> list[list[str]]:
    """The answers of a bot to each question that it answered more than once."""
    asked = store.query("SELECT MAX(repeat) FROM run_rows WHERE run_id = :run", {"run": run_id})
    if not asked[0][0]:  # repeats count from 0
        return []
    lines = store.query(REPEATED, {"run": run_id, "bot": bot_id})
    groups = (list(group) for _, group in groupby(lines, key=lambda line: line[0]))
    return [[answer for _, answer in group] for group in groups if len(group) > 1]


def conversation_outcomes(store: Store, run_id: int, bot_id: int) -> list[list[bool]]:
    """For each conversation whether it went right, in each repeat; empty where that is not measured."""
    lines = store.query(CONVERSATIONS, {"run": run_id, "bot": bot_id})
    return [[value >= 1 for _, value in group] for _, group in groupby(lines, key=lambda line: line[0])]


def confusion_counts(store: Store, run_id: int, bot_id: int) -> dict[tuple[str, str], int]:
    """How many rows of a bot have a label and a prediction; empty where ``row_correct`` is not measured."""
    lines = store.query(CONFUSION, {"run": run_id, "bot": bot_id})
    return {(label, prediction): count for label, prediction, count in lines}


def keep_run_scores(store: Store, run: OpenRun, score: Callable[[RunFacts], Sequence[Score]]) -> None:
    """Work out the figures of every bot of a run that has such metrics, and put them in the place of earlier ones.

    Raises:
        StoreError: they can't be written.
    """
    if not run.run_metric_ids:
        return
    lines = []
    for bot_id in run.bot_ids.values():
        facts = run_facts(store, run.id, bot_id)
        lines += [_columns(run, bot_id, facts["rows"], each) for each in score(facts)]
    with transaction(store.path, store.connection):
        store.connection.executemany("INSERT OR REPLACE INTO run_scores VALUES (?, ?, ?, ?, ?, ?, ?, ?)", lines)


def _columns(run: OpenRun, bot_id: int, rows: int, score: Score) -> tuple[object, ...]:
    key = (run.id, bot_id, run.run_metric_ids[score.metric])
    details = to_json(score.details) if score.details else None
    return (*key, rows, score.value, score.status.value, encodable(score.reason) or None, details)
