"""Model list: the local models by role, what wants them, and whether they are here; as text, table or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from ...knowledge.local_models.roles import ROLES, Role
from ...metrics.evaluators import EVALUATORS
from ...reports.leaderboard import printable
from .streams import write_json

if TYPE_CHECKING:
    from ...metrics import Catalog
    from ..engine.local_models import ListedModel

WIDTH = 80


def show_models(listed: Iterable[ListedModel], stdout: TextIO, as_json: bool, of_suite: bool) -> None:
    """Print the models, and how those that are not here are fetched."""
    models = list(listed)
    if as_json:
        write_json({"models": [model_object(model) for model in models]}, stdout)
        return
    console = Console(highlight=False, file=stdout)
    width = console.width if console.is_terminal else WIDTH
    for model in models:
        heading = Text(model.role, style="bold").append(f"  {printable(model.model_id)}", style="not bold")
        heading.overflow = "fold"
        console.print(heading, width=width)
        for line, style in _facts(model):
            console.print(Padding(Text(line, style=style, overflow="fold"), (0, 0, 0, 4), expand=False), width=width)
    if not models:
        console.print("No metric of the suite wants a local model.", markup=False)
    elif any(not model.is_here and not model.trouble for model in models):
        roles = "--suite SUITE.yaml" if of_suite else "ROLE ..."
        console.print(f"\nTo fetch what is not here, once, online: proctor models fetch {roles}", markup=False)


def _facts(model: ListedModel) -> Iterator[tuple[str, str]]:
    size = "size not known" if model.megabytes is None else f"{model.megabytes:,} MB"
    licence = f"; licence {model.licence}" if model.licence else ""
    if model.is_served:
        yield "a server runs it", "green"
    elif model.is_here:
        yield f"here: {size}{licence}", "green"
    elif model.trouble:
        yield printable(model.trouble), "red"
    else:
        yield f"not here: {size}{licence}", "yellow"
    if model.metrics:
        yield f"for {', '.join(model.metrics)}", "dim"


def model_object(model: ListedModel) -> dict[str, object]:
    """All that is known of a model, JSON-able."""
    return {
        "role": model.role,
        "kind": ROLES[model.role].kind,
        "model": model.model_id,
        "needed_by": list(model.metrics),
        "megabytes": model.megabytes,
        "licence": model.licence or None,
        "here": model.is_here,
        "folder": None if model.folder is None else str(model.folder),
        "server": model.is_served,
        "trouble": model.trouble or None,
    }


def models_table(catalog: Catalog) -> str:
    """The table of the README: the role's defaults, wherever they are."""
    wanting = wanted_by(catalog)
    lines = ["| role | model | for | download | licence |", "|---|---|---|---|---|"]
    for role in ROLES.values():
        metrics = ", ".join(_as_code(name) for name in wanting[role.name])
        lines.append(f"| `{role.name}` | {_named(role)} | {metrics} | {role.megabytes:,} MB | {role.licence} |")
    return "\n".join(lines) + "\n"


def _named(role: Role) -> str:
    revision = f" at `{role.revision[:12]}`" if role.revision else ""
    return f"`{role.model}`{revision}"


def _as_code(name: str) -> str:
    metric, _, option = name.partition(" with ")
    return f"`{metric}` with `{option}`" if option else f"`{metric}`"


def wanted_by(catalog: Catalog) -> Mapping[str, tuple[str, ...]]:
    """By role the metrics that want it; an evaluator stands for its metrics where all of them do."""
    return {role.name: tuple(_wanting(role, catalog)) for role in ROLES.values()}


def _wanting(role: Role, catalog: Catalog) -> Iterator[str]:
    metrics = [metric.id for metric in catalog.metrics.values() if role.tool in metric.needs]
    for evaluator in EVALUATORS.values():
        there = evaluator.there(catalog)
        if len(there) > 1 and set(there) <= set(metrics):
            yield evaluator.id
            metrics = [metric for metric in metrics if metric not in there]
    yield from metrics
    for metric in catalog.metrics.values():
        for option, value in metric.declaration.swaps:
            if role.tool in catalog.plan([metric.id], options={metric.id: {option: value}}).needs:
                yield f"{metric.id} with {option}: {value}"
