"""Other versions: why a metric of one run is not the same metric in another, as far as the manifests tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..manifest_parts import mapping_in
from ..summary import MetricColumn

Manifests = tuple[Mapping[str, object], Mapping[str, object]]


def why_versions_differ(metric: str, base: MetricColumn, head: MetricColumn, manifests: Manifests | None) -> str:
    """A sentence that says in what the metric differs between two runs.

    Args:
        metric: its name.
        base: its column on the base's side.
        head: its column on the head's side.
        manifests: of base and head; None where they are not known.
    """
    if base.version == head.version:
        return "It is read another way on the two sides: other direction, or another mean over the rows."
    reasons = list(_reasons(metric, manifests)) if manifests is not None else []
    if not reasons:
        return "It was worked out by another version of the metric: its code, prompt or settings changed in between."
    return f"It was worked out in another way: {'; '.join(reasons)}."


def _reasons(metric: str, manifests: Manifests) -> Iterator[str]:
    base, head = (mapping_in(manifest.get("settings")) for manifest in manifests)
    options = [_options(metric, settings) for settings in (base, head)]
    if options[0] != options[1]:
        yield f"its options were {_shown(options[0])}, now {_shown(options[1])}"
    judges = [mapping_in(settings.get("judge")) for settings in (base, head)]
    if any(is_judged(metric, judge) for judge in judges):
        yield from _judges(*judges)
    else:
        for what, name in (("embedder was", "embedder"), ("local models were", "local_models")):
            if base.get(name) != head.get(name):
                yield f"the {what} {_shown(base.get(name))}, now {_shown(head.get(name))}"
    versions = [manifest.get("proctor") for manifest in manifests]
    if versions[0] != versions[1]:
        yield f"Proctor was {_shown(versions[0])}, now {_shown(versions[1])}"


def _judges(base: Mapping[str, object], head: Mapping[str, object]) -> Iterator[str]:
    if base.get("model_id") != head.get("model_id"):
        yield f"the judge was {_shown(base.get('model_id'))}, now {_shown(head.get('model_id'))}"
    elif base.get("requests_hash") != head.get("requests_hash"):
        yield "the judge is put other requests (its prompts or settings changed)"


def is_judged(metric: str, judge: Mapping[str, object]) -> bool:
    """Whether a metric rests on the word of a judge; ``judge`` as the manifest names it."""
    judged = judge.get("metrics")
    families = [str(name) for name in judged] if isinstance(judged, list) else []
    return any(metric == family or metric.startswith(f"{family}.") for family in families)


def _options(metric: str, settings: Mapping[str, object]) -> object:
    """What the suite says of the metric beyond its name; None where it says nothing."""
    listed = mapping_in(settings.get("suite")).get("metrics")
    for entry in listed if isinstance(listed, list) else []:
        for name, options in entry.items() if isinstance(entry, Mapping) else []:
            if metric == name or metric.startswith(f"{name}."):
                return options
    return None


def _shown(value: object) -> str:
    return "none" if value in (None, {}, "") else str(value)
