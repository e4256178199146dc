"""Judge files: what the judges of a run were told and said, as files of its archive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import orjson

from ..file_names import file_names
from ..reported_run import ReportedRun

# Without ids, dates and measured times, and in an order that rests on texts alone: equal runs give equal files.
NAMES = (
    "bot", "question_id", "repeat", "judge", "call", "vote", "exchange", "reply", "reasoning", "problem", "error",
    "finish_reason", "tokens_in", "tokens_out", "cost",
)  # fmt: skip
CALLS = """
FROM run_rows
JOIN row_judge_calls ON row_judge_calls.run_id = run_rows.run_id AND row_judge_calls.reply_id = run_rows.reply_id
    AND row_judge_calls.question_id = run_rows.question_id
JOIN judge_calls ON judge_calls.id = call_id
JOIN judge_prompts AS prompts ON prompts.id = prompt_id"""
REPLIES = f"""
SELECT prompts.fingerprint, bots.name, questions.key, run_rows.repeat, judge, call, vote, exchange, reply, reasoning,
    judge_calls.problem, error, finish_reason, tokens_in, tokens_out, cost {CALLS}
JOIN judge_texts AS requests ON requests.id = request_id
JOIN run_bots ON run_bots.run_id = run_rows.run_id AND run_bots.bot_id = run_rows.bot_id
JOIN bots ON bots.id = run_rows.bot_id
JOIN questions ON questions.id = run_rows.question_id
WHERE run_rows.run_id = ?
ORDER BY run_bots.position, run_rows.position, questions.fingerprint, run_rows.repeat, call, judge, vote,
    requests.fingerprint, exchange"""
PROMPTS = f"""
SELECT DISTINCT prompts.fingerprint, prompts.name, prompts.text {CALLS}
WHERE run_rows.run_id = ? ORDER BY prompts.name, prompts.fingerprint"""


def write_judge_files(run: ReportedRun, folder: Path) -> None:
    """The instructions of each call as ``prompts/<call>.md``, and in ``calls.jsonl`` every reply that a row rests on,
    as it came; nothing for a run without judge calls. Replies are read and written one at a time.
    """  # noqa: D205 - one sentence that needs two lines
    found = run.store.query(PROMPTS, [run.id])
    if not found:
        return
    (folder / "prompts").mkdir(parents=True)
    numbered = _numbered([name for _, name, _ in found])
    names = file_names(numbered)
    instructions = {}
    for name, (fingerprint, _, text) in zip(numbered, found, strict=True):
        instructions[fingerprint] = names[name]
        (folder / "prompts" / f"{names[name]}.md").write_bytes(text.encode())
    with (folder / "calls.jsonl").open("wb") as file:
        file.writelines(_lines(run.store.connection.execute(REPLIES, [run.id]), instructions))


def _numbered(names: Sequence[str]) -> list[str]:
    """The names, with a number from the second of equal ones on: instructions differ with what a call is asked."""
    made: list[str] = []
    for name in names:
        unused = (f"{name}-{number}" for number in range(2, len(names) + 2))
        made.append(name if name not in made else next(each for each in unused if each not in {*names, *made}))
    return made


def _lines(found: Iterable[tuple[object, ...]], instructions: dict[bytes, str]) -> Iterator[bytes]:
    for fingerprint, *values in found:
        told = dict(zip(NAMES, values, strict=True))
        if isinstance(told["exchange"], str):
            told["exchange"] = orjson.loads(told["exchange"])
        told["instructions"] = instructions[fingerprint]  # type: ignore[index] # a BLOB column
        yield orjson.dumps(told) + b"\n"
