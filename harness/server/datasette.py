"""Datasette over the report database, with our metadata, as a separate process."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final
from urllib.parse import quote

import orjson

from ... import InputError
from ...reports.store.datasette import datasette_metadata
from .serving import LOOPBACK, bound_socket

START_TIMEOUT: Final = 60.0  # seconds
SETTINGS: Final = {
    "default_cache_ttl": "0",  # a run may be going on
    "default_page_size": "50",
    "sql_time_limit_ms": "20000",
    "facet_time_limit_ms": "2000",
    "truncate_cells_html": "600",
    "allow_download": "off",
}


def explore_database(database: Path, port: int | None, ready: Callable[[str], None]) -> None:
    """Run Datasette, read-only, until it ends or a KeyboardInterrupt.

    Args:
        database: the file to explore.
        port: the port, or None for the default or the next free one.
        ready: called with the address once it answers.

    Raises:
        InputError: the extra is not installed, the port is taken, or Datasette does not start.
    """
    _check_installed()
    with bound_socket(port) as listening:
        number = listening.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="proctor-explore-") as folder:
        log = Path(folder) / "log.txt"
        with _started(_command(database, number, _with_plugin(Path(folder), database)), log) as process:
            _wait_until_open(process, number, log)
            ready(f"http://{LOOPBACK}:{number}/{quote(database.stem, safe='')}")
            if process.wait():
                raise InputError(f"Datasette ended: {_last_line(log)}")


def _check_installed() -> None:
    try:
        import datasette  # type: ignore[import-untyped, import-not-found, unused-ignore]  # noqa: F401 - whether it is there
    except ImportError as error:
        raise InputError(
            "'proctor explore' opens Datasette, which is not installed. Install it with: pip install 'proctor[explore]'"
        ) from error


def _with_plugin(folder: Path, database: Path) -> Path:
    """The folder with the metadata and, in a subfolder, our plugin."""
    (folder / "metadata.json").write_bytes(orjson.dumps(datasette_metadata(database.stem)))
    (folder / "plugins").mkdir()
    with as_file(files(__package__) / "host_guard.py") as plugin:
        shutil.copyfile(plugin, folder / "plugins" / "host_guard.py")
    return folder


def _command(database: Path, port: int, folder: Path) -> list[str]:
    settings = [part for name, value in SETTINGS.items() for part in ("--setting", name, value)]
    return [
        sys.executable, "-m", "datasette", "serve", str(database.absolute()), "--host", LOOPBACK, "--port", str(port),
        "--metadata", str(folder / "metadata.json"), "--plugins-dir", str(folder / "plugins"), *settings,
    ]  # fmt: skip


@contextlib.contextmanager
def _started(command: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The process; it ends with the ``with`` block, whatever happens."""
    with log.open("wb") as out:
        # Its stdin closes when this program ends: our plugin waits for that.
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=out)  # noqa: S603 - ours
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_open(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + START_TIMEOUT
    while time.monotonic() < end:
        if process.poll() is not None:
            raise InputError(f"Datasette did not start: {_last_line(log)}")
        with contextlib.suppress(OSError), socket.create_connection((LOOPBACK, port), 1.0):
            return
        time.sleep(0.05)
    raise InputError(f"Datasette did not start within {START_TIMEOUT:.0f} seconds: {_last_line(log)}")


def _last_line(log: Path) -> str:
    lines = log.read_text("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "it printed nothing."
