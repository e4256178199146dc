"""RowKey: which rows of a run are behind a figure, worst first, found in SQL so that the rest stays on disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .reported_run import ReportedRun, row_metric
from .run import RunEvaluator

MOST = 20  # rows named by one problem; the count is of all


class RowKey(NamedTuple):
    """A row as people find it again: the question's id in its set, and the repeat from 0."""

    question_id: str
    repeat: int


class FoundRow(NamedTuple):
    """A row with the bot that it is of, and its value where it has one."""

    bot: str
    key: RowKey
    value: float | None


class FoundRows(NamedTuple):
    """The first rows of what was looked for, and how many there are in all."""

    rows: tuple[FoundRow, ...]
    total: int

    @property
    def keys(self) -> tuple[RowKey, ...]:
        """Their keys alone."""
        return tuple(row.key for row in self.rows)


# The inner part looks at every row of the run; texts are joined only to the few that are shown.
FOUND = """
SELECT bots.name, questions.key, found.repeat, found.value, found.total FROM (
    SELECT run_rows.bot_id, run_rows.question_id, run_rows.repeat, run_rows.position, {value} AS value,
        COUNT(*) OVER () AS total
    FROM run_rows {joins}
    WHERE run_rows.run_id = :run AND {bot} AND {where}
    ORDER BY {order} run_rows.position, run_rows.question_id, run_rows.repeat, run_rows.bot_id LIMIT :most
) AS found
JOIN bots ON bots.id = found.bot_id
JOIN questions ON questions.id = found.question_id
JOIN run_bots ON run_bots.run_id = :run AND run_bots.bot_id = found.bot_id
ORDER BY {found_order} run_bots.position, found.position, found.question_id, found.repeat"""

WITH_SCORE = """JOIN scores ON scores.reply_id = run_rows.reply_id AND scores.question_id = run_rows.question_id
        AND scores.metric_id = :metric"""
WITH_REPLY = "JOIN replies ON replies.id = run_rows.reply_id"


def failing_rows(run: ReportedRun, evaluator: RunEvaluator, metric: str, bot: str | None = None) -> FoundRows:
    """The rows that miss the threshold of a metric, worst first; of one bot or of all."""
    if metric == evaluator.primary:
        metric = row_metric(evaluator)
    column = run.columns.get(metric)
    if column is None or column.threshold is None or column.better == "neither":
        return FoundRows((), 0)
    sign, order = ("<", "ASC") if column.better == "higher" else (">", "DESC")
    return _found(run, WITH_SCORE, f"scores.value {sign} {float(column.threshold)!r}", bot, metric, order=order)


def rows_without_value(run: ReportedRun, bot: str, metrics: Sequence[str], reasons: Sequence[str]) -> FoundRows:
    """The rows of a bot on which some of these metrics have no value for one of these reasons (our own codes)."""
    codes = ", ".join(f"'{reason}'" for reason in reasons)
    return _found(run, "", _any_score(run, "scores", metrics, f"reason IN ({codes})"), bot, value="NULL")


def unreadable_rows(run: ReportedRun, bot: str, metric: str) -> FoundRows:
    """The rows of a bot on which the judge could not be read."""
    return _found(run, WITH_SCORE, "scores.status = 'parse_failure'", bot, metric, value="NULL")


def rows_too_short(run: ReportedRun, bot: str, metric: str) -> FoundRows:
    """The rows of a bot whose answer or contexts have no sentence that is long enough to compare."""
    where = "(scores.reason IN ('no_sentences', 'too_short') OR (scores.reason = 'contexts_empty' AND retrieved > 0))"
    return _found(run, f"{WITH_SCORE} {WITH_REPLY}", where, bot, metric, value="NULL")


# Looking for the word first is ten times as fast as parsing every detail.
TRUNCATED = "instr(details, '\"truncated\":') AND json_extract(details, '$.truncated')"
TRUNCATED_METRICS = f"""
SELECT DISTINCT score_details.metric_id FROM run_rows
JOIN score_details ON score_details.reply_id = run_rows.reply_id AND score_details.question_id = run_rows.question_id
WHERE run_id = ? AND bot_id = ? AND {TRUNCATED}"""


