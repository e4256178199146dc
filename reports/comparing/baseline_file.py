"""Baseline file: the scores of a run as a small JSON file that is committed beside the prompts, read back as tables."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson

from ... import InputError
from ...knowledge.paths import existing, unreadable
from ..summary import MetricColumn
from .changed_parts import BotState
from .score_table import ABSENT, CODES, Case, Figures, RunTables, ScoreTable

FORMAT: Final = 1
MARK: Final = "proctor_baseline"
AGAIN: Final = "'proctor baseline' writes it anew"


def checksum(made: Mapping[str, object]) -> str:
    """SHA-256 in hex over all but the checksum itself; the layout and the order of keys do not count."""
    content = {name: value for name, value in made.items() if name != "checksum"}
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def read_baseline(path: Path) -> RunTables:
    """The tables of a baseline file.

    Raises:
        InputError: it can't be read, is no baseline, of a newer Proctor, or not what was written; the sentence says
            which, and where.
    """
    made = _parsed(path)
    if MARK not in made:
        raise InputError(f"{path} is JSON, but no baseline: it has no key {MARK}. 'proctor baseline' writes one.")
    if made[MARK] != FORMAT:
        raise InputError(
            f"{path} has the format {made[MARK]!r} of baselines; this Proctor reads {FORMAT}. Upgrade Proctor, or"
            f" {AGAIN}."
        )
    if made.get("checksum") != checksum(made):
        raise InputError(
            f"{path} is not as it was written: its content does not match its checksum, so it was edited by hand or "
            f"merged. {AGAIN[0].upper()}{AGAIN[1:]}; figures in it are not meant to be edited."
        )
    try:
        return _tables(path, made)
    except (ArithmeticError, AttributeError, IndexError, KeyError, MemoryError, TypeError, ValueError) as error:
        raise InputError(
            f"{path} can't be used as a baseline: its content is not of the form that Proctor writes"
            f" ({type(error).__name__}: {error}). {AGAIN[0].upper()}{AGAIN[1:]}."
        ) from error


def read_states(path: Path) -> dict[str, BotState]:
    """What the bots of a baseline file were made of; none of a file that was written before it said so."""
    states = {}
    for bot in _parsed(path).get("bots", ()):
        settings, prompts = bot.get("settings"), bot.get("prompts")
        if isinstance(settings, dict) and isinstance(prompts, dict):
            states[str(bot["name"])] = BotState(
                str(bot["kind"]), bot["model"], settings, bot.get("parts", {}), prompts, bot.get("models", {})
            )
    return states


def _parsed(path: Path) -> dict[str, Any]:
    try:
        content = existing(path, "a baseline file").read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error
    try:
        made = orjson.loads(content.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        raise InputError(_no_json(path, content, error)) from error
    if not isinstance(made, dict):
        raise InputError(f"{path} is JSON, but no baseline: it holds no object. 'proctor baseline' writes one.")
    return made


def _no_json(path: Path, content: bytes, error: orjson.JSONDecodeError) -> str:
    for number, line in enumerate(content.splitlines(), 1):
        if line.startswith((b"<<<<<<<", b">>>>>>>")):
            return f"{path}:{number}: a conflict of two branches is not settled here. Take one side, or {AGAIN}."
    if not content.strip():
        return f"{path} is empty; a baseline was wanted, and {AGAIN}."
    return f"{path}:{error.lineno}:{error.colno}: this is no JSON: {error.msg}. {AGAIN[0].upper()}{AGAIN[1:]}."


def _tables(path: Path, made: Mapping[str, Any]) -> RunTables:
    columns = {column.name: column for column in map(_column, made["metrics"])}
    cases = tuple(map(_case, made["questions"]))
    if len({case.key for case in cases}) != len(cases):
        raise ValueError("a question is there twice")
    tables = {}
    for bot in made["bots"]:
        rows = [question["rows"].get(bot["name"]) or [] for question in made["questions"]]
        answers = _Answers({case.key: of_case for case, of_case in zip(cases, rows, strict=True)})
        tables[str(bot["name"])] = _table(str(made["run"]), bot, cases, columns, rows, answers)
    return RunTables(str(path), str(made["run"]), str(made["suite"]), str(made["status"]), made["manifest"], tables)


def _column(line: Mapping[str, Any]) -> MetricColumn:
    if line["better"] not in ("higher", "lower", "neither"):
        raise ValueError(f"{line['better']!r} is no direction")
    return MetricColumn(
        name=str(line["name"]), version=str(line["version"]), better=line["better"], low=_number(line["low"]),
        high=_number(line["high"]), threshold=_number(line["threshold"]), aggregate=line["aggregate"],
    )  # fmt: skip


def _case(line: Mapping[str, Any]) -> Case:
    return Case(
        key=str(line["key"]), text=str(line["text"]), yardstick=str(line["yardstick"]),
        source_document=str(line.get("source", "")), tags=tuple(map(str, line.get("tags", ()))),
        answerable=line.get("answerable"), extra=line.get("extra", {}),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Answers:
    """What the bot said, as far as the file holds it."""

    rows: Mapping[str, Sequence[Mapping[str, Any] | None]]

    def __call__(self, key: str, repeat: int) -> str | None:
        row = self.rows[key][repeat] if repeat < len(self.rows.get(key, ())) else None
        return None if row is None or row.get("answer") is None else str(row["answer"])


def _table(
    run: str, bot: Mapping[str, Any], cases: tuple[Case, ...], columns: Mapping[str, MetricColumn],
    rows: Sequence[Sequence[Mapping[str, Any] | None]], answers: _Answers,
) -> ScoreTable:  # fmt: skip
    shape = len(cases), int(bot["repeats"])
    table = ScoreTable(
        run=run, bot=str(bot["name"]), fingerprint=str(bot["fingerprint"]), kind=str(bot["kind"]),
        model=bot["model"], embedded=bool(bot["embedded"]), cases=cases, columns=columns,
        values={name: np.full(shape, np.nan) for name in columns},
        statuses={name: np.full(shape, ABSENT, np.int8) for name in columns},
        asked=np.zeros(shape, np.bool_), answered=np.zeros(shape, np.bool_), timed_out=np.zeros(shape, np.bool_),
        latency_ms=np.full(shape, np.nan), cost=np.full(shape, np.nan), declined=np.full(shape, -1, np.int8),
        said=np.zeros(shape, np.uint64), answers=answers,
    )  # fmt: skip
    for at, row in _placed(rows):
        _fill(table, at, row)
    return table


def _placed(
    rows: Sequence[Sequence[Mapping[str, Any] | None]],
) -> Iterator[tuple[tuple[int, int], Mapping[str, Any]]]:
    for place, repeats in enumerate(rows):
        for repeat, row in enumerate(repeats):
            if row is not None:
                yield (place, repeat), row


def _fill(table: ScoreTable, at: tuple[int, int], row: Mapping[str, Any]) -> None:
    """Put one row into the arrays of a new table."""
    status = row.get("status", "answered")
    table.asked[at] = True
    table.answered[at] = status == "answered"
    table.timed_out[at] = status == "timed_out"
    _set(table.latency_ms, at, row.get("ms"))
    _set(table.cost, at, row.get("cost"))
    if (declined := row.get("declined")) is not None:
        table.declined[at] = int(declined)
    table.said[at] = int(row.get("said", "0"), 16)
    for name, found in row["scores"].items():
        if isinstance(found, str):
            table.statuses[name][at] = CODES[found]
            if found == "parse_failure" and table.columns[name].aggregate == "rate":
                table.values[name][at] = 0.0
        else:
            table.statuses[name][at] = CODES["ok"]
            _set(table.values[name], at, found)


def _set(figures: Figures, at: tuple[int, int], value: object) -> None:
    if (number := _number(value)) is not None:
        figures[at] = number


def _number(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{value!r} is no number")
    return float(value)
