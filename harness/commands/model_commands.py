"""Commands about local models: ``models`` and ``models fetch``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ... import InputError
from .conventions import DONE, UNABLE, Json, LocalModel, complain, interruptible

if TYPE_CHECKING:
    from ..engine.local_models import RunModels
    from ..exams.exam import Exam

models = typer.Typer(
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
    help="List the models that run on this machine for metrics: what wants them, their size, and whether they are "
    "here. Nothing is loaded, and no network is used.",
)
Suite = Annotated[
    Path | None, typer.Option("--suite", metavar="SUITE.yaml", help="Only what this suite needs, as it has them.")
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
    if context.invoked_subcommand is not None:
        if suite or local_model or as_json or as_markdown:
            raise InputError("Options of 'proctor models fetch' stand behind the word fetch.")
        return
    from ...metrics import builtin_catalog
    from ..showing.model_list import models_table, show_models, wanted_by
    from ..showing.streams import own_stdout

    overrides = tuple(local_model or ())
    with interruptible("Stopped."), own_stdout() as stdout:
        if as_markdown:
            stdout.write(models_table(builtin_catalog()))
        elif suite is not None:
            exam = _planned(suite, overrides)
            wanting = {each.role: each.metrics for each in exam.models.needed(exam.plan)}
            show_models(exam.models.listed(wanting), stdout, as_json, of_suite=True)
        else:
            made = _alone(overrides).listed(wanted_by(builtin_catalog()))
            show_models(made, stdout, as_json, of_suite=False)


@models.command()
def fetch(
    roles: Annotated[
        list[str] | None, typer.Argument(metavar="[ROLE]...", help="What is wanted, such as toxicity summac.")
    ] = None,
    suite: Suite = None,
    local_model: LocalModel = None,
) -> None:
    """Bring models to this machine and prepare them: once, with a network."""
    overrides = tuple(local_model or ())
    with interruptible("Stopped. What has arrived is kept; the same command goes on from there."):
        if suite is None:
            made, wanted = _alone(overrides), []
        else:
            exam = _planned(suite, overrides)
            made, wanted = exam.models, [each.role for each in exam.models.needed(exam.plan)]
            if not wanted and not roles:
                typer.echo("No metric of the suite wants a local model.")
        wanted = _known(roles) if roles else wanted
        if suite is None and not wanted:
            raise InputError(_which())
        fetched = [_fetched(made, role) for role in wanted]
    raise typer.Exit(DONE if all(fetched) else UNABLE)


def _fetched(made: RunModels, role: str) -> bool:
    try:
        typer.echo(made.fetch(role))
    except InputError as error:
        complain(str(error))
        return False
    return True


def _known(roles: list[str]) -> list[str]:
    from ...knowledge.local_models.roles import ROLES
    from ..suite.mistakes import nearest

    for role in roles:
        if role not in ROLES:
            hint = nearest(role, ROLES, "the roles are")
            raise InputError(f"There is no role {role!r}{hint}{'' if hint.endswith('?') else '.'}")
    return list(dict.fromkeys(roles))


def _which() -> str:
    from ...knowledge.local_models.roles import ROLES

    sizes = ", ".join(f"{role.name} ({role.megabytes:,} MB)" for role in ROLES.values())
    return f"Say which models are wanted, or --suite SUITE.yaml for those of a suite. There are {sizes}."


def _alone(overrides: tuple[str, ...]) -> RunModels:
    from ..engine.local_models import RunModels
    from ..suite.local_model_settings import LocalModelsSettings, overridden

    settings = overridden(LocalModelsSettings(), overrides)
    return RunModels(settings, Path(), os.environ, told=_told, only_planned=True)


def _planned(suite: Path, overrides: tuple[str, ...]) -> Exam:
    from ..exams.suite_exam import RunOptions, suite_exam
    from ..suite.suite_file import load_suite

    options = RunOptions(local_models=overrides, only_planned=True)
    return suite_exam(load_suite(suite), options, os.environ, _told)


def _told(sentence: str) -> None:
    """What takes long is said on stderr, in a pipe as well: whoever fetches waits for it."""
    from ...reports.leaderboard import printable

    typer.echo(printable(sentence), file=sys.stderr)
