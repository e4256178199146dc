"""View commands: ``view``, our own pages over many runs, and ``explore``, any question in SQL."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Annotated

import typer

from .console import shown_in_browser
from .conventions import interruptible, say

Looked = Annotated[Path, typer.Argument(metavar="DB", help="The SQLite file that keeps everything.")]
Port = Annotated[
    int | None,
    typer.Option("--port", min=0, max=65535, metavar="N", help="The port; left out, the first free one from ours on."),
]
Open = Annotated[bool, typer.Option("--open/--no-open", help="Open it in the browser.")]
ENDED = "Ended. Nothing was changed."


def view(database: Looked = Path("proctor.db"), port: Port = None, is_opened: Open = False) -> None:
    """Show all runs in the browser. List, trend, any two compared; fills while a run goes on.

    Only this machine can reach it, and nothing can be changed.
    """
    from ..server.serving import bound_socket, serve
    from ..server.viewer import left_as_found, snapshot

    with interruptible(ENDED), left_as_found(database):
        with snapshot(database):
            pass  # a mistake is told before anything is opened
        serve(database, bound_socket(port), lambda address: _ready(address, is_opened))


def explore(database: Looked = Path("proctor.db"), port: Port = None, is_opened: Open = False) -> None:
    """Ask the database anything, in Datasette. Tables explained, queries ready; needs the extra 'explore'."""
    from ..server.datasette import explore_database
    from ..server.viewer import left_as_found, snapshot

    with interruptible(ENDED), left_as_found(database):
        with snapshot(database):
            pass
        explore_database(database, port, lambda address: _ready(address, is_opened))


def _ready(address: str, is_opened: bool) -> None:
    """Tell the address, on stdout for whoever reads it from a pipe; the rest is for people."""
    typer.echo(address)
    say("Ctrl-C ends it.")
    if is_opened:  # apart, as some browsers come back when they are closed only: meanwhile we answer
        threading.Thread(target=_show, args=(address,), name="browser", daemon=True).start()


def _show(address: str) -> None:
    if not shown_in_browser(address):
        say(f"There is no browser here. Only this machine can reach {address}, so a browser elsewhere needs a tunnel.")
