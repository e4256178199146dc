"""Score tables of several bots made from bare figures, for tests of rankings, routers and abstention."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike
from proctor.reports.compare.cases import Case, Cases
from proctor.reports.compare.scores import RunTables, ScoreTable
from proctor.reports.summary import MetricColumn

RIGHT = MetricColumn("right", "v1", "higher", 0.0, 1.0, 0.5)


def column(name: str, better: str = "higher", low: float | None = 0.0, high: float | None = 1.0) -> MetricColumn:
    return MetricColumn(name, "v1", better, low, high, 0.5)


def cases(
    count: int, documents: Sequence[str] = (), answerable: Sequence[bool | None] = (), tags: Sequence[str] = ()
) -> tuple[Case, ...]:
    return tuple(
        Case(
            f"q{number}",
            f"What is {number}",
            f"y{number}",
            source_document=documents[number] if documents else "",
            answerable=answerable[number] if answerable else None,
            tags=(tags[number],) if tags else (),
        )
        for number in range(count)
    )


def two_dimensional(figures: ArrayLike) -> np.ndarray:
    """One repeat where the figures are one for each question."""
    made = np.asarray(figures, np.float64)
    return made[:, None] if made.ndim == 1 else made


def table(
    bot: str, values: Mapping[str, ArrayLike] | ArrayLike, asked: Sequence[Case] = (), *,
    columns: Sequence[MetricColumn] = (), latency: ArrayLike | None = None, cost: ArrayLike | None = None,
    abstained: ArrayLike | None = None, answered: ArrayLike | None = None, timed_out: ArrayLike | None = None,
    embedded: bool = False,
) -> ScoreTable:  # fmt: skip
    """The scores of a bot; bare figures are of the metric ``right``."""
    by_metric = values if isinstance(values, Mapping) else {RIGHT.name: values}
    arrays = {name: two_dimensional(figures) for name, figures in by_metric.items()}
    shape = next(iter(arrays.values())).shape
    known = {each.name: each for each in (*columns, RIGHT)}
    hashes = np.ones(shape, np.bool_) if answered is None else two_dimensional(answered).astype(np.bool_)
    return ScoreTable(
        run="run-1", bot=bot, fingerprint=bot, kind="python", model=None, embedded=embedded,
        cases=Cases.of(asked or cases(shape[0])), columns={name: known.get(name) or column(name) for name in arrays},
        values=arrays, statuses={name: np.zeros(shape, np.int8) for name in arrays},
        asked=np.ones(shape, np.bool_), answered=hashes,
        timed_out=np.zeros(shape, np.bool_) if timed_out is None else two_dimensional(timed_out).astype(np.bool_),
        latency_ms=np.full(shape, 10.0) if latency is None else np.broadcast_to(two_dimensional(latency), shape),
        cost=np.full(shape, np.nan) if cost is None else np.broadcast_to(two_dimensional(cost), shape),
        abstained=np.full(shape, -1, np.int8) if abstained is None else two_dimensional(abstained).astype(np.int8),
        answer_hashes=hashes.astype(np.uint64),
    )  # fmt: skip


def run_of(*tables: ScoreTable, **manifest: object) -> RunTables:
    return RunTables("nowhere.json", "run-1", "run", "finished", manifest, {each.bot: each for each in tables})
