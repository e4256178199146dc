"""Host guard: a plugin of Datasette that answers this machine alone, who only reads, and while it is wanted."""

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
# What Datasette shows comes from itself alone; its own pages have scripts and styles in them.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " frame-ancestors 'none'; form-action 'self'; base-uri 'none'"
)
SAID = ((b"content-security-policy", POLICY.encode()), (b"referrer-policy", b"no-referrer"))


@hookimpl  # type: ignore[untyped-decorator, unused-ignore]
def asgi_wrapper() -> Callable[[App], App]:
    """What Datasette puts around its application."""
    return guarded


@hookimpl  # type: ignore[untyped-decorator, unused-ignore]
def startup() -> None:
    """What Datasette does before it answers."""
    threading.Thread(target=_end_with_parent, args=(sys.stdin.fileno(),), daemon=True).start()


def _end_with_parent(stdin: int) -> None:
    """End when the program that began us has ended, however that came: its end of our stdin is closed then."""
    while os.read(stdin, 1024):  # not by the stream, which a thread may not hold when Python ends
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def guarded(app: App) -> App:
    """The application for requests that name this machine; others are refused."""

    async def answer(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        port = scope["server"][1]
        host = dict(scope["headers"]).get(b"host", b"").decode("latin-1").lower()
        if host not in {f"{name}:{port}" for name in NAMES}:
            await _refuse(send, 403, f"This server answers as 127.0.0.1:{port} only.")
        elif scope["method"] not in ("GET", "HEAD"):
            await _refuse(send, 405, "This server only shows what is there: GET or HEAD.")
        else:
            await app(scope, receive, _telling(send))

    return answer


def _telling(send: Send) -> Send:
    async def tell(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *SAID]}
        await send(message)

    return tell


async def _refuse(send: Send, status: int, sentence: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *SAID]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{sentence}\n".encode()})
