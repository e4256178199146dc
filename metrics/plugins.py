"""Installed metrics: metrics of other packages, by the entry points ``proctor.metrics``, loaded on demand."""

from collections.abc import Iterable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Final

from .. import InputError
from .catalog import Catalog, declared_in
from .declaration import Function, declaration_of
from .evaluators import EVALUATORS, GROUPS

GROUP: Final = "proctor.metrics"


def with_installed(catalog: Catalog, names: Iterable[str]) -> Catalog:
    """The catalog; with the metrics of other packages if one of the names is not in it.

    Raises:
        InputError: a package can't be imported, or its entry point is no metric; the message names the package.
    """
    known = {*catalog.metrics, *EVALUATORS, *GROUPS}
    if all(name in known or name.startswith("byop") for name in names):
        return catalog
    return catalog.with_functions(found) if (found := _installed()) else catalog


@cache
def _installed() -> tuple[Function, ...]:
    found: dict[int, Function] = {}  # a module may be named by several entry points
    for each in entry_points(group=GROUP):
        found |= {id(function): function for function in _loaded(each)}
    return tuple(found.values())


def _loaded(entry: EntryPoint) -> list[Function]:
    package = entry.dist.name if entry.dist else entry.module
    message = f"The package {package} declares metrics ({GROUP}: {entry.name} = {entry.value}), and "
    try:
        loaded = entry.load()
    except Exception as error:  # the code of others may raise anything
        raise InputError(f"{message}importing it failed: {type(error).__name__}: {error}") from error
    functions = declared_in(loaded) if isinstance(loaded, ModuleType) else [loaded]
    if not functions or not all(map(declaration_of, functions)):
        raise InputError(f"{message}there is no metric: neither a module with metrics nor a function under '@metric'.")
    return functions
