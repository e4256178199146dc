"""Host guard: a Datasette plugin that answers only this machine, only reads, and ends with its parent."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from datasette import hookimpl  # type: ignore[import-untyped, import-not-found, unused-ignore]

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

NAMES = ("127.0.0.1", "localhost", "[::1]")
# Datasette loads nothing from elsewhere; its own pages have inline scripts and styles.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " frame-ancestors 'none'; form-action 'self'; base-uri 'none'"
)
SECURITY_HEADERS = ((b"content-security-policy", POLICY.encode()), (b"referrer-policy", b"no-referrer"))


@hookimpl  # type: ignore[untyped-decorator, unused-ignore]
def asgi_wrapper() -> Callable[[App], App]:
    """The hook by which Datasette wraps its application."""
    return guarded


@hookimpl  # type: ignore[untyped-decorator, unused-ignore]
def startup() -> None:
    """The hook that Datasette calls before it answers."""
    threading.Thread(target=_end_with_parent, args=(sys.stdin.fileno(),), daemon=True).start()


def _end_with_parent(stdin: int) -> None:
    """End when the parent process has ended: its end of our stdin is closed then."""
    while os.read(stdin, 1024):  # not sys.stdin.read, whose lock would block the exit of Python
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def guarded(app: App) -> App:
    """The application behind a check of the Host header: other hosts are refused."""

    async def answer(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        port = scope["server"][1]
        host = dict(scope["headers"]).get(b"host", b"").decode("latin-1").lower()
        if host not in {f"{name}:{port}" for name in NAMES}:
            await _refuse(send, 403, f"This server answers as 127.0.0.1:{port} only.")
        elif scope["method"] not in ("GET", "HEAD"):
            await _refuse(send, 405, "This server is read-only: use GET or HEAD.")
        else:
            await app(scope, receive, _with_headers(send))

    return answer


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *SECURITY_HEADERS]}
        await send(message)

    return send_with_headers


async def _refuse(send: Send, status: int, sentence: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *SECURITY_HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{sentence}\n".encode()})
