"""Two sides made from bare figures, for tests of comparisons."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from proctor.reports.compare.comparable import Pairing, pair
from proctor.reports.compare.operands import Operand
from proctor.reports.compare.scores import RunTables, ScoreTable
from proctor.reports.store.row_scores import STATUSES
from proctor.reports.summary import MetricColumn
from ranked_tables import cases, table

COLUMNS = (
    MetricColumn("recall", "v1", "higher", 0.0, 1.0, 0.5),
    MetricColumn("toxicity", "v1", "lower", 0.0, 1.0, 0.5),
    MetricColumn("words", "v1", "neither", 0.0, None, None),
    MetricColumn("euros", "v1", "lower", 0.0, None, None),
)


def made(bot: str, values: Mapping[str, ArrayLike], run: str = "run-1", **changes: object) -> ScoreTable:
    """A bot's table; NaN is not applicable."""
    raw = table(bot, values, columns=COLUMNS, **{key: changes.pop(key) for key in WRITTEN & changes.keys()})
    statuses = {
        name: np.where(np.isnan(figures), STATUSES.index("not_applicable"), 0).astype(np.int8)
        for name, figures in raw.values.items()
    }
    return replace(raw, run=run, statuses=statuses, **changes)


WRITTEN = {"asked", "latency", "cost", "answered", "timed_out", "embedded"}


def side_of(*tables: ScoreTable, bot: str | None = None, status: str = "finished", **changes: object) -> Operand:
    """A side with the tables of one run."""
    manifest = changes.pop("manifest", {})
    run = RunTables("run.db", tables[0].run, "run", status, manifest, {each.bot: each for each in tables})
    return Operand(run, bot, **changes)


def paired(baseline: ArrayLike, candidate: ArrayLike, metric: str = "recall", documents: Sequence[str] = ()) -> Pairing:
    """Two bots' values of one metric."""
    asked = cases(len(baseline), documents)
    return pair(made("old", {metric: baseline}, asked=asked), made("new", {metric: candidate}, asked=asked))
