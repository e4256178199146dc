"""Row calls: what judges were asked about the rows of some questions, and what they said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import orjson

from ...store import marks
from .block_queries import OF_BLOCK, BlockQuery, Wanted, all_of_them, bots_of
from .columns import Column
from .kept_json import bounded, cut

# The order is that in which they were made.
CALLS = f"""
SELECT run_rows.bot_id, run_rows.question_id, run_rows.repeat, requests.id, requests.text, call, judge, vote,
    prompt_id, exchange, reply, reasoning, error, problem, finish_reason, tokens_in, tokens_out, cost, latency_ms, paid,
    asked_at
FROM run_rows
JOIN row_judge_calls ON row_judge_calls.run_id = run_rows.run_id AND row_judge_calls.reply_id = run_rows.reply_id
    AND row_judge_calls.question_id = run_rows.question_id
JOIN judge_calls ON judge_calls.id = row_judge_calls.call_id
JOIN judge_texts AS requests ON requests.id = judge_calls.request_id
WHERE {OF_BLOCK} ORDER BY run_rows.question_id, run_rows.bot_id, run_rows.repeat, judge_calls.id"""

PLAIN: Final = ("finish_reason", "tokens_in", "tokens_out", "cost", "latency_ms", "paid", "asked_at")


def call_block(columns: Sequence[Column], number: int, wanted: Wanted = all_of_them) -> bytes:
    """The calls of one block of questions, each request once; its form is written down in ``DATA.md``.

    Args:
        columns: of one run.
        number: of the block, as of ``detail_block``.
        wanted: tells of a question id whether its calls are to be in the block.
    """
    asked = BlockQuery(columns, number)
    places: dict[int, int] = {}
    requests: list[dict[str, object]] = []
    made: dict[str, dict[str, dict[str, list[dict[str, object]]]]] = {}
    for bot_id, question, repeat, request_id, request, *rest in asked.lines(CALLS):
        if not wanted(question):
            continue
        if request_id not in places:
            places[request_id] = len(requests)
            requests.append(cut("text", request))
        call = _call(places[request_id], rest)
        for name in asked.names[bot_id]:
            made.setdefault(str(question), {}).setdefault(name, {}).setdefault(str(repeat), []).append(call)
    return orjson.dumps({"requests": requests, "questions": made})


def prompt_block(columns: Sequence[Column], _number: int = 0, _wanted: Wanted = all_of_them) -> bytes:
    """The instructions of all calls of a run, a JSON object by their keys."""
    run, bots = columns[0].run, bots_of(columns)
    lines = run.store.query(
        "SELECT id, name, text FROM judge_prompts WHERE id IN (SELECT judge_calls.prompt_id FROM row_judge_calls"
        " JOIN judge_calls ON judge_calls.id = call_id WHERE row_judge_calls.run_id = ? AND reply_id IN"
        f" (SELECT reply_id FROM run_rows WHERE run_rows.run_id = ? AND bot_id IN ({marks(bots)})))",
        [run.id, run.id, *bots],
    )
    return orjson.dumps({str(key): {"name": name, **cut("text", text)} for key, name, text in lines})


def _call(request: int, told: Sequence[Any]) -> dict[str, object]:
    """A call without the keys that have nothing to say."""
    call, judge, vote, prompt, exchange, reply, reasoning, error, problem, *plain = told
    made: dict[str, object] = {
        "call": call, "judge": judge, "vote": vote, "prompt": prompt, "request": request, **cut("reply", reply),
        **cut("reasoning", reasoning), **cut("error", error), **cut("problem", problem),
        **dict(zip(PLAIN, plain, strict=True)),
    }  # fmt: skip
    if exchange:
        made |= bounded("exchange", exchange)
    return {name: value for name, value in made.items() if value is not None}
