"""Comparison object: a comparison for machines, with no figure rounded."""

from __future__ import annotations

from dataclasses import asdict

from .changed_rows import ChangedRows
from .comparison import Comparison
from .comparison_words import headline
from .metric_comparison import MetricComparison, Noise


def comparison_object(comparison: Comparison) -> dict[str, object]:
    """All of it; what is not known is None."""
    return {
        "base": asdict(comparison.base),
        "head": asdict(comparison.head),
        "headline": headline(comparison),
        "primary": comparison.primary and comparison.primary.as_object,
        "same_answers": comparison.same_answers,
        "questions": comparison.questions,
        "cluster": comparison.cluster,
        "clusters": comparison.clusters,
        "correct": comparison.correct,
        "changes": list(comparison.changes),
        "metrics": {each.column.name: _metric(each, comparison) for each in comparison.metrics},
        "latency": None if comparison.latency is None else asdict(comparison.latency),
        "refused": dict(comparison.refused),
        "dropped": asdict(comparison.dropped),
        "warnings": list(comparison.warnings),
        "rows": {rows.metric: _rows(rows) for rows in comparison.rows},
    }


def _metric(found: MetricComparison, comparison: Comparison) -> dict[str, object]:
    column, difference, directed = found.column, found.difference, found.column.better != "neither"
    wins, ties, losses = found.wins_ties_losses
    return {
        "better": column.better,
        "low": column.low,
        "high": column.high,
        "threshold": column.threshold,
        "version": column.version,
        "verdict": found.verdict,
        "sentence": found.sentence(comparison.head.name),
        "base_mean": found.base_mean,
        "head_mean": found.head_mean,
        "difference": difference.mean,
        "interval": None if difference.low is None else [difference.low, difference.high],
        "standard_error": difference.standard_error,
        "few_changes": difference.few_changes,
        "d_z": difference.effect,
        "test": difference.test,
        "p": difference.p_value,
        "p_cautious": difference.cautious_p_value,
        "p_holm": found.holm,
        "p_bh": found.bh,
        "questions": difference.questions,
        "clusters": difference.clusters,
        "higher": difference.wins,
        "equal": difference.ties,
        "lower": difference.losses,
        "wins": wins if directed else None,
        "ties": ties if directed else None,
        "losses": losses if directed else None,
        "pass_to_fail": found.pass_to_fail,
        "fail_to_pass": found.fail_to_pass,
        "missing": asdict(found.missing),
        "bounds": None if found.bounds is None else list(found.bounds),
        "noise": None if found.noise is None else _noise(found.noise),
    }


def _noise(noise: Noise) -> dict[str, object]:
    parts = noise.parts
    return {
        "variance": {"question": parts.question, "bot": parts.bot, "judge": parts.judge},
        "shares": dict(parts.shares),
        "judge_known": parts.judge is not None,
        "repeats": parts.repeats,
        "width_with_twice_questions": noise.twice_questions,
        "width_with_twice_repeats": noise.twice_repeats,
    }


def _rows(rows: ChangedRows) -> dict[str, object]:
    return {"losses": [asdict(row) for row in rows.losses], "gains": [asdict(row) for row in rows.gains]}
