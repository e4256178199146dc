"""ScoreTable: the scores of one bot in one run, question by question, as every comparison reads them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..primary import Primary, named_primary, primary_metric
from ..summary import MetricColumn

Figures = NDArray[np.float64]
Flags = NDArray[np.bool_]

# What stands in ``ScoreTable.statuses``: a place in this list, or ABSENT where the row has no score of the metric.
STATUSES: Final = ("ok", "not_applicable", "parse_failure", "bot_error", "error")
ABSENT: Final = -1
CODES: Final = {status: code for code, status in enumerate(STATUSES)}


@dataclass(frozen=True, slots=True)
class Case:
    """A question as comparisons see it.

    Attributes:
        key: its id in the question set, by which the two sides are paired.
        text: what was asked.
        yardstick: hash over all by which answers are marked: text, accepted answers, constraints, evidence (documents
            and quotes, not where they stand today) and whether it can be answered.
        source_document: the cluster in statistics; blank when the question is its own.
        tags: free labels.
        answerable: whether the knowledge holds the answer; None when the set does not say.
        extra: other keys of the question's line, such as those of a rewording.
    """

    key: str
    text: str
    yardstick: str
    source_document: str = ""
    tags: tuple[str, ...] = ()
    answerable: bool | None = None
    extra: Mapping[str, object] = field(default_factory=dict)


Answers = Callable[[str, int], str | None]  # the answer to a question's key and repeat; None where there is none


def said_hash(answer: str | None) -> int:
    """A number of 64 bits that stands for an answer, never 0; 0 where there is none."""
    if answer is None:
        return 0
    return int.from_bytes(hashlib.blake2b(answer.encode("utf-8", "replace"), digest_size=8).digest(), "big") or 1


def no_answers(*_: object) -> None:
    """No answers are on record."""


@dataclass(frozen=True, slots=True)
class RunFigure:
    """A metric over all rows of a bot at once, such as its error rate; the value is None where it has none."""

    column: MetricColumn
    value: float | None


@dataclass(frozen=True)
class ScoreTable:
    """The scores of one bot in one run. All arrays have the shape (questions, repeats), in the order of ``cases``.

    Attributes:
        run: name of the run.
        bot: name of the bot.
        fingerprint: of the bot: two sides with the same one are the same bot in the same state.
        kind: type of the bot in the suite.
        model: its chat model, or None.
        embedded: whether no language model takes part.
        cases: the questions, in the order of the run.
        columns: the metrics of rows, each with its version, direction, range and threshold.
        values: by metric; NaN where there is none. An unreadable verdict of a rate counts as 0, as in its mean.
        statuses: by metric; a place in STATUSES, or ABSENT.
        asked: whether the row is there at all (a run may have ended early).
        answered: whether the bot answered; where it did not, ``latency_ms`` is the time until it failed.
        timed_out: whether it was given up because it took too long: an answer would have taken longer still (censored).
        latency_ms: the bot's own time; NaN where it is not known.
        cost: as the backend counts; NaN where it does not.
        declined: 1 when the bot says that it does not answer, 0 when not, -1 where it does not tell.
        said: the ``said_hash`` of each answer.
        answers: gives what the bot said, by the question's key and repeat, for whoever wants to read it.
        of_run: figures over all rows of the bot at once, by metric; a run that goes on, or a baseline file, has none.
    """

    run: str
    bot: str
    fingerprint: str
    kind: str
    model: str | None
    embedded: bool
    cases: tuple[Case, ...]
    columns: Mapping[str, MetricColumn]
    values: Mapping[str, Figures]
    statuses: Mapping[str, NDArray[np.int8]]
    asked: Flags
    answered: Flags
    timed_out: Flags
    latency_ms: Figures
    cost: Figures
    declined: NDArray[np.int8]
    said: NDArray[np.uint64]
    answers: Answers = no_answers
    of_run: Mapping[str, RunFigure] = field(default_factory=dict)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The place of each question by its key."""
        return {case.key: place for place, case in enumerate(self.cases)}

    @property
    def repeats(self) -> int:
        """How often each question was asked."""
        return int(self.asked.shape[1])

    @property
    def failed(self) -> Flags:
        """Whether a row ended with an error, and not for want of time: when it did says nothing of an answer's time."""
        return self.asked & ~self.answered & ~self.timed_out

    @property
    def answer_ms(self) -> Figures:
        """What is known of how long an answer takes: the time it took, or was given; NaN where the bot failed."""
        return np.where(self.answered | self.timed_out, self.latency_ms, np.nan)


@dataclass(frozen=True, slots=True)
class RunTables:
    """A run with the tables of its bots, from a database or from a baseline file.

    Attributes:
        origin: where it came from, as a user would name it.
        run: its name.
        suite: name of its suite.
        status: ``running``, ``finished``, ``stopped``, ``failed``.
        manifest: what it rests on: versions, models, judge, settings.
        tables: by bot, in the order of the suite.
    """

    origin: str
    run: str
    suite: str
    status: str
    manifest: Mapping[str, object]
    tables: Mapping[str, ScoreTable]

    @property
    def primary(self) -> Primary | None:
        """The primary metric of the run, of those that were read; None where none of quality has a value."""
        columns = {name: column for table in self.tables.values() for name, column in table.columns.items()}
        means: dict[str, list[float]] = {}
        for table in self.tables.values():
            for name, values in table.values.items():
                if np.isfinite(values).any():
                    means.setdefault(name, []).append(float(np.nanmean(values)))
        return primary_metric(named_primary(self.manifest), columns, means)


def with_failures_wrong(table: ScoreTable, metric: str) -> ScoreTable:
    """The table with the worst value of a metric for every answer that failed outright: whoever asked has no answer.

    Nothing is done for a metric that has no worst value. Of a similarity, which may be below 0, it is 0.
    """
    column = table.columns.get(metric)
    if column is None or column.better == "neither":
        return table
    worst = column.high if column.better == "lower" else None if column.low is None else max(column.low, 0.0)
    failed = table.asked & ~table.answered
    if worst is None or not failed.any():
        return table
    values = {**table.values, metric: np.where(failed, worst, table.values[metric])}
    statuses = {**table.statuses, metric: np.where(failed, CODES["ok"], table.statuses[metric]).astype(np.int8)}
    return replace(table, values=values, statuses=statuses)


def is_binary(column: MetricColumn, *sides: Figures) -> bool:
    """Whether every value there is says yes or no: costs that are all zero don't."""
    return is_yes_or_no(column.low, column.high, *sides)


def is_yes_or_no(low: float | None, high: float | None, *sides: Figures) -> bool:
    """The same of a metric that goes from ``low`` to ``high``."""
    if (low, high) != (0, 1):
        return False
    return all(bool(np.isin(values[~np.isnan(values)], (0.0, 1.0)).all()) for values in sides)


def passes(column: MetricColumn, values: Figures) -> Flags:
    """Which values reach the threshold; none where there is no threshold, and NaN never does."""
    if column.threshold is None or column.better == "neither":
        return np.zeros(values.shape, np.bool_)
    reached = values >= column.threshold if column.better == "higher" else values <= column.threshold
    return np.asarray(reached, np.bool_)
