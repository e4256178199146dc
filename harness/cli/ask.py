"""``ask``: one bot, one question; ``init``: a copy of the sample suite to edit."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from ... import InputError
from ..api.asking import answer_blocks, ask_one
from ..suite import FILE, FIRST_LINE, NAME, sample_suite, suite_schema
from .conventions import Json, interruptible, own_stdout, show, write_json


def start_suite(folder: Path) -> list[Path]:
    """Write the sample suite into a folder: suite, questions, prompts, documents and the suite's JSON schema.

    The folder is made where it does not exist. All is written, or nothing.

    Returns:
        The files that were written, sorted.

    Raises:
        InputError: one of the files is there already, or the folder can't be written.
    """
    try:
        with _made(folder), tempfile.TemporaryDirectory(prefix=".proctor-init-", dir=folder) as scratch:
            _fill(Path(scratch))
            return _move(Path(scratch), folder)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{error.filename or folder} can't be written: {reason}.") from error


@contextlib.contextmanager
def _made(folder: Path) -> Iterator[None]:
    """The folder, made with its parents; when the work inside fails, what was made here goes again."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; a folder was wanted.")
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for each in missing:
            with contextlib.suppress(OSError):  # somebody else has put something there meanwhile
                each.rmdir()
        raise


def _fill(scratch: Path) -> None:
    sample = sample_suite()
    shutil.copytree(sample.parent, scratch, dirs_exist_ok=True, copy_function=shutil.copyfile)
    lines = [line for line in sample.read_text("utf-8").splitlines() if not line.startswith(FIRST_LINE.split("=")[0])]
    (scratch / NAME).write_text("\n".join([FIRST_LINE, *lines, ""]), "utf-8")
    schema = _schema()
    (scratch / FILE).write_text(json.dumps(schema, indent=2, ensure_ascii=False) + "\n", "utf-8")


def _schema() -> dict[str, Any]:
    from ...metrics import builtin_catalog  # imports every family of metrics
    from ...metrics.evaluators import names

    catalog = builtin_catalog()
    return suite_schema(list(catalog.metrics), names(catalog))


def _move(scratch: Path, folder: Path) -> list[Path]:
    """Move everything from scratch into the folder, where none of it may be yet."""
    files = sorted(folder / each.relative_to(scratch) for each in scratch.rglob("*") if each.is_file())
    entries = sorted(scratch.iterdir())
    there = [entry.name for entry in entries if (folder / entry.name).exists()]
    if there:
        named = ", ".join(there[:3]) + (", ..." if len(there) > 3 else "")
        raise InputError(f"{folder} already has {named}; nothing was written. Choose another folder.")
    moved: list[Path] = []
    try:
        for entry in entries:
            entry.rename(folder / entry.name)
            moved.append(folder / entry.name)
    except BaseException:
        for each in moved:
            shutil.rmtree(each) if each.is_dir() else each.unlink()
        raise
    return files


def ask(
    suite: Annotated[Path, typer.Argument(metavar="SUITE.yaml", help="The suite, or 'sample'.")],
    bot: Annotated[str, typer.Argument(metavar="BOT", help="A bot of the suite.")],
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question.")],
    as_json: Json = False,
) -> None:
    """Ask one bot one question. Prints the answer, its contexts and timing; nothing is stored."""
    from ..suite import load_named

    with interruptible("Stopped."), own_stdout() as stdout:
        answer = ask_one(load_named(suite), bot, question, os.environ)
        if as_json:
            write_json(asdict(answer), stdout)
        else:
            show(answer_blocks(answer), stdout)


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty folder.")],
) -> None:
    """Write a sample suite into a folder, ready to edit.

    Questions, prompts, documents, and a schema for your editor.
    """
    start_suite(folder)
    quoted = shlex.quote(str(folder / "suite.yaml"))
    typer.echo(f"Wrote a suite to {folder}. Edit {folder / 'suite.yaml'}, then: proctor run {quoted}")
