"""Breakdowns: how the mean of a bot differs from tag to tag and from source document to source document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import orjson
from numpy.typing import NDArray

from ...comparing.clustered_mean import Mean, clustered_mean
from ...reported_run import ROUNDING, ReportedRun, row_metric
from ...run import RunEvaluator
from ...summary import PARSE_FAILURE_TOLERANCE, MetricColumn
from .score_values import RowScores, ScoreValues

QUESTIONS: Final = """
SELECT id, tags, source_document FROM questions
WHERE id IN (SELECT question_id FROM run_rows WHERE run_id = ?)"""
MOST_GROUPS: Final = 20  # of a kind that are shown for the first metric; the worst first
FEWER_GROUPS: Final = 10  # for the others: there may be dozens of them
SMALL: Final = 5  # questions below which a mean says little
MOST_SMALL: Final = 5  # groups of so few questions that are shown

Kind = Literal["tag", "document"]
Figures = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class GroupMean:
    """The mean of one bot over one group.

    Attributes:
        mean: None where the bot has no value there.
        low, high: 95 % interval; None with fewer than two questions (or, of a tag, two documents).
        questions: with a value.
        away: how far it is from the bot's mean over all questions.
        stray: ``worse`` or ``better`` (``apart`` without a direction) where that mean is outside the interval.
    """

    mean: float | None
    low: float | None
    high: float | None
    questions: int
    away: float | None
    stray: str = ""

    @property
    def is_small(self) -> bool:
        """Whether it rests on few questions."""
        return self.questions < SMALL


@dataclass(frozen=True, slots=True)
class GroupLine:
    """One tag or document with the mean of each bot."""

    name: str
    means: tuple[GroupMean, ...]


@dataclass(frozen=True, slots=True)
class Breakdown:
    """One metric by tags or by documents; ``rest`` counts the groups that are not shown."""

    kind: Kind
    column: MetricColumn
    bots: tuple[str, ...]
    overall: tuple[float | None, ...]
    lines: tuple[GroupLine, ...]
    rest: int


@dataclass(frozen=True, slots=True)
class MetricBreakdowns:
    """The metric by which an evaluator ranks, by tag, by document, or by both."""

    evaluator: RunEvaluator
    column: MetricColumn
    parts: tuple[Breakdown, ...]


@dataclass(frozen=True, slots=True)
class _Groups:
    """Groups of one kind: a question may be in several.

    Attributes:
        names: of the groups.
        members: place of a question, one for each group that it is in.
        codes: place in ``names`` for each member.
        clusters: by question, which of them hang together within a group.
    """

    kind: Kind
    names: tuple[str, ...]
    members: Codes
    codes: Codes
    clusters: Codes

    @property
    def parts_questions(self) -> bool:
        """Whether they tell more than a mean over all questions does."""
        return len(self.names) > 1 or 0 < len(self.members) < len(self.clusters)

    def holds(self, group: int) -> NDArray[np.bool_]:
        """By question, whether it is in a group."""
        found = np.zeros(len(self.clusters), np.bool_)
        found[self.members[self.codes == group]] = True
        return found

    def sums(self, by_question: NDArray[np.generic]) -> Figures:
        """Figures of questions added up by group."""
        weights = by_question[self.members].astype(np.float64)
        return np.bincount(self.codes, weights, len(self.names)).astype(np.float64)


@dataclass(frozen=True, slots=True)
class _BotRows:
    """One bot's rows with a value: its mean over all, the value and question of each, and which can't be read."""

    overall: float | None
    values: Figures
    questions: Codes
    unreadable: Codes


def breakdowns(run: ReportedRun, scores: ScoreValues, bots: Sequence[str], leading: str = "") -> list[MetricBreakdowns]:
    """By the metric that tells of rows in each evaluator; none where questions have neither tags nor documents.

    Args:
        run: the run.
        scores: its values.
        bots: those that are shown.
        leading: the metric that comes first.
    """
    lines = run.store.connection.execute(QUESTIONS, [run.id]).fetchall()
    kinds = [groups for groups in _groups(lines) if groups.parts_questions]
    if not kinds:
        return []
    ids = np.array([line[0] for line in lines], np.int64)
    found: list[MetricBreakdowns] = []
    for evaluator, column in sorted(_columns(run), key=lambda each: each[1].name != leading):
        rows = [_bot_rows(run, bot, column, scores.get((bot, column.name)), ids) for bot in bots]
        if any(each.overall is not None for each in rows):
            most = FEWER_GROUPS if found else MOST_GROUPS
            parts = tuple(_breakdown(groups, column, tuple(bots), rows, most) for groups in kinds)
            found.append(MetricBreakdowns(evaluator, column, parts))
    return found


def _columns(run: ReportedRun) -> Iterable[tuple[RunEvaluator, MetricColumn]]:
    first: dict[str, RunEvaluator] = {}
    for evaluator in run.evaluators:
        first.setdefault(row_metric(evaluator), evaluator)
    columns = ((evaluator, run.columns.get(name)) for name, evaluator in first.items())
    return [(evaluator, column) for evaluator, column in columns if column is not None and column.level == "row"]


def _groups(lines: Sequence[tuple[int, str, str]]) -> Iterable[_Groups]:
    """Tags, whose questions hang together by document, and documents, in which each question is its own."""
    own = np.arange(len(lines))
    documents = [document or place for place, (_, _, document) in enumerate(lines)]
    numbers = {document: number for number, document in enumerate(dict.fromkeys(documents))}
    by_document = np.array([numbers[document] for document in documents], np.intp)
    tags = [(place, tag) for place, line in enumerate(lines) for tag in dict.fromkeys(orjson.loads(line[1]))]
    yield _grouped("tag", tags, by_document)
    yield _grouped("document", [(place, line[2]) for place, line in enumerate(lines) if line[2]], own)


def _grouped(kind: Kind, pairs: Sequence[tuple[int, str]], clusters: Codes) -> _Groups:
    names = {name: number for number, name in enumerate(sorted({name for _, name in pairs}))}
    members = np.array([place for place, _ in pairs], np.intp)
    return _Groups(kind, tuple(names), members, np.array([names[name] for _, name in pairs], np.intp), clusters)


def _bot_rows(
    run: ReportedRun, bot: str, column: MetricColumn, scores: RowScores | None, ids: NDArray[np.int64]
) -> _BotRows:
    """The mean of a rate counts rows that can't be read as rows on which the thing did not happen."""
    overall = run.bot(bot).metrics[column.name].mean
    if scores is None:
        return _BotRows(None, np.empty(0), np.empty(0, np.intp), np.empty(0, np.intp))
    is_rate = column.aggregate == "rate"
    counted = np.isfinite(scores.values) | (scores.is_unreadable & is_rate)
    order = np.argsort(ids)
    places = order[np.searchsorted(ids, scores.questions, sorter=order)]
    unreadable = places[scores.is_unreadable & (not is_rate)]
    return _BotRows(overall, np.nan_to_num(scores.values[counted]), places[counted], unreadable)


