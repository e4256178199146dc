"""Gate settings: how much worse the bots of a suite may become, and what they are held against."""

from collections.abc import Iterable, Mapping
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ...reports.gating.gate_rule import MARGIN, MISSING, GateRule

Margin = Annotated[float, Field(gt=0, allow_inf_nan=False)]


def _in_a_list(given: object) -> object:
    return [given] if isinstance(given, str) else given


_Names = Annotated[tuple[str, ...], BeforeValidator(_in_a_list, json_schema_input_type=str | tuple[str, ...])]


class GateSettings(BaseModel):
    """When a change of a bot is let pass."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    margins: dict[str, Margin] = Field(
        default_factory=dict,
        description="How much worse the mean of a metric may become, by metric and in its units. Only these are gated; "
        "left out, all metrics from 0 to 1 with a direction are.",
    )
    margin: Margin = Field(MARGIN, description="The margin of every metric where `margins` names none.")
    missing: float = Field(
        MISSING, ge=0, le=1, description="Share of the questions of a metric that may lose their value."
    )
    latency: float | None = Field(
        None,
        gt=1,
        allow_inf_nan=False,
        description="How many times as long the median answer may take; left out, latency decides nothing.",
    )
    baseline: str | None = Field(
        None,
        min_length=1,
        description="What `proctor gate` compares with: a file that `proctor baseline` wrote, relative to this one, or "
        "a run, `previous` or another bot.",
    )
    bots: _Names = Field((), description="The bots that are gated; left out, all that both sides have.")

    def rule(
        self, thresholds: Iterable[str] = (), margins: Mapping[str, float] | None = None, flips: int = 3, seed: int = 0
    ) -> GateRule:
        """The rule; ``thresholds`` are the metrics whose thresholds the suite names, ``margins`` go before its own."""
        return GateRule(
            margins={**self.margins, **(margins or {})}, margin=self.margin, missing=self.missing,
            latency=self.latency, thresholds=frozenset(thresholds), flips=flips, seed=seed,
        )  # fmt: skip
