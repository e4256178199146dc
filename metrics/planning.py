"""Planning: from chosen metrics and options to a plan, with the version of every score."""

import hashlib
import json
import typing
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from .. import InputError
from .bench import Step
from .declaring import Function, Need
from .entries import Artefact, Metric
from .facts import TOOLS
from .messages import nearest
from .plan import Plan
from .planned import PlannedMetric, Prepared
from .versions import code_version

EmptyContexts: TypeAlias = Literal["not_applicable", "zero"]
_EMPTY_CONTEXTS: Final = ("not_applicable", "zero")


def make_plan(
    metrics: Sequence[Metric],
    artefacts: Mapping[str, Artefact],
    options: Mapping[str, Mapping[str, object]],
    empty_contexts: EmptyContexts,
    models: Mapping[str, str],
) -> Plan:
    """Prepare metrics; ``Catalog.plan`` says what the arguments mean."""
    if empty_contexts not in _EMPTY_CONTEXTS:
        wanted = " or ".join(repr(choice) for choice in _EMPTY_CONTEXTS)
        raise InputError(f"empty_contexts is {empty_contexts!r}; {wanted} is wanted.")
    planner = _Planner(artefacts, options, empty_contexts == "zero", models)
    by_row = {metric.id: planner.prepared(metric) for metric in metrics if metric.level == "row"}
    versions = {id: prepared.metric.version for id, prepared in by_row.items()}
    return Plan([by_row.get(metric.id) or planner.prepared(metric, versions) for metric in metrics])


class _Planner:
    """What is worked out once and shared by the metrics of a plan: steps and versions of artefacts."""

    def __init__(
        self,
        artefacts: Mapping[str, Artefact],
        options: Mapping[str, Mapping[str, object]],
        zero_on_empty: bool,
        models: Mapping[str, str],
    ) -> None:
        self._artefacts = artefacts
        self._options = options
        self._zero_on_empty = zero_on_empty
        self._models = models
        self._steps: dict[str, Step] = {}

    def prepared(self, metric: Metric, versions: Mapping[str, str] = MappingProxyType({})) -> Prepared:
        """A metric with all that scoring it takes; ``versions`` are those of the row metrics that it may add up."""
        said = metric.declaration
        options = _settled(metric, self._options.get(metric.id, {}))
        below = tuple(self._below(metric.parameters)) if said.level == "row" else ()
        known = {*metric.needs, *metric.optional}
        zero_on_empty = said.zero_on_empty_contexts and self._zero_on_empty
        models = {tool: self._models.get(tool, "") for tool in TOOLS & known}
        rules = {"blank_answer": said.blank_answer, "zero_on_empty": zero_on_empty, "models": models}
        added = {"adds_up": [versions[id] for id in said.adds_up]} if said.adds_up else {}
        planned = PlannedMetric(
            id=metric.id,
            version=_version(metric, below, options, {**rules, **added}),
            summary=metric.summary,
            source=metric.source,
            threshold=metric.threshold,
            better=metric.better,
            low=metric.low,
            high=metric.high,
            level=metric.level,
            needs=metric.needs,
            optional=metric.optional,
            options=options,
            aggregate=said.aggregate,
        )
        return Prepared(
            metric=planned,
            step=_step(metric, options, below, "expected" in known),
            below=below,
            facts=metric.needs,
            needs_answer="answer" in metric.needs,
            blank_answer=said.blank_answer,
            zero_on_empty=zero_on_empty,
        )

    def _below(self, parameters: Sequence[Need]) -> list[Step]:
        """The artefacts under some needs, each once, what is needed before what needs it."""
        found: dict[str, Step] = {}
        for need in parameters:
            if need.name in self._artefacts:
                artefact = self._artefacts[need.name]
                below = self._below(artefact.parameters)
                found |= {step.name: step for step in below}
                found.setdefault(need.name, self._artefact_step(artefact, below))
        return list(found.values())

    def _artefact_step(self, artefact: Artefact, below: Sequence[Step]) -> Step:
        if artefact.id not in self._steps:
            options = _settled(artefact, self._options.get(artefact.id, {}))
            on_expected = any(need.name == "expected" for need in artefact.parameters)
            self._steps[artefact.id] = _step(
                artefact, options, below, on_expected or any(step.on_expected for step in below)
            )
        return self._steps[artefact.id]


def _step(entry: Metric | Artefact, options: Mapping[str, object], below: Sequence[Step], on_expected: bool) -> Step:
    is_async = isinstance(entry, Artefact) and entry.is_async
    return Step(
        name=entry.id,
        function=entry.function,
        names=tuple(need.name for need in entry.parameters),
        defaults={need.name: need.default for need in entry.parameters if not need.required},
        options=options,
        is_async=is_async,
        waits=is_async or any(step.waits for step in below),
        on_expected=on_expected,
    )


def _version(metric: Metric, below: Sequence[Step], options: Mapping[str, object], rules: Mapping[str, object]) -> str:
    """Hash of all that makes a score: code, options, rules and models of the metric and its artefacts."""
    made_by = [[step.name, code_version(step.function), dict(step.options)] for step in below]
    whole = [metric.id, code_version(metric.function), dict(options), sorted(made_by, key=str), dict(rules)]
    text = json.dumps(whole, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _settled(owner: Metric | Artefact, given: Mapping[str, object]) -> Mapping[str, object]:
    """The owner's defaults with the given values in their place; lists become tuples."""
    defaults = owner.options
    settled = dict(defaults)
    hints = _hints(owner.function) if given else {}
    for name, value in given.items():
        if name not in defaults:
            known = f" It has {', '.join(sorted(defaults))}." if defaults else " It has none."
            raise InputError(f"'{owner.id}' has no option '{name}'{nearest(name, defaults)}{known}")
        choices = typing.get_args(hints.get(name)) if typing.get_origin(hints.get(name)) is Literal else ()
        if choices and value not in choices:
            wanted = ", ".join(map(repr, choices))
            raise InputError(f"The option {owner.id}.{name} is {value!r}; one of {wanted} is wanted.")
        settled[name] = _fitting(f"{owner.id}.{name}", value, defaults[name])
    return MappingProxyType(settled)


def _hints(function: Function) -> Mapping[str, object]:
    try:
        return typing.get_type_hints(function)
    except (NameError, TypeError, AttributeError):  # a user's annotation may name what only a type checker imports
        return {}


def _fitting(option: str, value: object, default: object) -> object:
    """The value in the kind of its default. Raises InputError when it is of another kind."""
    if isinstance(default, tuple) and isinstance(value, (list, tuple)):
        return tuple(_fitting(option, item, default[0]) for item in value) if default else tuple(value)
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if default is None or type(value) is type(default):
        return value
    wanted = "a list" if isinstance(default, tuple) else f"a value like {default!r}"
    raise InputError(f"The option {option} is {value!r}; {wanted} is wanted.")