def _breakdown(
    groups: _Groups, column: MetricColumn, bots: tuple[str, ...], rows: Sequence[_BotRows], most: int
) -> Breakdown:
    means = np.array([_means(groups, each) for each in rows])
    counts = np.array([_questions(groups, each) for each in rows])
    overall = tuple(each.overall for each in rows)
    away = means - np.array([np.nan if each is None else each for each in overall])[:, np.newaxis]
    order, small = _worst_first(column, away, counts)
    most = min(most, len(order) - small + MOST_SMALL)
    lines = tuple(
        GroupLine(groups.names[group], tuple(_group_mean(groups, group, column, each) for each in rows))
        for group in order[:most]
    )
    return Breakdown(groups.kind, column, bots, overall, lines, max(len(order) - most, 0))


def _means(groups: _Groups, rows: _BotRows) -> Figures:
    """The mean of each group; NaN without a value, and where too much of the judge can't be read."""
    size = len(groups.clusters)
    total = groups.sums(np.bincount(rows.questions, rows.values, size))
    count = groups.sums(np.bincount(rows.questions, minlength=size))
    unreadable = groups.sums(np.bincount(rows.unreadable, minlength=size))
    told = (count > 0) & (unreadable <= PARSE_FAILURE_TOLERANCE * (count + unreadable))
    means = np.full(len(groups.names), np.nan)
    means[told] = total[told] / count[told]
    return means


def _questions(groups: _Groups, rows: _BotRows) -> Figures:
    """How many questions of each group have a value."""
    return groups.sums(np.bincount(rows.questions, minlength=len(groups.clusters)) > 0)


def _worst_first(column: MetricColumn, away: Figures, counts: Figures) -> tuple[list[int], int]:
    """Groups of some size first, by how much the bot falls short that falls short most there; ties by name.

    Returns:
        The groups, and how many of them, the last ones, are small.
    """
    sign = {"higher": -1.0, "lower": 1.0, "neither": 0.0}[column.better]
    there = np.isfinite(away)
    short = np.where(there, sign * away if sign else np.abs(away), -np.inf)
    large = there & (counts >= SMALL)
    is_small = np.asarray(~large.any(axis=0))
    worst = np.where(is_small, short.max(axis=0), np.where(large, short, -np.inf).max(axis=0))
    order = np.lexsort((-worst, is_small))  # stable, and groups stand in the order of their names
    shown = [int(group) for group in order if there[:, group].any()]
    return shown, int(is_small[shown].sum())


def _group_mean(groups: _Groups, group: int, column: MetricColumn, rows: _BotRows) -> GroupMean:
    is_member = groups.holds(group)
    inside = is_member[rows.questions]
    values, questions = rows.values[inside], rows.questions[inside]
    count = len(np.unique(questions))
    unreadable = int(is_member[rows.unreadable].sum())
    if rows.overall is None or not count or unreadable > PARSE_FAILURE_TOLERANCE * (len(values) + unreadable):
        return GroupMean(None, None, None, count, None)
    mean = clustered_mean(values, groups.clusters[questions], column.low, column.high)
    away = mean.value - rows.overall
    stray = _stray(away, column) if _is_outside(rows.overall, mean) else ""
    return GroupMean(mean.value, mean.low, mean.high, count, away, stray)


def _is_outside(overall: float, mean: Mean) -> bool:
    if mean.low is None or mean.high is None:
        return False
    return not mean.low - ROUNDING <= overall <= mean.high + ROUNDING


def _stray(away: float, column: MetricColumn) -> str:
    if column.better == "neither":
        return "apart"
    return "better" if (away > 0) == (column.better == "higher") else "worse"
