"""Hard cases: the test case that most bots failed."""

from __future__ import annotations

from dataclasses import dataclass

from .reported_run import ROUNDING, ReportedRun, row_metric
from .run import RunEvaluator


@dataclass(frozen=True, slots=True)
class HardCase:
    """A test case with the bots that failed it, of how many that have a value for it, and their mean."""

    question_id: str
    question: str
    metric: str
    failed_by: tuple[str, ...]
    bots: int
    mean: float


# A bot fails a case when the mean of its repeats misses the threshold. Rows without a value count neither way.
BY_BOT = """
SELECT run_rows.question_id AS question_id, run_rows.bot_id AS bot_id, AVG(value) AS mean,
    MIN(run_rows.position) AS position, {sign} * (:threshold - AVG(value)) > :rounding AS failed
FROM run_rows
JOIN scores ON scores.reply_id = run_rows.reply_id AND scores.question_id = run_rows.question_id
    AND scores.metric_id = :metric
WHERE run_rows.run_id = :run AND value IS NOT NULL
GROUP BY run_rows.question_id, run_rows.bot_id"""

HARDEST = """
SELECT questions.id, questions.key, questions.text, bots, of_all FROM (
    SELECT question_id, COUNT(*) AS bots, AVG(mean) AS of_all FROM ({by_bot})
    GROUP BY question_id HAVING SUM(failed) > 0
    ORDER BY SUM(failed) DESC, {sign} * ROUND(AVG(mean), 9), MIN(position), question_id LIMIT 1
) JOIN questions ON questions.id = question_id"""

FAILED_BY = """
SELECT bots.name FROM ({by_bot}) AS each JOIN bots ON bots.id = each.bot_id
JOIN run_bots ON run_bots.run_id = :run AND run_bots.bot_id = each.bot_id
WHERE failed ORDER BY run_bots.position"""


def most_difficult_case(run: ReportedRun, evaluator: RunEvaluator) -> HardCase | None:
    """The test case failed by most bots on the evaluator's primary metric; None when nothing was failed.

    Of several, the one with the worse mean; of these, the one that comes first in the question set.
    """
    metric = row_metric(evaluator)
    column = run.columns.get(metric)
    if column is None or column.threshold is None or column.better == "neither":
        return None
    sign = 1 if column.better == "higher" else -1
    by_bot = BY_BOT.format(sign=sign)
    arguments = {
        "run": run.id, "metric": run.metric_ids[metric], "threshold": column.threshold, "rounding": ROUNDING,
    }  # fmt: skip
    found = run.store.query(HARDEST.format(by_bot=by_bot, sign=sign), arguments)
    if not found:
        return None
    question_id, key, text, bots, mean = found[0]
    of_case = by_bot.replace("WHERE", "WHERE run_rows.question_id = :question AND", 1)
    failed = run.store.query(FAILED_BY.format(by_bot=of_case), {**arguments, "question": question_id})
    return HardCase(key, text, metric, tuple(name for (name,) in failed), bots, mean)
