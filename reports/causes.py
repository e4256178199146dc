"""Causes: why single rows are wrong, in a few words each, so that they can be counted and listed by them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from .primary import CORRECT
from .text import one_line

if TYPE_CHECKING:
    from .store.database import Store

RETRIEVAL: Final = ("evidence_recall", "hit_rate")  # what says whether the evidence was there, the more telling first
LONGEST: Final = 160  # characters of an error

# One cause, whatever the numbers, names and addresses in its words: those of one row differ from those of the next.
_VARIABLE: Final = re.compile(
    r"'[^']*'|\"[^\"]*\"|`[^`]*`|0x[0-9a-fA-F]+|\b[0-9a-fA-F]{8}[0-9a-fA-F-]*\b|\d+(?:\.\d+)?"
)

ROWS = """
SELECT run_rows.question_id, run_rows.repeat, replies.status, IFNULL(replies.error, ''),
    json_extract(details, '$.outcome'), json_extract(details, '$.decided_by'), found.value
FROM run_rows
JOIN replies ON replies.id = run_rows.reply_id
LEFT JOIN score_details ON score_details.reply_id = run_rows.reply_id
    AND score_details.question_id = run_rows.question_id AND score_details.metric_id = :correct
LEFT JOIN scores AS found ON found.reply_id = run_rows.reply_id
    AND found.question_id = run_rows.question_id AND found.metric_id = :retrieval
WHERE run_rows.run_id = :run AND run_rows.bot_id = :bot
    AND (replies.status != 'answered' OR json_extract(details, '$.outcome') IN ('wrong', 'abstained_wrongly'))
ORDER BY run_rows.position, run_rows.question_id, run_rows.repeat"""

_WRONG: Final = {
    "constraints": "Required text is missing",
    "expected answer": "Not the expected answer",
    "no answer": "The answer is blank",
}


def same_words(error: str) -> str:
    """An error without what differs from row to row: two errors with the same one have one cause."""
    return _VARIABLE.sub("…", error)


def row_causes(store: Store, run_id: int, bot_id: int, metric_ids: Mapping[str, int]) -> Iterator[tuple[int, int, str]]:
    """Question id, repeat and cause of each row of a bot that is wrong, in the order in which they were asked.

    A row is wrong where the bot gave no answer, and where ``correct`` says so. Whether the evidence was retrieved is
    what ``evidence_recall`` or ``hit_rate`` says, where the run has one of them.

    Args:
        store: with the run.
        run_id: key of the run.
        bot_id: key of the bot.
        metric_ids: keys of the run's metrics by name.
    """
    retrieval = next((metric_ids[name] for name in RETRIEVAL if name in metric_ids), None)
    wanted = {"run": run_id, "bot": bot_id, "correct": metric_ids.get(CORRECT), "retrieval": retrieval}
    for question, repeat, status, error, outcome, decided, found in store.connection.execute(ROWS, wanted):
        if status != "answered":
            words = same_words(one_line(error, LONGEST)).rstrip(".") or "no reason given"
            yield question, repeat, f"No answer ({status.replace('_', ' ')}): {words}"
        else:
            yield question, repeat, _cause(outcome, decided, found)


def counted_causes(store: Store, run_id: int, bot_id: int, metric_ids: Mapping[str, int]) -> list[tuple[str, int]]:
    """The causes of a bot with how many rows have each, the most frequent first."""
    return Counter(cause for _, _, cause in row_causes(store, run_id, bot_id, metric_ids)).most_common()


def _cause(outcome: str, decided: str | None, found: float | None) -> str:
    if outcome == "wrong" and decided == "abstention":
        return "Answered, though there is no answer in the documents"
    what = "Abstained" if outcome == "abstained_wrongly" else _WRONG.get(decided or "", "Wrong")
    if found is None:
        return f"{what}, though there is an answer" if what == "Abstained" else what
    if found <= 0:
        return f"{what}: the evidence was not retrieved"
    return f"{what}, though the evidence was retrieved" if found >= 1 else f"{what}: part of the evidence was retrieved"
