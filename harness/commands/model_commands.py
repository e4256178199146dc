"""Commands about local models: ``models`` and ``models fetch``."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from ... import InputError
from .conventions import DONE, UNABLE, Json, LocalModel, complain, interruptible, say

if TYPE_CHECKING:
    from ...metrics import Catalog
    from ..engine.listed_models import ListedModel
    from ..engine.run_models import RunModels

models = typer.Typer(
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
    help="List the models that metrics run on this machine. Which metrics need them, their size and licence, and "
    "whether they are here. Nothing is loaded, and no network is used.",
)
Suite = Annotated[
    Path | None,
    typer.Option("--suite", metavar="SUITE.yaml", help="Only what this suite's metrics need, as the suite has it."),
]


@models.callback()
def listed(
    context: typer.Context,
    suite: Suite = None,
    local_model: LocalModel = None,
    as_json: Json = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print a table for a README.")] = False,
) -> None:
    """List them, unless a command follows."""
    overrides = tuple(local_model or ())
    if context.invoked_subcommand is not None:
        if suite or overrides or as_json or as_markdown:
            raise InputError("Options of 'proctor models fetch' stand behind the word fetch.")
        return
    if as_markdown and (suite or overrides):
        raise InputError("--markdown prints the models that take the roles where no other is named: it goes alone.")
    from ..showing.model_list import models_table, show_models, write_models
    from ..showing.streams import own_stdout

    with interruptible("Stopped."), own_stdout() as stdout:
        if as_markdown:
            stdout.write(models_table(_catalog()))
        elif as_json:
            write_models(_listed(suite, overrides), stdout)
        else:
            show_models(_listed(suite, overrides), stdout, _command(suite, overrides))


@models.command()
def fetch(
    roles: Annotated[
        list[str] | None, typer.Argument(metavar="ROLE", help="What models are wanted for: toxicity summac ...")
    ] = None,
    suite: Suite = None,
    local_model: LocalModel = None,
    everything: Annotated[bool, typer.Option("--all", help="The models of all roles.")] = False,
) -> None:
    """Bring models to this machine and prepare them: once, with a network."""
    from ..showing.streams import own_stdout

    wanted, overrides = _known(roles or []), tuple(local_model or ())
    with interruptible("Stopped. What has arrived is kept; the same command goes on from there."), own_stdout() as out:
        if suite is not None:
            made, needed = _of_suite(suite, overrides)
            wanted = wanted or [model.role for model in needed]
            if not wanted and not everything:
                typer.echo("No metric of the suite needs a local model.", file=out)
        else:
            made = _alone(overrides)
        if everything:
            from ...knowledge.local_models.roles import ROLES

            wanted = list(ROLES)
        elif suite is None and not wanted:
            raise InputError(_which())
        fetched = [_fetched(made, role, out) for role in wanted]
    raise typer.Exit(DONE if all(fetched) else UNABLE)


def _fetched(made: RunModels, role: str, out: TextIO) -> bool:
    """Fetch one and say where it is. A model that was here before counts, also when nothing newer can be had."""
    from ...reports.printable import printable

    try:
        sentence = made.fetch(role)
    except InputError as error:
        complain(str(error))
        (there,) = made.listed({role: ()})
        if not there.is_here:
            return False
        sentence = f"The {role} model {there.model_id} was here before and stays: {there.folder}"
    typer.echo(printable(sentence), file=out)
    return True


def _listed(suite: Path | None, overrides: tuple[str, ...]) -> list[ListedModel]:
    from ..showing.model_list import wanted_by

    if suite is not None:
        return _of_suite(suite, overrides)[1]
    wanting = wanted_by(_catalog())
    if overrides:
        return _alone(overrides).listed(wanting)
    from ...knowledge.local_models.pool import LocalModels
    from ..engine.listed_models import listed_model

    pool = LocalModels()
    return [listed_model(pool.presence(role), metrics) for role, metrics in wanting.items()]


def _known(roles: Sequence[str]) -> list[str]:
    """Roles as they were given, each once. Raises InputError for a name that is none."""
    from ...knowledge.local_models.roles import ROLES

    for role in roles:
        if role not in ROLES:
            raise InputError(_unknown(role))
    return list(dict.fromkeys(roles))


def _unknown(role: str) -> str:
    from ...knowledge.local_models.roles import ROLES
    from ...metrics.evaluator_table import EVALUATORS
    from ..showing.model_list import wanted_by
    from ..suite.mistakes import nearest

    members = EVALUATORS[role].metrics if role in EVALUATORS else (role,)
    needed = [name for name, metrics in wanted_by(_catalog()).items() if set(members) & set(metrics)]
    if needed:
        return f"{role!r} is no role; what it needs is proctor models fetch {' '.join(needed)}"
    hint = nearest(role, ROLES, "the roles are")
    return f"There is no role {role!r}{hint}{'' if hint.endswith('?') else '.'}"


def _which() -> str:
    from ...knowledge.local_models.roles import ROLES

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
    from ..engine.run_models import RunModels
    from ..suite.local_model_settings import LocalModelsSettings, overridden

    settings = overridden(LocalModelsSettings(), overrides)
    return RunModels(settings, Path(), os.environ, told=say, only_planned=True)


def _of_suite(suite: Path, overrides: tuple[str, ...]) -> tuple[RunModels, list[ListedModel]]:
    """The models of a suite, and which of them its metrics and bots want."""
    from ..exams.suite_models import models_of_suite, reranking_bots
    from ..suite.suite_file import load_named

    loaded = load_named(suite)
    made, plan = models_of_suite(loaded, overrides, os.environ, say)
    bots = tuple(f"bot {name}" for name in reranking_bots(loaded))
    return made, [*made.needed(plan), *made.listed({"rerank": bots} if bots else {})]
