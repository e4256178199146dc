"""The command line: all commands, and the exit codes that a build server reads."""

from __future__ import annotations

import importlib
import sys
from typing import Annotated, Any, Final

import typer
import typer.main
from typer.core import TyperGroup

from ... import InputError, __version__
from .conventions import BROKEN, INTERRUPTED, WRONG_INPUT, complain, interrupted

# Every command: the module it is in, and what the list of commands says of it (the first line of its docstring).
COMMANDS: Final = {
    "init": ("ask", "Write a sample suite into a folder, ready to edit."),
    "run": ("run", "Run a suite: ask its bots and score the answers."),
    "score": ("run", "Score recorded answers; no bot is called."),
    "ask": ("ask", "Ask one bot one question."),
    "report": ("ask", "Write a run, or the changes between two, as a page or files."),
    "view": ("view", "Show all runs in the browser."),
    "explore": ("view", "Query the database with SQL, in Datasette."),
    "compare": ("compare", "Compare two bots or runs: is B better than A?"),
    "gate": ("gate", "Check whether a change made bots worse than a baseline."),
    "baseline": ("gate", "Write a run's scores to a small file for 'proctor gate'."),
    "plan": ("plan", "Plan how many questions are needed to show a difference."),
    "rank": ("rank", "Rank the bots: which is best, and with what probability."),
    "abstain": ("rank", "Weigh wrong answers against abstentions."),
    "perturb": ("robustness", "Write variants of questions: typos, synonyms, negations."),
    "robustness": ("robustness", "Show how perturbed or repeated questions change answers."),
    "judge-check": ("judge", "Run the judge's self-test: cases with known verdicts."),
    "label": ("judge", "Write a random sample of rows or pairs to a CSV file, to be labelled."),
    "calibrate": ("judge", "Calibrate the judge against people's labels."),
    "knowledge": ("knowledge", "Benchmark documents: which help or mislead, what is missing."),
    "metrics": ("ask", "List the metrics, or describe some in full."),
    "questions": ("questions", "Draft questions from documents, and review the drafts."),
    "models": ("models", "List the local models of metrics."),
}


class Commands(TyperGroup):
    """The commands, each imported when it is called: the help, and every other command, start without it."""

    def __init__(self, **given: Any) -> None:  # noqa: ANN401 - handed on
        """As any group; the names stand ready for "Did you mean"."""
        super().__init__(**given)
        self.commands = dict.fromkeys(COMMANDS)  # type: ignore[assignment]

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - Typer keeps the types of Click to itself
        """The names, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002 - as above
        """The command of a name; None when there is none."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f".{COMMANDS[cmd_name][0]}", __package__)
        found = getattr(module, cmd_name.replace("-", "_"))
        if isinstance(found, typer.Typer):
            return typer.main.get_command(found)
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        alone.command(cmd_name)(found)
        return typer.main.get_command(alone)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002 - as above
        """The list of the help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Evaluate chat bots: ask, time, score, compare.",
)


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
    except KeyboardInterrupt:
        interrupted()
        sys.exit(INTERRUPTED)
    except SystemExit as end:
        if end.code == INTERRUPTED:  # Typer's, before a command began; a second Ctrl-C would end us without a word
            interrupted()
        raise
    except InputError as error:
        complain(str(error))
        sys.exit(WRONG_INPUT)
    except OSError as error:  # stdout on a full disk, a folder that went away
        complain(f"{error.filename or 'The output'}: {error.strerror or error}.")
        sys.exit(WRONG_INPUT)
    except Exception as error:  # noqa: BLE001 - shown in full; only the exit code is ours
        if isinstance(error.__cause__, KeyboardInterrupt):  # Python 3.11 wraps one that meets a class in the making
            interrupted()
            sys.exit(INTERRUPTED)
        from ...reports.store.damage import damage_behind

        if damaged := damage_behind(error):
            complain(damaged)
            sys.exit(WRONG_INPUT)
        sys.excepthook(*sys.exc_info())
        complain("This is a bug in Proctor. All answers so far are stored.")
        sys.exit(BROKEN)
