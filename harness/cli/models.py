"""``models`` and ``models fetch``: the local models that metrics run on this machine."""

from __future__ import annotations

import os
import re
import shlex
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TextIO

import typer
from rich.console import Console
from rich.text import Text

from ... import InputError
from ...knowledge import ROLES, Role
from ...metrics.declaration import facts_of
from ...metrics.evaluators import EVALUATORS, RATES
from ...reports import Table, columns, csv, printable
from .conventions import DONE, UNABLE, Csv, Json, LocalModel, complain, interruptible, say, write_bytes, write_json

if TYPE_CHECKING:
    from ...knowledge import ListedModel
    from ...metrics import Catalog
    from ..run import RunModels


WIDTH: Final = 80
_COMMIT: Final = re.compile(r"@[\w.-]+")
_FAMILY: Final = 4  # so many names of one kind are named as one
_SIDE: Final = {"role": 13, "size": 8, "licence": 10, "here": 6}  # widths of the columns beside the model's
_GAP: Final = 2


def show_models(listed: Iterable[ListedModel], stdout: TextIO, fetched_by: str) -> None:
    """Print the models as a table, and the command that fetches those that are not here."""
    models = list(listed)
    console = Console(emoji=False, highlight=False, file=stdout, soft_wrap=True)
    if not models:
        console.print("No metric of the suite needs a local model.", markup=False)
        return
    width = console.width if console.is_terminal else WIDTH
    room = max(12, width - sum(_SIDE.values()) - _GAP * len(_SIDE))
    names = _shortened(models, room)
    room = min(room, max(map(len, names)))
    console.print(_line("role", "model", "size", "licence", "here", room), style="bold")
    for model, name in zip(models, names, strict=True):
        _show(console, model, name, room, width)
    missing = [model for model in models if not model.is_here and not model.trouble]
    if missing:
        count = "1 model is" if len(missing) == 1 else f"{len(missing)} models are"
        size = sum(model.megabytes or 0 for model in missing)
        about = f", about {size:,} MB" if size and all(model.megabytes for model in missing) else ""
        console.print(f"\n{count} not downloaded{about}. To download them:\n  {fetched_by}", markup=False)


def _show(console: Console, model: ListedModel, name: str, room: int, width: int) -> None:
    size = "" if model.megabytes is None else f"{model.megabytes:,} MB"
    licence = printable(model.licence) or ("" if model.is_served else "not known")
    here = "server" if model.is_served else "yes" if model.is_here else "no"
    style = "green" if model.is_here else "red" if model.trouble else "yellow"
    row = Text(_line(model.role.name, name, size, licence, here, room))
    row.stylize("bold", 0, len(model.role.name))
    row.stylize(style, len(row) - len(here))
    console.print(row)
    notes = [(f"for {', '.join(folded(model.metrics))}", "dim")] if model.metrics else []
    for sentence, style in [*notes, *([(printable(model.trouble), "red")] if model.trouble else [])]:
        console.print(Text(textwrap.fill(sentence, width, initial_indent="  ", subsequent_indent="  "), style=style))


def _line(role: str, model: str, size: str, licence: str, here: str, room: int) -> str:
    cells = (
        f"{role:<{_SIDE['role']}}",
        f"{model:<{room}}",
        f"{size:>{_SIDE['size']}}",
        f"{_cut(licence, _SIDE['licence']):<{_SIDE['licence']}}",
        here,
    )
    return (" " * _GAP).join(cells)


def _shortened(models: Sequence[ListedModel], room: int) -> list[str]:
    """Names of models for a column: all with revisions and addresses where that fits, else without."""
    whole = [printable(model.model_id) for model in models]
    if max(map(len, whole)) <= room:
        return whole
    return [_short(name, room, model.is_served) for model, name in zip(models, whole, strict=True)]


def _short(name: str, room: int, is_served: bool) -> str:
    """Without its revision, then without its owner; that of a server without its address."""
    plain = name.partition(" at ")[0] if is_served else _COMMIT.sub("", name)
    if len(plain) > room and not is_served:
        plain = plain.partition("/")[2] or plain
    return _cut(plain, room)


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 1]}…"


