"""Metric entries: what each line of a suite's ``metrics`` stands for, with its parameters and options."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ... import InputError
from ...metrics.evaluators import missing_from, named, names, options_of
from .mistakes import given

if TYPE_CHECKING:
    from ...metrics.catalog import Catalog
    from ...metrics.evaluators import Evaluator
    from .positions import KeyPath

Entry = str | Mapping[str, Mapping[str, object]]


class EntryError(InputError):
    """A mistake in an entry of ``metrics``; ``path`` leads to it from the top of the suite."""

    def __init__(self, path: KeyPath, says: str) -> None:
        super().__init__(says)
        self.path = path


@dataclass(frozen=True, slots=True)
class Parameters:
    """What every evaluator may be told."""

    metric_threshold: float | None = None
    all_metrics: bool = False
    min_test_cases: int = 0
    save_rows: bool = True


@dataclass(frozen=True, slots=True)
class Wanted:
    """An evaluator that the run is to have.

    Attributes:
        evaluator: as it is known.
        metrics: those of its metrics that are there.
        parameters: what it was told beside its options.
        options: options of its metrics and artefacts, by their name.
        owners: for each option, the metrics and artefacts that have it.
        path: where it stands in the suite.
    """

    evaluator: Evaluator
    metrics: tuple[str, ...]
    parameters: Parameters = field(default_factory=Parameters)
    options: Mapping[str, object] = field(default_factory=dict)
    owners: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    path: KeyPath = ()

    @property
    def primary(self) -> str:
        """The metric that ranks the bots: the evaluator's own, or the first that is there."""
        return self.evaluator.primary if self.evaluator.primary in self.metrics else self.metrics[0]


def read_entries(entries: Iterable[Entry], catalog: Catalog) -> tuple[list[Wanted], list[str]]:
    """The evaluators for which the entries stand, in their order, and warnings about those partly there.

    An evaluator may be named beside a group that has it: what it is told itself goes before what the group is told.

    Raises:
        EntryError: no such metric, evaluator, parameter or option; an evaluator that is not yet there or named
            twice; a value of the wrong kind.
    """
    found: dict[str, Wanted] = {}
    named_by: dict[str, tuple[str, Mapping[str, object]]] = {}  # the entry's name and settings, by evaluator
    warnings: list[str] = []
    for index, entry in enumerate(entries):
        for name, settings in ({entry: {}} if isinstance(entry, str) else entry).items():
            path: KeyPath = ("metrics", index) if isinstance(entry, str) else ("metrics", index, name)
            for wanted in _read(name, settings, path, catalog):
                evaluator = wanted.evaluator.id
                earlier, told = named_by.setdefault(evaluator, (name, settings))
                if evaluator not in found:
                    found[evaluator] = wanted
                    warnings += _partly_there(wanted.evaluator, catalog)
                elif (earlier == evaluator) == (name == evaluator):
                    raise EntryError(path, f"'{evaluator}' is named twice; once is enough.")
                else:
                    both = {**settings, **told} if earlier == evaluator else {**told, **settings}
                    own = found[evaluator].path if earlier == evaluator else path
                    (found[evaluator],) = _read(evaluator, both, own, catalog)
                    named_by[evaluator] = (evaluator, both)
    return list(found.values()), warnings


def names_of(entries: object) -> list[str]:
    """The names that entries hold; what is no entry is passed over."""
    found: list[str] = []
    for entry in entries if isinstance(entries, (list, tuple)) else ():
        found += [entry] if isinstance(entry, str) else map(str, entry) if isinstance(entry, Mapping) else []
    return found


def unknown_names(entries: object, catalog: Catalog) -> Iterator[EntryError]:
    """A mistake for each entry that names no metric or evaluator; what is no entry at all is passed over."""
    for index, entry in enumerate(entries if isinstance(entries, (list, tuple)) else ()):
        paths: dict[object, KeyPath] = {}
        if isinstance(entry, str):
            paths[entry] = ("metrics", index)
        elif isinstance(entry, Mapping):
            paths |= {name: ("metrics", index, name) for name in entry}
        for name, path in paths.items():
            try:
                named(str(name), catalog)
            except InputError as error:
                yield EntryError(path, str(error))


