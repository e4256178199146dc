"""Serving: the viewer on a loopback port, until a KeyboardInterrupt."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import socket
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ... import InputError
from .viewer import MOST_WRITTEN, Answer, Request, Viewer

if TYPE_CHECKING:
    from aiohttp import web

LOOPBACK: Final = "127.0.0.1"
PORT: Final = 8765  # the default; the next free one where it is taken
TRIES: Final = 50
AT_ONCE: Final = 4  # concurrent requests; each reads the database in its own thread
SHUTDOWN_TIMEOUT: Final = 0.2  # seconds for requests in progress at the end
BODY_TIMEOUT: Final = 10.0  # seconds for the body of a request


def bound_socket(port: int | None) -> socket.socket:
    """A socket at a port of this machine.

    Args:
        port: the requested one; None for the default or the next free one, 0 for any.

    Raises:
        InputError: the port is not available.
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
                raise InputError(_unavailable(port, error)) from error
        else:
            return made
    raise InputError(f"No port from {PORT} to {PORT + TRIES - 1} is free. Give --port N, or --port 0 for any.")


def _unavailable(port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} is taken by another program. Give another --port, or none for the next free one."
    if error.errno == errno.EACCES:
        return f"Port {port} needs special rights. Give --port a number above 1023, or none."
    return f"Port {port} is not available: {(error.strerror or str(error)).lower()}."


def serve(
    databases: Sequence[Path], listening: socket.socket, ready: Callable[[str], None],
    wrote: Callable[[], None] = lambda: None,
) -> None:  # fmt: skip
    """Answer requests until a KeyboardInterrupt.

    ``ready`` is called with the address once it answers, ``wrote`` whenever a page had something written.
    """
    port = listening.getsockname()[1]
    viewer = Viewer(databases, hosts_of(port), wrote)
    asyncio.run(_serve(viewer, listening, lambda: ready(f"http://{LOOPBACK}:{port}/")))


def hosts_of(port: int) -> set[str]:
    """The Host headers that name a server at a port of this machine."""
    names = (LOOPBACK, "localhost", "[::1]")
    return {f"{name}:{port}" for name in names} | ({*names} if port == 80 else set())


async def _serve(viewer: Viewer, listening: socket.socket, ready: Callable[[], None]) -> None:
    from aiohttp import web

    turns = asyncio.Semaphore(AT_ONCE)

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        body = await _body(request)
        async with turns:
            answer = await _answered(viewer, _asked(request, body))
        return web.Response(status=answer.status, body=answer.body, headers=answer.headers)

    server = web.Server(handle, access_log=None, logger=_silent())
    runner = web.ServerRunner(server, handle_signals=False, shutdown_timeout=SHUTDOWN_TIMEOUT)
    await runner.setup()
    try:
        await web.SockSite(runner, listening).start()
        ready()
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()


async def _answered(viewer: Viewer, asked: Request) -> Answer:
    """The answer from a daemon thread, which does not delay the end of the program (a pool would)."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Answer] = loop.create_future()

    def deliver(answer: Answer) -> None:
        if not done.done():  # the request may be cancelled
            done.set_result(answer)

    def work() -> None:
        answer = viewer.answer(asked)
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(deliver, answer)

    threading.Thread(target=work, name="viewer", daemon=True).start()
    return await done


def _silent() -> logging.Logger:
    """A logger that drops messages about bad or broken-off requests; the viewer prints real failures."""
    logger = logging.getLogger(__name__)
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return logger


async def _body(request: web.BaseRequest) -> bytes:
    """What a POST sends, as far as it is looked at; of one that is broken or takes too long, what came."""
    body = b""
    if request.method == "POST":
        with contextlib.suppress(Exception):  # what aiohttp makes of a body that others packed badly or broke off
            async with asyncio.timeout(BODY_TIMEOUT):
                async for part in request.content.iter_any():
                    body += part
                    if len(body) > MOST_WRITTEN:
                        break
    return body[: MOST_WRITTEN + 1]


def _asked(request: web.BaseRequest, body: bytes) -> Request:
    path = request.rel_url.raw_path
    takes_gzip = "gzip" in request.headers.get("Accept-Encoding", "")
    # A form sends the line ends of a name as two characters each, whatever they were.
    query = {name: value.replace("\r\n", "\n") for name, value in request.query.items()}
    return Request(
        request.method, request.headers.get("Host", ""), path, query, takes_gzip,
        origin=request.headers.get("Origin", ""), kind=request.headers.get("Content-Type", ""),
        token=request.headers.get("X-Proctor-Token", ""), body=body,
    )  # fmt: skip
