"""The command line: all commands, and the exit codes that a build server reads."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ... import InputError, __version__
from .ask import ask, init, metrics, report
from .compare import compare
from .conventions import BROKEN, WRONG_INPUT, complain
from .gate import baseline, gate
from .judge import calibrate, judge_check, label
from .knowledge import knowledge
from .models import models
from .plan import plan
from .questions import questions
from .rank import abstain, rank
from .robustness import perturb, robustness
from .run import run, score
from .view import explore, view

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Evaluate chat bots: ask, time, score, compare.",
)
for command in (
    init,
    run,
    score,
    ask,
    report,
    view,
    explore,
    compare,
    gate,
    baseline,
    plan,
    rank,
    abstain,
    perturb,
    robustness,
    judge_check,
    label,
    calibrate,
    knowledge,
    metrics,
):
    app.command(command.__name__.replace("_", "-"))(command)
app.add_typer(questions, name="questions")
app.add_typer(models, name="models")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"proctor {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options before a command."""


def main() -> None:
    """The entry point; a user's mistake is a sentence on stderr and exit code 2."""
    from .console import forgive

    forgive()
    try:
        app()
    except InputError as error:
        complain(str(error))
        sys.exit(WRONG_INPUT)
    except OSError as error:  # stdout on a full disk, a folder that went away
        complain(f"{error.filename or 'The output'}: {error.strerror or error}.")
        sys.exit(WRONG_INPUT)
    except Exception as error:  # noqa: BLE001 - shown in full; only the exit code is ours
        from ...reports.store.damage import damage_behind

        if damaged := damage_behind(error):
            complain(damaged)
            sys.exit(WRONG_INPUT)
        sys.excepthook(*sys.exc_info())
        complain("This is a bug in Proctor. All answers so far are stored.")
        sys.exit(BROKEN)
