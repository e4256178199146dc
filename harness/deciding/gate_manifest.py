"""Gate of a manifest: the gate settings of the suite as it was when a run was held."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from ..suite.gate_settings import GateSettings


def gate_of_manifest(manifest: Mapping[str, object]) -> tuple[GateSettings, tuple[str, ...], tuple[str, ...]]:
    """The settings, the metrics whose thresholds the suite names, and sentences about what could not be read."""
    suite = _inner(_inner(manifest, "settings"), "suite")
    thresholds = tuple(map(str, _inner(suite, "thresholds")))
    try:
        return GateSettings.model_validate(_inner(suite, "gate")), thresholds, ()
    except ValidationError:  # of a Proctor that knew no gate, and took anything
        note = "the gate settings in the run's manifest can't be read by this version; the defaults hold"
        return GateSettings(), thresholds, (note,)


def _inner(mapping: Mapping[str, object], key: str) -> Mapping[str, object]:
    inner = mapping.get(key)
    return inner if isinstance(inner, Mapping) else {}
