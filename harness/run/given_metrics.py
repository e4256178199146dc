"""Given metrics: the scores that other tools gave recorded answers, as metrics of a run of their own."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ... import InputError
from ...knowledge import Recorded, RecordedSet
from ...knowledge.formats import Metric
from ...knowledge.formats.finding import OWN, ForeignRows, format_names, format_of
from ...knowledge.questions.question_files import ScoreSummary
from ...knowledge.questions.rows import GivenScore
from ...metrics import builtin_catalog
from ...metrics.score import Better
from ...reports.store.encoding import to_json
from ...reports.store.given_scores import GivenRow
from ...reports.store.run import RunEvaluator, RunMetric
from .run_config import ScoreMetadata

_NO_NAME: Final = re.compile(r"[^\w.]+")


@dataclass(frozen=True, slots=True)
class GivenMetrics:
    """The scores of a file as metrics of a run: by the name in the file."""

    metrics: Mapping[str, RunMetric]

    @property
    def names(self) -> frozenset[str]:
        """As the metrics are called in the run."""
        return frozenset(each.name for each in self.metrics.values())

    @property
    def evaluators(self) -> tuple[RunEvaluator, ...]:
        """Each a group of its own."""
        return tuple(RunEvaluator(each.name, each.name, each.name, [each.name]) for each in self.metrics.values())

    def renamed(self, scores: Mapping[str, GivenScore]) -> dict[str, GivenScore]:
        """Scores by the names of their metrics in the run."""
        return {self.metrics[name].name: score for name, score in scores.items()}

    def rows(self, recorded: RecordedSet) -> Iterator[GivenRow]:
        """What each answer was given."""
        for each in recorded:
            yield GivenRow(each.bot, recorded_key(each), each.repeat, self.renamed(each.scores))


def given_metrics(recorded: RecordedSet, metadata: ScoreMetadata) -> GivenMetrics:
    """The scores of a file as metrics of a run.

    Raises:
        InputError: nobody says whether a higher value of one is better.
    """
    source = recorded.source
    prefix, title, known, version = "recorded", "the file", {}, metadata.version
    if isinstance(source, ForeignRows):
        prefix, title = source.format.name, source.format.title
        known = {**source.format.metrics, **source.notes.metrics}
        version = version or source.notes.version
    made: dict[str, RunMetric] = {}
    unknown: list[str] = []
    for name, seen in recorded.scores.items():
        full = metric_name(prefix, name)
        metric = _known(known, name) or _known_elsewhere(full)
        better = metadata.better.get(full) or metadata.better.get(name) or metric.better
        if better is None:
            unknown.append(full)
            continue
        made[name] = _metric(full, f"{title} {version}".strip(), metric, better, seen, metadata.ranges.get(full))
    if unknown:
        options = " ".join(f"--better {name}=higher" for name in unknown)
        raise InputError(
            f"{recorded.path}: nothing says whether a higher {' or '.join(unknown)} is better. Say so: {options} "
            "(or lower, or neither)."
        )
    _check_metadata(recorded, metadata, made)
    return GivenMetrics(made)


def _known_elsewhere(name: str) -> Metric:
    """What is known of a score that a file of ours has with the name of its tool: ours, or of another tool."""
    tool, _, rest = name.partition(".")
    if tool == OWN:
        declared = builtin_catalog().metrics.get(rest)
        return Metric() if declared is None else Metric(declared.better, declared.low, declared.high)
    return (_known(format_of(tool).metrics, rest) if tool in format_names() else None) or Metric()


def _known(metrics: Mapping[str, Metric], name: str) -> Metric | None:
    """What is known of a score, also where its settings stand after its name: ``rouge_score(mode=fmeasure)``."""
    return next(
        (
            metrics[each]
            for each in (name, name.partition("(")[0].strip(), name.partition("_mode_")[0])
            if each in metrics
        ),
        None,
    )


def metric_name(prefix: str, name: str) -> str:
    """What a score of another tool is called here: ``ragas.faithfulness``; one that has a tool before it keeps it."""
    plain = _NO_NAME.sub("_", name.strip()).strip("_").lower() or "score"
    return plain if prefix == "recorded" and "." in plain else f"{prefix}.{plain}"


def _check_metadata(recorded: RecordedSet, metadata: ScoreMetadata, made: Mapping[str, RunMetric]) -> None:
    names = {each.name for each in made.values()} | made.keys()
    for option, given in (("--better", metadata.better), ("--range", metadata.ranges)):
        for name in given:
            if name not in names:
                there = ", ".join(sorted(each.name for each in made.values())) or "no scores"
                raise InputError(f"{option}: {recorded.path} has no score {name!r}; it has {there}.")


def _metric(
    name: str,
    source: str,
    metric: Metric,
    better: Better,
    seen: ScoreSummary,
    bounds: tuple[float | None, float | None] | None,
) -> RunMetric:
    low, high = bounds or (metric.low, metric.high)
    if (low is not None and seen.low < low) or (high is not None and seen.high > high):
        if bounds:
            raise InputError(f"--range: {name} has values from {seen.low:g} to {seen.high:g}, not {low} to {high}.")
        low = high = None  # it is not what the tool calls so elsewhere
    thresholds = seen.thresholds
    threshold = metric.threshold if not thresholds else thresholds.copy().pop() if len(thresholds) == 1 else None
    return RunMetric(
        name=name,
        version=f"{source} {better}",
        better=better,
        low=low,
        high=high,
        threshold=threshold,
        summary=metric.summary or f"Given by {source}.",
        source=source,
    )


def recorded_key(record: Recorded) -> bytes:
    """All that was recorded, as 16 bytes: a changed answer is a new one."""
    known = [record.question.id, record.question.text, record.answer, record.contexts, record.latency_ms, record.cost]
    more: list[object] = [] if record.tool_calls is None else [record.tool_calls]
    if record.scores:  # the same answer, scored again with another result, must not change an earlier run
        more.append({name: score.value for name, score in record.scores.items()})
    content = to_json([*known, *more])
    return hashlib.blake2b(content.encode(), digest_size=16).digest()
