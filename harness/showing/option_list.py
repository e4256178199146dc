"""Option list: what a suite may set of a metric and of the shared work under it, with defaults and allowed values."""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Literal

from ...metrics.declaring import Wanted
from ...metrics.evaluators import options_of

if TYPE_CHECKING:
    from ...metrics import Catalog

_KINDS: Final[Mapping[object, str]] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    type(None): "null",
}
_SHORT: Final = 55  # characters of an option and its default that an example repeats


@dataclass(frozen=True, slots=True)
class Option:
    """One thing that a suite may set under the name of a metric or evaluator.

    Attributes:
        name: as a suite sets it.
        default: what holds where it is not set.
        allowed: its values in words.
        choices: all its values, where it has only so many.
        owner: the metric or artefact that has it.
        is_of_work: whether that is an artefact: work that metrics share.
        shared_with: other metrics that rest on that work, for which it then holds as well.
    """

    name: str
    default: object
    allowed: str
    choices: tuple[object, ...]
    owner: str
    is_of_work: bool
    shared_with: tuple[str, ...] = ()

    @property
    def as_object(self) -> dict[str, object]:
        """For machines."""
        return {
            "name": self.name,
            "default": self.default,
            "allowed": self.allowed,
            "choices": list(self.choices) or None,
            "owner": self.owner,
            "owner_kind": "artefact" if self.is_of_work else "metric",
            "shared_with": list(self.shared_with),
        }


def options_under(metrics: Iterable[str], catalog: Catalog) -> list[Option]:
    """The options of some metrics and of all the work under them; each once for everyone who has it."""
    asked = list(metrics)
    owned = [(owner, name) for name, owners in options_of(asked, catalog).items() for owner in owners]
    owned.sort(key=lambda pair: (pair[0] not in asked, pair))
    return [_option(name, owner, asked, catalog) for owner, name in owned]


def resting_on(artefact: str, catalog: Catalog) -> list[str]:
    """The metrics that rest on some shared work: directly, through other work, or with one of their options."""
    return [metric for metric in catalog.metrics if artefact in _below(metric, catalog)]


def _below(metric: str, catalog: Catalog) -> set[str]:
    asked = catalog.metrics[metric]
    waiting = [need.name for need in asked.parameters]
    waiting += [name for swaps in asked.declaration.swaps.values() for name in swaps.values()]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in catalog.artefacts and name not in seen:
            seen.add(name)
            waiting += [need.name for need in catalog.artefacts[name].parameters]
    return seen


def _option(name: str, owner: str, asked: Sequence[str], catalog: Catalog) -> Option:
    entry = catalog.metrics.get(owner) or catalog.artefacts[owner]
    default = entry.options[name]
    kind = _annotation(entry.function, name) or type(default)
    is_of_work = owner not in catalog.metrics
    others = [each for each in resting_on(owner, catalog) if each not in asked] if is_of_work else []
    return Option(
        name, default, allowed(kind), _choices(kind), owner, is_of_work, () if owner in asked else tuple(others)
    )  # fmt: skip


def _annotation(function: Callable[..., object], name: str) -> object:
    try:
        return typing.get_type_hints(function, include_extras=True).get(name)
    except (NameError, TypeError, AttributeError):  # an annotation may name what only a type checker imports
        return None


def allowed(kind: object) -> str:
    """The values of an annotation, in words.

    >>> allowed(Literal["pca", "max"]), allowed(tuple[float, float]), allowed(str | None)
    ('pca or max', '2 numbers', 'a text or null')
    """
    origin, members = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        rules = [rule.words for rule in members[1:] if isinstance(rule, Wanted)]
        return rules[0] if rules else allowed(members[0])
    if origin is Literal:
        return _or([as_yaml(value) for value in members])
    if origin in (types.UnionType, typing.Union):
        return _or([allowed(member) for member in members])
    if origin in (Sequence, Collection):
        return allowed(tuple[members[0], ...])  # type: ignore[valid-type] # an annotation made at run time
    if origin is tuple:
        same = {member for member in members if member is not Ellipsis}
        plural = allowed(members[0]).removeprefix("a ") + "s" if len(same) == 1 else "values"
        return f"a list of {plural}" if Ellipsis in members else f"{len(members)} {plural}"
    return _KINDS.get(kind, "a list" if kind is tuple else "a value")


def _choices(kind: object) -> tuple[object, ...]:
    return typing.get_args(kind) if typing.get_origin(kind) is Literal else ()


def _or(words: list[str]) -> str:
    *before, last = words
    return f"{', '.join(before)} or {last}" if before else last


def as_yaml(value: object) -> str:
    """A value as a suite writes it, on one line; a word stands without quotes where YAML reads it as itself.

    >>> as_yaml("pca"), as_yaml(True), as_yaml((0.75, 0.25)), as_yaml("no"), as_yaml(None)
    ('pca', 'true', '[0.75, 0.25]', '"no"', 'null')
    """
    is_word = isinstance(value, str) and value.isidentifier()
    if is_word and str(value).lower() not in ("true", "false", "yes", "no", "on", "off", "null", "y", "n"):
        return str(value)
    return json.dumps(value, ensure_ascii=False)


def entry_lines(id: str, threshold: float | None, options: Iterable[Option]) -> list[str]:
    """An entry of a suite's ``metrics`` that sets what is short enough to be shown to what holds anyway."""
    told = {} if threshold is None else {"metric_threshold": threshold}
    settings = told | {option.name: option.default for option in options}
    lines = [f"{name}: {as_yaml(value)}" for name, value in settings.items()]
    shown = [f"      {line}" for line in lines if len(line) <= _SHORT]
    if not shown:
        return ["metrics:", f"  - {id}"]
    return ["metrics:", f"  - {id}:", *shown]