def _partly_there(evaluator: Evaluator, catalog: Catalog) -> list[str]:
    missing = missing_from(evaluator, catalog)
    return [f"Of '{evaluator.id}', these are not yet there: {', '.join(missing)}."] if missing else []


def _read(name: str, settings: Mapping[str, object], path: KeyPath, catalog: Catalog) -> Iterable[Wanted]:
    try:
        evaluators = named(name, catalog)
    except InputError as error:
        raise EntryError(path, str(error)) from error
    for evaluator in evaluators:
        metrics = evaluator.there(catalog) or evaluator.metrics
        owners = options_of(metrics, catalog)
        options = {key: value for key, value in settings.items() if key not in Parameters.__annotations__}
        for key in options:
            if key not in owners:
                raise EntryError((*path, key), _no_option(name, key, owners))
        told = {key: _fitting(name, key, settings[key], path) for key in Parameters.__annotations__ if key in settings}
        wanted = Wanted(evaluator, metrics, Parameters(**told), options, owners, path)
        _check_values(wanted, catalog)
        yield wanted


def _check_values(wanted: Wanted, catalog: Catalog) -> None:
    """Try each value by itself, so that the message can say where the one stands that is refused."""
    threshold = wanted.parameters.metric_threshold
    if threshold is not None and (outside := outside_range(wanted.primary, threshold, catalog)):
        raise EntryError((*wanted.path, "metric_threshold"), outside)
    for key, value in wanted.options.items():
        try:
            catalog.plan(wanted.metrics, options={owner: {key: value} for owner in wanted.owners[key]})
        except InputError as error:
            raise EntryError((*wanted.path, key), str(error)) from error


def outside_range(metric: str, threshold: float, catalog: Catalog) -> str | None:
    """A sentence when a threshold is no value that the metric can have: every row would pass, or none."""
    low, high = catalog.metric(metric).low, catalog.metric(metric).high
    if (low is None or threshold >= low) and (high is None or threshold <= high):
        return None
    ends = " ".join(f"{word} {end:g}" for word, end in (("from", low), ("to", high)) if end is not None)
    return f"The threshold {threshold:g} is outside the range of '{metric}'; a number {ends} is wanted."


def _no_option(name: str, key: str, owners: Iterable[str]) -> str:
    known = [*sorted(owners), *Parameters.__annotations__]
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    hint = f"; did you mean '{near[0]}'?" if near else "."
    return f"'{name}' has no option '{key}'{hint} It has {', '.join(known)}."


def _fitting(name: str, key: str, value: object, path: KeyPath) -> Any:  # noqa: ANN401 - one of three kinds
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    match key:
        case "metric_threshold" if is_number and math.isfinite(float(str(value))):
            return float(str(value))
        case "min_test_cases" if isinstance(value, int) and is_number and value >= 0:
            return value
        case "all_metrics" | "save_rows" if isinstance(value, bool):
            return value
    wanted = {"metric_threshold": "a number", "min_test_cases": "a whole number of at least 0"}
    said = f"{key} of '{name}' is {given((), value)}; {wanted.get(key, 'true or false')} is wanted."
    raise EntryError((*path, key), said)