def truncated_metrics(run: ReportedRun, bot: str) -> frozenset[str]:
    """The metrics that did not see every text of some row of a bot whole."""
    lines = run.store.query(TRUNCATED_METRICS, [run.id, run.bot_ids[bot]])
    found = {metric for (metric,) in lines}
    return frozenset(name for name, metric in run.metric_ids.items() if metric in found)


def truncated_rows(run: ReportedRun, bot: str, metrics: Sequence[str]) -> FoundRows:
    """The rows of a bot of which some of these metrics did not see every text whole."""
    return _found(run, "", _any_score(run, "score_details", metrics, TRUNCATED), bot, value="NULL")


def rows_with_failing_contexts(run: ReportedRun, bot: str, family: str) -> FoundRows:
    """The rows of a bot on which the contexts fail a check that the answer passes."""
    answer = run.metric_ids[f"{family}.generation_failures"]
    joins = f"""{WITH_SCORE}
        JOIN scores AS of_answer ON of_answer.reply_id = run_rows.reply_id
        AND of_answer.question_id = run_rows.question_id AND of_answer.metric_id = {answer:d}"""
    where = "scores.value = 1 AND of_answer.value = 0"
    return _found(run, joins, where, bot, f"{family}.retrieval_failures")


def failed_rows(run: ReportedRun, bot: str) -> FoundRows:
    """The rows on which a bot gave no answer."""
    return _found(run, WITH_REPLY, "replies.status != 'answered'", bot, value="NULL")


def rows_with_negative_cost(run: ReportedRun, bot: str) -> FoundRows:
    """The rows for which a bot reported a cost below zero."""
    return _found(run, WITH_REPLY, "replies.cost < 0", bot, value="replies.cost", order="ASC")


FIRST_ERROR = """
SELECT json_extract(details, '$.message') AS message FROM run_scores
WHERE run_id = :run AND bot_id = :bot AND metric_id = :metric AND status = 'error' AND message IS NOT NULL
UNION ALL
SELECT json_extract(details, '$.message') AS message FROM run_rows
JOIN scores ON scores.reply_id = run_rows.reply_id AND scores.question_id = run_rows.question_id
JOIN score_details USING (reply_id, question_id, metric_id)
WHERE run_id = :run AND bot_id = :bot AND metric_id = :metric AND status = 'error' AND message IS NOT NULL
LIMIT 1"""


def first_error(run: ReportedRun, bot: str, metric: str) -> str:
    """What a metric said when it broke off, on one line; empty where nothing is on record."""
    arguments = {"run": run.id, "bot": run.bot_ids[bot], "metric": run.metric_ids[metric]}
    lines = run.store.query(FIRST_ERROR, arguments)
    return " ".join(str(lines[0][0]).split()) if lines else ""


def _any_score(run: ReportedRun, table: str, metrics: Sequence[str], where: str) -> str:
    """A condition on rows: one of these metrics has a line in a table of scores that is so."""
    ids = ", ".join(f"{run.metric_ids[metric]:d}" for metric in metrics)
    return f"""EXISTS (SELECT 1 FROM {table} WHERE {table}.reply_id = run_rows.reply_id
        AND {table}.question_id = run_rows.question_id AND {table}.metric_id IN ({ids}) AND {where})"""


def _found(
    run: ReportedRun, joins: str, where: str, bot: str | None, metric: str | None = None,
    *, value: str = "scores.value", order: str = "",
) -> FoundRows:  # fmt: skip
    by_value = f"{value} {order}," if order else ""
    sql = FOUND.format(
        value=value, joins=joins, where=where, order=by_value,
        bot="TRUE" if bot is None else "run_rows.bot_id = :bot",
        found_order=f"found.value {order}," if order else "",
    )  # fmt: skip
    arguments = {
        "run": run.id,
        "bot": None if bot is None else run.bot_ids[bot],
        "metric": None if metric is None else run.metric_ids[metric],
        "most": MOST,
    }
    lines = run.store.query(sql, arguments)
    rows = tuple(FoundRow(name, RowKey(key, repeat), found) for name, key, repeat, found, _ in lines)
    return FoundRows(rows, lines[0][-1] if lines else 0)
