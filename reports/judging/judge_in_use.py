"""Judge in use: who graded a run and which of its metrics, as reports say it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from ...metrics.evaluator_table import RATES
from ..store import Store


@dataclass(frozen=True, slots=True)
class JudgeInUse:
    """Who graded; ``embedded`` when no language model took part.

    Attributes:
        name: the models as the suite names them, or ``embedded``.
        model_id: models, settings and votes.
        embedded: whether only local models that write nothing took part.
        metrics: those of the run that rest on the judge's word.
    """

    name: str
    model_id: str
    embedded: bool
    metrics: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """What stands below a leaderboard."""
        who = "embedded judge, no LLM" if self.embedded else f"judged by {self.name}"
        return f"{who}: {', '.join(families(self.metrics))}"

    @property
    def as_object(self) -> dict[str, object]:
        """For machines."""
        return {
            "name": self.name,
            "model_id": self.model_id,
            "embedded": self.embedded,
            "metrics": list(self.metrics),
        }


def families(metrics: Iterable[str]) -> list[str]:
    """Names of metrics, with the five rates of a boolean evaluator as one.

    >>> families(["faithfulness", "byop.tone.passes", "byop.tone.failures"])
    ['faithfulness', 'byop.tone']
    """
    parts = (name.rpartition(".") for name in metrics)
    return list(dict.fromkeys(family if rate in RATES else f"{family}{dot}{rate}" for family, dot, rate in parts))


def judge_in_use(store: Store, run_id: int) -> JudgeInUse | None:
    """The judge of a run as it stands on the manifest; None when no metric of the run asks one."""
    ((manifest,),) = store.query("SELECT manifest FROM runs WHERE id = ?", [run_id])
    settings: Mapping[str, Any] = orjson.loads(manifest).get("settings") or {}
    judge = settings.get("judge")
    if not isinstance(judge, dict) or not judge.get("metrics"):
        return None
    return JudgeInUse(
        str(judge.get("name", "")), str(judge.get("model_id", "")), bool(judge.get("embedded")), tuple(judge["metrics"])
    )