def settled_options(entries: Sequence[Wanted]) -> dict[str, dict[str, object]]:
    """The options of all entries by their owners: metrics and artefacts.

    An option of work that entries share holds for each of them, also where one alone is told it.

    Raises:
        EntryError: two entries give an option of one owner different values.
    """
    settled: dict[str, dict[str, object]] = {}
    for wanted in entries:
        for option, value in wanted.options.items():
            for owner in wanted.owners[option]:
                before = settled.setdefault(owner, {}).setdefault(option, value)
                if before != value:
                    said = f"'{wanted.evaluator.id}' and another entry share the option '{option}'"
                    raise EntryError(
                        (*wanted.path, option), f"{said}, and give it {given((), value)} and {given((), before)}."
                    )
    for wanted in entries:
        for option, owners in wanted.owners.items():
            shared = next((settled[owner][option] for owner in owners if option in settled.get(owner, {})), None)
            if shared is not None:
                for owner in owners:
                    settled.setdefault(owner, {}).setdefault(option, shared)
    return settled


def with_options(entries: Sequence[Entry], told: Iterable[str], catalog: Catalog) -> list[Entry]:
    """The entries with the options that the command line gives: ``NAME.KEY=VALUE``, read as JSON or else as text.

    A name is that of an entry, or of an evaluator or a metric for which an entry stands.

    Raises:
        InputError: it is not written so, the name is not among the metrics of the run, it has no such option, or the
            option takes no such value.
    """
    settled: list[Entry] = list(entries)
    given_before: set[tuple[str, str]] = set()
    for option in told:
        name, key, value = _taken_apart(option)
        if (name, key) in given_before:
            raise InputError(f"--option gives {name}.{key} twice; once is enough.")
        given_before.add((name, key))
        found = _entry_of(name, settled, catalog)
        if found is None:
            raise InputError(f"--option {option}: {_not_in_run(name, settled, catalog)}")
        place, own = found
        entry = settled[place] if place < len(settled) else own
        before = {entry: {}} if isinstance(entry, str) else dict(entry)
        changed: Entry = {**before, own: {**before[own], key: value}}
        try:
            read_entries([changed], catalog)
        except EntryError as error:
            raise InputError(f"--option {option}: {error}") from None
        settled[place : place + 1] = [changed]
    return settled


def _taken_apart(option: str) -> tuple[str, str, object]:
    """Name, key and value of ``NAME.KEY=VALUE``; names of metrics may have dots, keys have none."""
    left, equals, text = (part.strip() for part in option.partition("="))
    name, dot, key = left.rpartition(".")
    if not (equals and dot and name and key):
        raise InputError(f"--option wants METRIC.KEY=VALUE, such as answer_similarity.method=cosine; got {option!r}.")
    try:
        value = json.loads(text)
    except ValueError:
        value = {"True": True, "False": False}.get(text, text)
    return name, key, value


def _entry_of(name: str, entries: Sequence[Entry], catalog: Catalog) -> tuple[int, str] | None:
    """Which entry is meant by a name, and by what name it goes there.

    It is the one of that name, else the first that stands for that evaluator or metric. A member of a group gets an
    entry of its own behind the others.
    """
    own_names = [[entry] if isinstance(entry, str) else list(entry) for entry in entries]
    for place, own in enumerate(own_names):
        if name in own:
            return place, name
    for place, entry in ((place, entry) for place, own in enumerate(own_names) for entry in own):
        evaluators = named(entry, catalog)
        for evaluator in evaluators:
            if name == evaluator.id or name in evaluator.metrics:
                return (place, entry) if len(evaluators) == 1 else (len(entries), evaluator.id)
    return None


def _not_in_run(name: str, entries: Sequence[Entry], catalog: Catalog) -> str:
    known = [own for entry in entries for own in ([entry] if isinstance(entry, str) else entry)]
    metrics = [metric for own in known for each in named(own, catalog) for metric in each.metrics]
    try:
        named(name, catalog)
    except InputError:
        close = difflib.get_close_matches(name, [*known, *metrics], n=1) or difflib.get_close_matches(
            name, names(catalog), n=1
        )
        return f"there is no metric or evaluator {name!r}{f'; did you mean {close[0]!r}?' if close else '.'}"
    return f"{name!r} is not among the metrics of the run, which are {', '.join(known)}; add it under --metrics."
