"""Summary object: a summary as JSON has it."""

from __future__ import annotations

from dataclasses import asdict

from .summary import BotSummary, MetricSummary, Summary


def as_object(summary: Summary) -> dict[str, object]:
    """The machine-readable form: ``{"run": ..., "bots": {name: {"rows", "failed", "metrics", "latency_ms"}}}``."""
    return {
        "run": summary.run,
        "suite": summary.suite,
        "status": summary.status,
        "questions": summary.questions,
        "primary": summary.primary and summary.primary.as_object,
        "judge": summary.judge and summary.judge.as_object,
        "local_models": [model.as_object for model in summary.local_models],
        "bots": {bot.name: _bot_object(bot) for bot in summary.bots},
    }


def _bot_object(bot: BotSummary) -> dict[str, object]:
    latency = bot.latency
    return {
        "kind": bot.kind,
        "model": bot.model,
        "embedded": bot.embedded,
        "problem": bot.problem,
        "rows": bot.rows,
        "failed": bot.failed,
        "declined": bot.declined,
        "metrics": {name: _metric_object(name, metric) for name, metric in bot.metrics.items()},
        "latency_ms": {
            "mean": latency and latency.mean,
            "p50": latency and latency.p50,
            "p95": latency and latency.p95,
        },
        "bot_error_rate": bot.error_rate,
        "empty_context_rate": bot.empty_context_rate,
        "tokens": bot.tokens,
        "tokens_rows": bot.tokens_rows,
        "cost": bot.cost,
        "cost_rows": bot.cost_rows,
    }


def _metric_object(name: str, metric: MetricSummary) -> dict[str, object]:
    made: dict[str, object] = {
        "mean": metric.mean,
        "ci_low": metric.ci_low,
        "ci_high": metric.ci_high,
        "ci_untold": metric.ci_untold or None,
        "n_ok": metric.n_ok,
        "n_not_applicable": metric.n_not_applicable,
        "n_failed": metric.n_failed,
        "n_parse_failure": metric.n_parse_failure,
        "reasons": metric.reasons,
    }
    if metric.calibration is not None:
        made["calibration"] = asdict(metric.calibration)
    if name.endswith(".passes"):
        made["passes_parsed"] = metric.mean_parsed
    if name.endswith(".failures") and metric.mean is not None:
        unreadable = metric.n_parse_failure / (metric.n_ok + metric.n_parse_failure)
        made["failures_incl_parse"] = metric.mean + unreadable
    return made
