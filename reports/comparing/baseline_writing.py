"""Baseline writing: a run from its database into a baseline file, one question a line."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson

from ..store import Store
from ..summary import MetricColumn
from ..whole_files import whole_file
from .baseline_file import FORMAT, MARK, checksum
from .run_tables import run_tables
from .score_table import ABSENT, STATUSES, Case, RunTables, ScoreTable
from .six_digits import six_digits

LONGEST_ANSWER: Final = 500  # characters of an answer that are kept
# What a comparison tells of a manifest, and what a gate reads of it.
SETTINGS: Final = (
    "primary", "suite_hash", "questions", "limit", "repeat", "concurrency", "latency_run", "seed", "embedder", "judge",
    "local_models",
)  # fmt: skip
OF_SUITE: Final = ("metrics", "thresholds", "gate")


@dataclass(frozen=True, slots=True)
class BaselineChoice:
    """What of a run goes into the file; None for all bots or metrics of rows."""

    bots: Collection[str] | None = None
    metrics: Collection[str] | None = None
    answers: bool = True


def write_baseline(store: Store, run_id: int, path: Path, choice: BaselineChoice) -> RunTables:
    """Write a run into a baseline file, and return what was written of it.

    Values have six significant digits; answers are cut after 500 characters. Equal runs give equal bytes.
    """
    run = run_tables(store, run_id, choice.bots)
    made = baseline(run, _bots(store, run_id), choice)
    with whole_file(path) as file:
        file.writelines(_lines(made))
    return run


def baseline(run: RunTables, bots: Mapping[str, Mapping[str, object]], choice: BaselineChoice) -> dict[str, Any]:
    """The content of the file; ``bots`` is what each bot was made of."""
    tables = list(run.tables.values())
    cases = tables[0].cases if tables else ()
    columns = tables[0].columns if tables else {}
    names = [name for name in columns if choice.metrics is None or name in choice.metrics]
    made: dict[str, Any] = {
        MARK: FORMAT,
        "checksum": "",
        "run": run.run,
        "suite": run.suite,
        "status": run.status,
        "manifest": _extract(run.manifest),
        "metrics": [_metric(columns[name]) for name in names],
        "bots": [_bot(table) | dict(bots.get(table.bot, {})) for table in tables],
        "questions": [_question(case, place, tables, names, choice.answers) for place, case in enumerate(cases)],
    }
    return made | {"checksum": checksum(made)}


def _lines(made: Mapping[str, Any]) -> Iterator[bytes]:
    """The file: a line for each key, and within manifest, metrics, bots and questions a line for each entry."""
    last = len(made) - 1
    yield b"{\n"
    for place, (name, value) in enumerate(made.items()):
        end = b",\n" if place < last else b"\n"
        if isinstance(value, list) and value:
            yield orjson.dumps(name) + b": [\n"
            yield b",\n".join(map(orjson.dumps, value)) + b"\n"
            yield b"]" + end
        elif isinstance(value, dict) and value:
            yield orjson.dumps(name) + b": {\n"
            yield b",\n".join(orjson.dumps(key) + b": " + orjson.dumps(inner) for key, inner in value.items()) + b"\n"
            yield b"}" + end
        else:
            yield orjson.dumps(name) + b": " + orjson.dumps(value) + end
    yield b"}\n"


def _extract(manifest: Mapping[str, object]) -> dict[str, object]:
    """The manifest without the bots' settings, paths and the command: what a comparison tells of it."""
    settings = manifest.get("settings")
    settings = settings if isinstance(settings, Mapping) else {}
    suite = settings.get("suite")
    suite = suite if isinstance(suite, Mapping) else {}
    kept = {name: manifest[name] for name in ("proctor", "python", "packages") if name in manifest}
    chosen = {name: settings[name] for name in SETTINGS if name in settings}
    return kept | {"settings": chosen | {"suite": {name: suite[name] for name in OF_SUITE if name in suite}}}


def _bots(store: Store, run_id: int) -> dict[str, dict[str, object]]:
    """What each bot was made of: settings and prompts as they were, documents and code by their hashes."""
    lines = store.query(
        "SELECT name, settings, prompts, parts, models FROM run_bots JOIN bots ON bots.id = bot_id WHERE run_id = ?",
        [run_id],
    )
    return {
        str(name): {
            "settings": orjson.loads(settings),
            "prompts": orjson.loads(prompts),
            "parts": orjson.loads(parts),
            "models": orjson.loads(models),
        }
        for name, settings, prompts, parts, models in lines
    }


def _metric(column: MetricColumn) -> dict[str, object]:
    return {
        "name": column.name, "version": column.version, "better": column.better, "low": _plain(column.low),
        "high": _plain(column.high), "threshold": _plain(column.threshold), "aggregate": column.aggregate,
    }  # fmt: skip


def _bot(table: ScoreTable) -> dict[str, object]:
    return {
        "name": table.bot, "fingerprint": table.fingerprint, "kind": table.kind, "model": table.model,
        "embedded": table.embedded, "repeats": table.repeats,
    }  # fmt: skip


def _question(
    case: Case, place: int, tables: Sequence[ScoreTable], metrics: Sequence[str], answers: bool
) -> dict[str, object]:
    made: dict[str, object] = {"key": case.key, "text": case.text, "yardstick": case.yardstick}
    if case.source_document:
        made["source"] = case.source_document
    if case.tags:
        made["tags"] = list(case.tags)
    if case.answerable is not None:
        made["answerable"] = case.answerable
    if case.extra:
        made["extra"] = dict(case.extra)
    rows = {
        table.bot: [_row(table, place, repeat, metrics, answers) for repeat in range(table.repeats)] for table in tables
    }
    return made | {"rows": {bot: of_bot for bot, of_bot in rows.items() if any(of_bot)}}


def _row(table: ScoreTable, place: int, repeat: int, metrics: Sequence[str], answers: bool) -> dict[str, object] | None:
    """One row; None where it was not asked. What has no value gives the status in its place."""
    at = place, repeat
    if not table.asked[at]:
        return None
    made: dict[str, object] = {}
    if not table.answered[at]:
        made["status"] = "timed_out" if table.timed_out[at] else "failed"
    for name, figure in (("ms", table.latency_ms[at]), ("cost", table.cost[at])):
        if np.isfinite(figure):
            made[name] = _plain(float(figure))
    if table.declined[at] >= 0:
        made["declined"] = bool(table.declined[at])
    if table.said[at]:
        made["said"] = f"{int(table.said[at]):016x}"
    made["scores"] = {
        name: _plain(float(table.values[name][at])) if STATUSES[status] == "ok" else STATUSES[status]
        for name in metrics
        if (status := int(table.statuses[name][at])) != ABSENT
    }
    if answers and (answer := table.answers(table.cases[place].key, repeat)) is not None:
        made["answer"] = answer[:LONGEST_ANSWER]
    return made


def _plain(value: float | None) -> float | int | None:
    """Six digits, and whole numbers without a point, so that no tool that reads and writes JSON changes them."""
    if value is None:
        return None
    rounded = six_digits(value)
    return int(rounded) if rounded.is_integer() and abs(rounded) < 2**53 else rounded
