"""Gate settings: how much worse the bots of a suite may become, and what they are held against."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ...reports.gating.gate_rule import CONFIRM, MARGIN, MISSING, GateRule, Scope

Margin = Annotated[float, Field(gt=0, allow_inf_nan=False)]


def _in_a_list(given: object) -> object:
    return [given] if isinstance(given, str) else given


_Names = Annotated[tuple[str, ...], BeforeValidator(_in_a_list, json_schema_input_type=str | tuple[str, ...])]


class GateSettings(BaseModel):
    """When a change of a bot is let pass."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    margins: dict[str, Margin] = Field(
        default_factory=dict,
        description="How much worse the mean of a metric may become, by metric and in its units. These are gated, and "
        "those of `metrics`.",
    )
    metrics: _Names = Field(
        (),
        description="What is gated: metrics by id, or `all` for every metric from 0 to 1 with a direction; left out, "
        "those of `margins`, else the primary metric alone.",
    )
    scope: Scope = Field(
        "these",
        description="Whether the bots are worse on `these` questions, where nothing but the noise of bot and judge "
        "misleads, or on questions `like_these`, of which these are a sample. Both are printed; this one decides.",
    )
    confirm: int = Field(
        CONFIRM,
        ge=0,
        description="How often a question whose value changed is asked again at most, on each side, to tell a change "
        "from noise; 0 asks nothing again.",
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
            latency=self.latency, thresholds=frozenset(thresholds), flips=flips, seed=seed, metrics=self.metrics,
            scope=self.scope, confirm=self.confirm,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class KeptGate:
    """What the manifest of a run says of its gate.

    Attributes:
        settings: of the suite as it was when the run was held.
        thresholds: the metrics whose thresholds it names.
        seed: of the suite.
        notes: sentences about what could not be read.
    """

    settings: GateSettings
    thresholds: tuple[str, ...] = ()
    seed: int = 0
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, manifest: Mapping[str, object]) -> Self:
        """Read a manifest; what it lacks has the default."""
        of_run = _inner(manifest, "settings")
        suite, seed = _inner(of_run, "suite"), of_run.get("seed")
        try:
            settings, notes = GateSettings.model_validate(_inner(suite, "gate")), []
        except ValidationError:  # of a Proctor that knew no gate, and took anything
            notes = ["the gate settings in the run's manifest can't be read by this version; the defaults hold"]
            settings = GateSettings()
        thresholds = tuple(map(str, _inner(suite, "thresholds")))
        return cls(settings, thresholds, seed if isinstance(seed, int) else 0, tuple(notes))

    def rule(self, margins: Mapping[str, float], flips: int) -> GateRule:
        """The rule by which the run is judged, the same as when it was held."""
        return self.settings.rule(self.thresholds, margins, flips, self.seed)


def _inner(mapping: Mapping[str, object], key: str) -> Mapping[str, object]:
    inner = mapping.get(key)
    return inner if isinstance(inner, Mapping) else {}
