"""Carried: what a file holds of a run whose details are too many to be held: first that which went wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ...store import marks
from .block_queries import Wanted, all_of_them, bots_of
from .columns import Column
from .file_room import fitting
from .kept_json import LONGEST
from .row_index import TEXTS

ROW: Final = 400  # bytes of a row or a call beside its long texts


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes that a file holds of one run at most, more or less.

    Attributes:
        file: of all its data, compressed as they stand in the file; None for as many as there are. The page beside
            them takes about a million.
        details: before they are compressed; this bounds the work of a reader's browser.
        passages: likewise.
        calls: likewise.
        texts: of the answers in the index, likewise.
    """

    file: int | None = 6_750_000
    details: int = 40_000_000
    passages: int = 16_000_000
    calls: int = 4_000_000
    texts: int = TEXTS


EVERYTHING: Final = Limits(None, *[1 << 60] * 3)


@dataclass(frozen=True, slots=True)
class Part:
    """What is carried of one kind: which keys, and how many others are not."""

    wanted: Wanted = all_of_them
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Carried:
    """What a file holds of the details, passages and judge calls of one run."""

    details: Part = Part()
    passages: Part = Part()
    calls: Part = Part()


def _long(*names: str) -> str:
    """Bytes of some columns as they are shown at most; SQLite's LENGTH of a text stops at a null byte."""
    return " + ".join(f"MIN(IFNULL(LENGTH(CAST({name} AS BLOB)), 0), {LONGEST})" for name in names)


OF_RUN = "run_rows.run_id = ? AND run_rows.bot_id IN ({bots})"
REPLY_SIZES = f"""
SELECT question_id, SUM({ROW} + {_long("answer", "error", "reasoning", "trace")}) FROM run_rows
JOIN replies ON replies.id = run_rows.reply_id WHERE {OF_RUN} GROUP BY question_id"""
SCORE_SIZES = f"""
SELECT run_rows.question_id, SUM(20 + {_long("details")}) FROM run_rows
JOIN score_details ON score_details.reply_id = run_rows.reply_id
    AND score_details.question_id = run_rows.question_id WHERE {OF_RUN} GROUP BY run_rows.question_id"""
CALL_SIZES = f"""
SELECT run_rows.question_id, SUM({ROW} + {_long("reply", "reasoning", "exchange", "requests.text")}) FROM run_rows
JOIN row_judge_calls ON row_judge_calls.run_id = run_rows.run_id AND row_judge_calls.reply_id = run_rows.reply_id
    AND row_judge_calls.question_id = run_rows.question_id
JOIN judge_calls ON judge_calls.id = row_judge_calls.call_id
JOIN judge_texts AS requests ON requests.id = judge_calls.request_id
WHERE {OF_RUN} GROUP BY run_rows.question_id"""
PASSAGE_SIZES = f"""
SELECT id, 80 + {_long("text")} FROM passages WHERE id IN (
    SELECT passage_id FROM run_rows JOIN contexts ON contexts.reply_id = run_rows.reply_id WHERE {OF_RUN})"""
PASSAGES_OF = f"""
SELECT DISTINCT run_rows.question_id, passage_id FROM run_rows
JOIN contexts ON contexts.reply_id = run_rows.reply_id WHERE {OF_RUN} ORDER BY run_rows.question_id, contexts.rank"""


def carried(
    columns: Sequence[Column], worst_first: Sequence[int], limits: Limits, room: int | None = None, indexed: int = 0
) -> Carried:
    """Choose what a file holds.

    Args:
        columns: of one run.
        worst_first: all its question ids; what is carried is taken in this order.
        limits: of the file.
        room: bytes of the file for what is chosen here; None for as many as the limits allow.
        indexed: as of ``detail_block``.
    """
    sizes = {
        "details": _sum(_sizes(columns, REPLY_SIZES), _sizes(columns, SCORE_SIZES)),
        "passages": _sizes(columns, PASSAGE_SIZES),
        "calls": _sizes(columns, CALL_SIZES),
    }
    most = {"details": limits.details, "passages": limits.passages, "calls": limits.calls}
    if room is not None:
        most = {part: min(most[part], fits) for part, fits in fitting(columns, sizes, room, indexed).items()}
    order = worst_first
    if sum(sizes["passages"].values()) > most["passages"]:
        order = _passages_of(columns, worst_first)
    return Carried(
        _part(sizes["details"], worst_first, most["details"]),
        _part(sizes["passages"], order, most["passages"]),
        _part(sizes["calls"], worst_first, most["calls"]),
    )


def _sizes(columns: Sequence[Column], sql: str) -> dict[int, int]:
    bots = bots_of(columns)
    return dict(columns[0].run.store.query(sql.format(bots=marks(bots)), [columns[0].run.id, *bots]))


def _sum(one: Mapping[int, int], other: Mapping[int, int]) -> dict[int, int]:
    return {key: size + other.get(key, 0) for key, size in one.items()}


def _passages_of(columns: Sequence[Column], questions: Iterable[int]) -> list[int]:
    bots = bots_of(columns)
    found: dict[int, list[int]] = {}
    lines = columns[0].run.store.query(PASSAGES_OF.format(bots=marks(bots)), [columns[0].run.id, *bots])
    for question, passage in lines:
        found.setdefault(question, []).append(passage)
    return list(dict.fromkeys(passage for question in questions for passage in found.get(question, ())))


def _part(sizes: Mapping[int, int], order: Iterable[int], most: int) -> Part:
    """All of them where they fit; else the first in this order, one that is too large being passed over."""
    if sum(sizes.values()) <= most:
        return Part()
    kept: set[int] = set()
    for key in order:
        if (size := sizes.get(key, 0)) and size <= most:
            kept.add(key)
            most -= size
    return Part(_among(kept), len(sizes) - len(kept))


def _among(kept: Collection[int]) -> Wanted:
    return lambda key: key in kept
