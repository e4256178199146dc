"""Failures: why rows of a run have no answer, those with the same cause together, each with what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from .markdown_text import one_line
from .problem import Problem, number_of_rows, problem_in
from .reported_run import ReportedRun
from .row_keys import MOST, FoundRow, FoundRows, RowKey
from .summary import BotSummary

MOST_CAUSES: Final = 5  # of one bot that are a problem each; the rows of the others are counted in one more
LONGEST: Final = 300  # characters of an error that a sentence quotes
ERROR_RATE: Final = "bot_error_rate"

AGAIN: Final = "Then run again: only these rows are asked."
_RAISED: Final = (
    "Fix what raises it; proctor ask puts one of these questions to the bot alone, and shows the same error. " + AGAIN
)
# What to do, by the status and by what the error says; the first that fits holds.
_ADVICE: Final[tuple[tuple[str, str, str], ...]] = (
    ("", r"HTTP 429|[Tt]oo many requests|rate limit",
     "The endpoint wants fewer requests: lower the bot's concurrency, or ask for a higher limit. " + AGAIN),
    ("", r"too long for the model|context[ _]length|maximum context",
     "Shorten the prompt (a smaller top_k or chunk_size), or take a model with a longer window. " + AGAIN),
    ("", r"content filter",
     "The endpoint's filter refuses these questions: change its settings or the prompt, or leave them out."),
    ("", r"HTTP 5\d\d",
     "The server behind the endpoint fails: see its log; a lower concurrency helps one that is overloaded. " + AGAIN),
    ("timed_out", r"",
     "Ask one of these questions alone with proctor ask: if it is as slow, raise the bot's timeout; if it is not, lower"
     " its concurrency. " + AGAIN),
    ("", r"^EndpointFailed|^Connection|^ClientConnect|[Cc]onnection (refused|reset|error)",
     "See that the server runs and that the bot's address is right. " + AGAIN),
    ("", r"^(LookupError|TypeError): .*\bthe reply of ",
     "Correct the path in the bot's settings (answer, contexts): the server's reply is made otherwise. " + AGAIN),
    ("refused", r"", "Read what the other side says, and change the bot's request or these questions. " + AGAIN),
    ("", r"", _RAISED),
)  # fmt: skip

# One cause, whatever the numbers, names and addresses in its words: those of one row differ from those of the next.
_VARIABLE: Final = re.compile(
    r"'[^']*'|\"[^\"]*\"|`[^`]*`|0x[0-9a-fA-F]+|\b[0-9a-fA-F]{8}[0-9a-fA-F-]*\b|\d+(?:\.\d+)?"
)

ERRORS = """
SELECT replies.status, IFNULL(replies.error, ''), questions.key, run_rows.repeat FROM run_rows
JOIN replies ON replies.id = run_rows.reply_id
JOIN questions ON questions.id = run_rows.question_id
WHERE run_rows.run_id = ? AND run_rows.bot_id = ? AND replies.status != 'answered'
ORDER BY run_rows.position, run_rows.question_id, run_rows.repeat"""


@dataclass(slots=True)
class _Cause:
    """One cause: the words of its first row, how many rows it has, and the first of them."""

    status: str
    error: str
    rows: int = 0
    keys: list[RowKey] = field(default_factory=list)


def failures_of(run: ReportedRun, bot: BotSummary) -> Iterator[Problem]:
    """A problem for each cause for which a bot gave no answer, the most frequent first."""
    if bot.problem:
        rows = number_of_rows(bot.rows)
        yield _problem(
            bot, f"{bot.name} gave no answer on {bot.failed:,} of {rows} and was stopped: {bot.problem.rstrip('.')}.",
            "Fix the bot's settings or its endpoint. Then run again: only what is missing is asked.", FoundRows((), 0),
        )  # fmt: skip
    causes = _causes(run, bot)
    for cause in causes[:MOST_CAUSES]:
        error = one_line(cause.error, LONGEST).rstrip(".") or "no reason on record"
        what = (
            f"{bot.name} gave no answer on {cause.rows:,} of {number_of_rows(bot.rows)}"
            f" ({cause.status.replace('_', ' ')}): {error}. For example {cause.keys[0].question_id}."
        )
        yield _problem(bot, what, _advice(cause), _found(bot, cause.keys, cause.rows))
    rest = causes[MOST_CAUSES:]
    if rest:
        total = sum(cause.rows for cause in rest)
        what = f"{bot.name} gave no answer on {number_of_rows(total)} more, for {len(rest):,} other reasons."
        keys = [key for cause in rest for key in cause.keys[:1]]
        yield _problem(bot, what, f"Read the errors of these rows on the page. {AGAIN}", _found(bot, keys, total))


def _problem(bot: BotSummary, what: str, action: str, rows: FoundRows) -> Problem:
    return problem_in(
        "high", "operations", what, action, rows, bot=bot.name, metric=ERROR_RATE, threshold=0.0, value=bot.error_rate
    )


def _found(bot: BotSummary, keys: list[RowKey], total: int) -> FoundRows:
    return FoundRows(tuple(FoundRow(bot.name, key, None) for key in keys[:MOST]), total)


def _causes(run: ReportedRun, bot: BotSummary) -> list[_Cause]:
    """The causes by how many rows they have; those that are equal in that, by their first row."""
    causes: dict[tuple[str, str], _Cause] = {}
    if not bot.failed:
        return []
    for status, error, key, repeat in run.store.connection.execute(ERRORS, [run.id, run.bot_ids[bot.name]]):
        cause = causes.setdefault((status, _VARIABLE.sub("…", error)), _Cause(status, error))
        cause.rows += 1
        if len(cause.keys) < MOST:
            cause.keys.append(RowKey(key, repeat))
    return sorted(causes.values(), key=lambda cause: -cause.rows)


def _advice(cause: _Cause) -> str:
    return next(
        advice for status, words, advice in _ADVICE
        if status in ("", cause.status) and re.search(words, cause.error)
    )  # fmt: skip