def folded(metrics: Iterable[str]) -> list[str]:
    """Names of metrics with the rates of an evaluator, evaluators that are whole, and large families as one each.

    >>> folded(["exact_match", "bleu_1", "bleu_2", "bleu_3", "bleu_4", "byop.tone.passes", "byop.tone.failures"])
    ['exact_match', 'bleu_orders (4 metrics)', 'byop.tone']
    """
    names = list(dict.fromkeys(_without_rate(name) for name in metrics))
    words = Counter(name.partition("_")[0] for name in names if "_" in name)
    shown: dict[str, None] = {}
    for name in names:
        whole = next((each for each in EVALUATORS.values() if _is_whole(each.metrics, name, names)), None)
        word = name.partition("_")[0]
        if words[word] > _FAMILY:
            shown[f"{words[word]} {word}_*"] = None
        else:
            shown[f"{whole.id} ({len(whole.metrics)} metrics)" if whole else name] = None
    return list(shown)


def _is_whole(metrics: Sequence[str], name: str, names: Sequence[str]) -> bool:
    return len(metrics) >= _FAMILY and name in metrics and set(metrics) <= set(names)


def _without_rate(name: str) -> str:
    family, _, rate = name.rpartition(".")
    return family if rate in RATES else name


def _table(listed: Iterable[ListedModel]) -> Table:
    """The models, for programs."""
    made = [model.as_object for model in listed]
    rows = [[", ".join(value) if isinstance(value, list) else str(value) for value in each.values()] for each in made]
    return Table(columns(*(made[0] if made else ())), rows)


def models_table(catalog: Catalog) -> str:
    """The table of the README: the role's default models, wherever they are."""
    wanting = wanted_by(catalog)
    lines = ["| role | model | for | download | licence |", "|---|---|---|---|---|"]
    for role in ROLES.values():
        metrics = ", ".join(_as_code(name) for name in folded(wanting[role.name]))
        lines.append(f"| `{role.name}` | {_named(role)} | {metrics} | {role.megabytes:,} MB | {role.licence} |")
    return "\n".join(lines) + "\n"


def _named(role: Role) -> str:
    revision = f" at `{role.revision[:12]}`" if role.revision else ""
    return f"`{role.model}`{revision}"


def _as_code(name: str) -> str:
    """The part of a folded name that is a name as code."""
    return re.sub(r"^(\d+ )?([\w.*]+)", r"\1`\2`", name)


def wanted_by(catalog: Catalog) -> Mapping[str, tuple[str, ...]]:
    """By role the metrics that need it, those that do with some option, and the bots."""
    return {role.name: tuple(_wanting(role, catalog)) for role in ROLES.values()}


def _wanting(role: Role, catalog: Catalog) -> Iterator[str]:
    if role.kind == "reranker":
        yield "rag bots with a reranker"
    for metric in catalog.metrics.values():
        if role.tool in {*metric.needs, *metric.optional}:
            yield metric.id
    for metric in catalog.metrics.values():
        for (option, value), swapped in metric.declaration.swaps.items():
            needed = (facts_of(catalog.artefacts[name].parameters, catalog.artefacts) for name in swapped.values())
            if any(role.tool in required | optional for required, optional in needed):
                yield f"{metric.id} ({option}: {value})"


models = typer.Typer(
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
    help="List the local models of metrics. Which metrics need them, their size and licence, and whether they are "
    "downloaded. Nothing is loaded, and no network is used.",
)
Suite = Annotated[
    Path | None,
    typer.Option("--suite", metavar="SUITE.yaml", help="Only the models that this suite needs."),
]


@models.callback()
def listed(
    context: typer.Context,
    suite: Suite = None,
    local_model: LocalModel = None,
    as_json: Json = False,
    as_csv: Csv = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print a table for a README.")] = False,
) -> None:
    """List them, unless a command follows."""
    overrides = tuple(local_model or ())
    if context.invoked_subcommand is not None:
        if suite or overrides or as_json or as_csv or as_markdown:
            raise InputError("Options of 'proctor models fetch' go after the word fetch.")
        return
    if as_markdown and (suite or overrides):
        raise InputError("--markdown prints the default models, so it takes no --suite or --local-model.")
    from .conventions import own_stdout

    with interruptible("Stopped."), own_stdout() as stdout:
        if as_markdown:
            stdout.write(models_table(_catalog()))
        elif as_json:
            write_json({"models": [model.as_object for model in _listed(suite, overrides)]}, stdout)
        elif as_csv:
            write_bytes(csv([_table(_listed(suite, overrides))]), stdout)
        else:
            show_models(_listed(suite, overrides), stdout, _command(suite, overrides))


