"""Gate objects: a gate's verdicts as plain objects for programs; what is not known is None, never NaN."""

from __future__ import annotations

from dataclasses import asdict

from ..statistics.paired import Difference
from .gate_flips import GateFlip
from .gate_rule import GateRule
from .metric_verdicts import MetricVerdict
from .these_questions import OnThese
from .verdicts import BotVerdict


def bot_object(bot: BotVerdict) -> dict[str, object]:
    """Everything that a gate says of one bot."""
    latency = bot.latency
    return {
        "bot": bot.bot,
        "against": {"bot": bot.base_bot, "run": bot.base_run},
        "verdict": bot.word,
        "exit_code": bot.exit_code,
        "unchanged": bot.unchanged,
        "questions": bot.questions,
        "clusters": bot.clusters,
        "metrics": {each.metric: metric_object(each) for each in bot.metrics},
        "thresholds": [asdict(each) for each in bot.thresholds],
        "latency": {
            "outcome": latency.outcome,
            "limit": latency.limit,
            "figures": None if latency.found is None else asdict(latency.found),
            "sentence": latency.sentence,
        },
        "failures": asdict(bot.failures),
        "primary": bot.primary or None,
        "changes": [asdict(each) for each in bot.changes],
        "flips": [flip_object(flip) for flip in bot.flips],
        "notes": list(bot.notes),
    }


def metric_object(found: MetricVerdict) -> dict[str, object]:
    """One metric; ``gain`` is above 0 where the bot got better, ``difference`` is head less base."""
    gain, change = found.gain, found.change
    return {
        "outcome": found.outcome,
        "sentence": found.sentence,
        "these": None if found.these is None else _these_object(found.these),
        "like_these": None
        if found.like_these is None
        else {"outcome": found.like_these, "sentence": found.like_sentence},
        "margin": found.margin,
        "better": found.better,
        "base_mean": found.base_mean,
        "head_mean": found.head_mean,
        "difference": None if change is None else change[0],
        "difference_low": None if change is None else change[1],
        "difference_high": None if change is None else change[2],
        "gain": None if gain is None else asdict(gain),
        "p_value": None if gain is None else gain.p_value,
        "adjusted_p": found.adjusted_p,
        "questions": _questions(gain),
        "clusters": None if gain is None else gain.clusters,
        "further_questions": found.further,
        "missing": found.missing,
        "missing_in_part": found.missing_in_part,
        "missing_share": found.missing_share,
        "too_much_missing": found.too_much_missing,
        "gain_bounds": None if found.bounds is None else list(found.bounds),
    }


def _these_object(found: OnThese) -> dict[str, object]:
    return {**asdict(found), "gain_low": found.low, "gain_high": found.high}


def flip_object(flip: GateFlip) -> dict[str, object]:
    """A question that got worse."""
    return {
        "question_id": flip.key,
        "question": flip.question,
        "metrics": [asdict(each) for each in flip.falls],
        "again": {"before": list(flip.again[0]), "now": list(flip.again[1])},
        "base_answer": flip.base_answer,
        "head_answer": flip.head_answer,
        "head_answered": flip.head_answered,
    }


def rule_object(rule: GateRule) -> dict[str, object]:
    """What was gated and let pass."""
    return {
        "margins": dict(rule.margins),
        "margin": rule.margin,
        "missing": rule.missing,
        "latency": rule.latency,
        "scope": rule.scope,
        "confirm": rule.confirm,
        "metrics": list(rule.metrics),
        "thresholds": sorted(rule.thresholds),
        "cluster": rule.cluster,
    }


def _questions(gain: Difference | None) -> int:
    return 0 if gain is None else gain.questions
