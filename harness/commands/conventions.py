"""What all commands share: options, exit codes, and how they end when they are interrupted."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer

DONE: Final = 0
UNABLE: Final = 1  # a bot or the judge could not work at all
WRONG_INPUT: Final = 2
BROKEN: Final = 70  # a fault of ours (EX_SOFTWARE): 1 would say that a bot became worse
INTERRUPTED: Final = 130
STOPPED: Final = "Stopped. All that was answered is kept; the same command goes on from there."

Database = Annotated[Path, typer.Option("--db", metavar="FILE", help="The SQLite file that keeps everything.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, and nothing else there.")]
Rows = Annotated[
    Path | None, typer.Option("--rows", metavar="FILE", help="Also write a JSON line for each row and metric.")
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Ask everything again, whatever is kept.")]
Judge = Annotated[
    str,
    typer.Option(
        "--judge",
        metavar="MODEL",
        help="Who grades, in place of the suite's judge: openai:NAME, langchain:file.py:name, a name under models, "
        "or embedded.",
    ),
]
JudgeUrl = Annotated[
    str,
    typer.Option(
        "--judge-url", metavar="URL", help="Where that judge is, such as http://127.0.0.1:8000/v1; key: OPENAI_API_KEY."
    ),
]
LocalModel = Annotated[
    list[str] | None,
    typer.Option(
        "--local-model",
        metavar="ROLE=MODEL",
        help="Another local model for a role, such as toxicity=./folder; `proctor models` lists roles. Repeatable.",
    ),
]
Plan = Annotated[
    bool, typer.Option("--plan", help="Only say how many requests, tokens and how much money it would take.")
]


@contextlib.contextmanager
def interruptible(sentence: str) -> Iterator[None]:
    """End with a sentence and exit code 130 on Ctrl-C, and on SIGTERM as well."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    except KeyboardInterrupt:
        for each in (signal.SIGINT, signal.SIGTERM):  # we are ending: who asks again has nothing to gain
            signal.signal(each, signal.SIG_IGN)
        atexit.register(leave_at_once, os.getpid())
        complain(sentence)
        raise typer.Exit(INTERRUPTED) from None
    finally:
        if signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN:
            signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def leave_at_once(process: int) -> None:
    """End at once after an interrupt. Threads that bots and models left at work would be torn down under their feet,
    and libraries in C++ abort the whole program then.
    """  # noqa: D205 - one sentence that needs two lines
    if os.getpid() != process:
        return
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(INTERRUPTED)


def _interrupt(*_: object) -> None:
    """As Ctrl-C does, even where that is ignored: a script begins so what it leaves in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.raise_signal(signal.SIGINT)


@contextlib.contextmanager
def judged_by_someone_fit() -> Iterator[None]:
    """End with exit code 1 where the judge fails its check, or can't be reached for it."""
    from ..trust.judge_check import JudgeUnfit

    try:
        yield
    except JudgeUnfit as unfit:
        complain(str(unfit))
        raise typer.Exit(UNABLE) from None


def complain(sentence: str) -> None:
    """Say on stderr what is wrong."""
    from ...reports.printable import printable_lines

    typer.echo(f"proctor: {printable_lines(_without_secrets(sentence))}", err=True)


def say(sentence: str) -> None:
    """Say on stderr what takes long, in a pipe as well: whoever downloads gigabytes should know."""
    from ...reports.printable import printable

    typer.echo(printable(_without_secrets(sentence)), err=True)


def _without_secrets(sentence: str) -> str:
    from ...bots.redaction import redactor, without_url_secrets

    return redactor(os.environ)(without_url_secrets(sentence))