@models.command()
def fetch(
    roles: Annotated[
        list[str] | None, typer.Argument(metavar="ROLE", help="Roles of the models: toxicity summac ...")
    ] = None,
    suite: Suite = None,
    local_model: LocalModel = None,
    everything: Annotated[bool, typer.Option("--all", help="The models of all roles.")] = False,
) -> None:
    """Download models and prepare them; needs a network."""
    from .conventions import own_stdout

    wanted, overrides = _known(roles or []), tuple(local_model or ())
    with interruptible("Stopped. Finished downloads stay; run the same command again."), own_stdout() as out:
        if suite is not None:
            made, needed = _of_suite(suite, overrides)
            wanted = wanted or [model.role.name for model in needed]
            if not wanted and not everything:
                typer.echo("No metric of the suite needs a local model.", file=out)
        else:
            made = _alone(overrides)
        if everything:
            from ...knowledge import ROLES

            wanted = list(ROLES)
        elif suite is None and not wanted:
            raise InputError(_which())
        fetched = [_fetched(made, role, out) for role in wanted]
    raise typer.Exit(DONE if all(fetched) else UNABLE)


def _fetched(made: RunModels, role: str, out: TextIO) -> bool:
    """Fetch one and say where it is. A model that was here before counts, also when nothing newer can be had."""
    from ...reports import printable

    try:
        sentence = made.fetch(role)
    except InputError as error:
        complain(str(error))
        (there,) = made.listed({role: ()})
        if not there.is_here:
            return False
        sentence = f"The {role} model {there.model_id} was downloaded before and stays: {there.folder}"
    typer.echo(printable(sentence), file=out)
    return True


def _listed(suite: Path | None, overrides: tuple[str, ...]) -> list[ListedModel]:

    if suite is not None:
        return _of_suite(suite, overrides)[1]
    wanting = wanted_by(_catalog())
    if overrides:
        return _alone(overrides).listed(wanting)
    from ...knowledge import LocalModels

    pool = LocalModels()
    return [pool.presence(role, metrics) for role, metrics in wanting.items()]


def _known(roles: Sequence[str]) -> list[str]:
    """Roles as they were given, each once. Raises InputError for a name that is none."""
    from ...knowledge import ROLES

    for role in roles:
        if role not in ROLES:
            raise InputError(_unknown(role))
    return list(dict.fromkeys(roles))


def _unknown(role: str) -> str:
    from ...knowledge import ROLES
    from ...metrics.evaluators import EVALUATORS
    from ..suite import nearest

    members = EVALUATORS[role].metrics if role in EVALUATORS else (role,)
    needed = [name for name, metrics in wanted_by(_catalog()).items() if set(members) & set(metrics)]
    if needed:
        return f"{role!r} is no role; what it needs is proctor models fetch {' '.join(needed)}"
    hint = nearest(role, ROLES, "the roles are")
    return f"There is no role {role!r}{hint}{'' if hint.endswith('?') else '.'}"


def _which() -> str:
    from ...knowledge import ROLES

    sizes = ", ".join(f"{role.name} ({role.megabytes:,} MB)" for role in ROLES.values())
    return (
        f"Say which models are wanted, such as 'proctor models fetch summac', or --suite SUITE.yaml for those that a "
        f"suite needs, or --all. There are {sizes}."
    )


def _command(suite: Path | None, overrides: Sequence[str]) -> str:
    """What fetches the models that were listed."""
    given = ["--suite", str(suite)] if suite is not None else []
    given += [word for override in overrides for word in ("--local-model", override)]
    return f"proctor models fetch{'' if suite is not None else ' ROLE ...'}{' ' if given else ''}{shlex.join(given)}"


def _catalog() -> Catalog:
    from ...metrics import builtin_catalog

    return builtin_catalog()


def _alone(overrides: tuple[str, ...]) -> RunModels:
    from ..run import RunModels
    from ..suite import LocalModelsSettings, overridden

    settings = overridden(LocalModelsSettings(), overrides)
    return RunModels(settings, Path(), os.environ, notify=say, only_planned=True)


def _of_suite(suite: Path, overrides: tuple[str, ...]) -> tuple[RunModels, list[ListedModel]]:
    """The models of a suite, and which of them its metrics and bots want."""
    from ..run import models_of_suite, reranking_bots
    from ..suite import load_named

    loaded = load_named(suite)
    made, plan = models_of_suite(loaded, overrides, os.environ, say)
    bots = tuple(f"bot {name}" for name in reranking_bots(loaded))
    return made, [*made.needed(plan), *made.listed({"rerank": bots} if bots else {})]
