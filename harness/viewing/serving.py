"""Serving: a viewer on a port of this machine alone, until somebody ends it."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ... import InputError
from .answers import Request
from .viewer import Viewer

if TYPE_CHECKING:
    from aiohttp import web

LOOPBACK: Final = "127.0.0.1"
PORT: Final = 8765  # where none was asked for; the next free one where it is taken
TRIES: Final = 50
AT_ONCE: Final = 4  # requests that are answered at the same time; each reads the database in a thread of its own


def bound_socket(port: int | None) -> socket.socket:
    """A socket at a port of this machine.

    Args:
        port: the one that was asked for; None for ours or the next that is free, 0 for any.

    Raises:
        InputError: the port can't be had.
    """
    candidates = range(PORT, PORT + TRIES) if port is None else [port]
    for candidate in candidates:
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if hasattr(socket, "SO_REUSEADDR") and not hasattr(socket, "SO_EXCLUSIVEADDRUSE"):
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((LOOPBACK, candidate))
            made.listen(128)
        except OSError as error:
            made.close()
            if port is not None:
                raise InputError(_not_had(port, error)) from error
        else:
            return made
    raise InputError(f"No port from {PORT} to {PORT + TRIES - 1} is free. Give --port N, or --port 0 for any.")


def _not_had(port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} is taken by another program. Give another --port, or none for the next free one."
    if error.errno == errno.EACCES:
        return f"Port {port} is not for everybody to use. Give --port a number above 1023, or none."
    return f"Port {port} can't be had: {(error.strerror or str(error)).lower()}."


def serve(database: Path, listening: socket.socket, ready: Callable[[str], None]) -> None:
    """Answer until a KeyboardInterrupt.

    Args:
        database: what is shown.
        listening: where it is served.
        ready: told the address as soon as somebody may come.
    """
    port = listening.getsockname()[1]
    viewer = Viewer(database, hosts_of(port))
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="viewer") as threads:
        asyncio.run(_serve(viewer, listening, threads, lambda: ready(f"http://{LOOPBACK}:{port}/")))


def hosts_of(port: int) -> set[str]:
    """The names by which a browser may call a server at a port of this machine."""
    names = (LOOPBACK, "localhost", "[::1]")
    return {f"{name}:{port}" for name in names} | ({*names} if port == 80 else set())


async def _serve(
    viewer: Viewer, listening: socket.socket, threads: ThreadPoolExecutor, ready: Callable[[], None]
) -> None:
    from aiohttp import web

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        asked = _asked(request)
        answer = await asyncio.get_running_loop().run_in_executor(threads, viewer.answer, asked)
        return web.Response(status=answer.status, body=answer.body, headers=answer.headers)

    runner = web.ServerRunner(web.Server(handle, access_log=None), handle_signals=False)
    await runner.setup()
    try:
        await web.SockSite(runner, listening, shutdown_timeout=1.0).start()
        ready()
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()


def _asked(request: web.BaseRequest) -> Request:
    path = request.rel_url.raw_path
    takes_gzip = "gzip" in request.headers.get("Accept-Encoding", "")
    return Request(request.method, request.headers.get("Host", ""), path, dict(request.query), takes_gzip)
