"""``view``: pages over all runs, served locally; ``explore``: the database in Datasette."""

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
    typer.Option("--port", min=0, max=65535, metavar="N", help="The port; by default the first free one."),
]
Open = Annotated[bool, typer.Option("--open/--no-open", help="Open it in the browser.")]
ENDED = "Stopped. Nothing was changed."


def view(database: Looked = Path("proctor.db"), port: Port = None, is_opened: Open = False) -> None:
    """Show all runs in the browser. List, trends, any two compared; updates during a run.

    Read-only, and reachable from this machine only.
    """
    from ..server.serving import bound_socket, serve
    from ..server.viewer import left_as_found, snapshot

    with interruptible(ENDED), left_as_found(database):
        with snapshot(database):
            pass  # mistakes are reported before anything is opened
        serve(database, bound_socket(port), lambda address: _ready(address, is_opened))


def explore(database: Looked = Path("proctor.db"), port: Port = None, is_opened: Open = False) -> None:
    """Query the database with SQL, in Datasette. Documented tables, example queries; needs the extra 'explore'."""
    from ..server.datasette import explore_database
    from ..server.viewer import left_as_found, snapshot

    with interruptible(ENDED), left_as_found(database):
        with snapshot(database):
            pass
        explore_database(database, port, lambda address: _ready(address, is_opened))


def _ready(address: str, is_opened: bool) -> None:
    """Print the address to stdout, for scripts; the rest goes to stderr."""
    typer.echo(address)
    say("Press Ctrl-C to stop.")
    if is_opened:  # in a thread, since some browsers return only when they are closed
        threading.Thread(target=_show, args=(address,), name="browser", daemon=True).start()


def _show(address: str) -> None:
    if not shown_in_browser(address):
        say(f"No browser was found. Only this machine can reach {address}; from elsewhere, use a tunnel.")
