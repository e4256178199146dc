"""OTLP receiver: takes spans over HTTP on a loopback port, and puts them into a file as they come."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import orjson

from ... import InputError
from ...knowledge.formats.otel import count_spans, otlp_object
from ..run import Interrupts
from .serving import LOOPBACK, bound_socket, hosts_of

if TYPE_CHECKING:
    from aiohttp import web

PORT: Final = 4318  # where exporters send OTLP over HTTP if nobody says otherwise
PATH: Final = "/v1/traces"
_MOST: Final = 64 << 20  # bytes of a request, unpacked
_JSON: Final = "application/json"
_PROTOBUF: Final = "application/x-protobuf"
_STEP: Final = 0.1  # seconds between two looks at the clock


@dataclass(slots=True)
class Received:
    """How much came: requests that were taken, their spans, and requests that were refused."""

    requests: int = 0
    spans: int = 0
    refused: int = 0


def receive(
    file: Path, port: int, ready: Callable[[str], None], seconds: float | None = None, idle: float | None = None
) -> Received:
    """Write each export request as a line of OTLP JSON, until the time is over, or a signal (Ctrl-C) ends it.

    Args:
        file: the file to write.
        port: of 127.0.0.1; 0 for any that is free.
        ready: called with the address once requests are taken.
        seconds: how long at most; None for no end.
        idle: end when nothing has come for so many seconds after the first request; None for never.

    Raises:
        InputError: the port is not available.
    """
    listening = bound_socket(port)
    received = Received()
    # Whoever presses Ctrl-C wants what came until then.
    with file.open("wb") as lines, contextlib.suppress(KeyboardInterrupt), Interrupts() as interrupts:
        interrupts.run(_Receiver(lines, received, listening.getsockname()[1]).run(listening, ready, seconds, idle))
    return received


class _Receiver:
    def __init__(self, lines: IO[bytes], received: Received, port: int) -> None:
        self._lines = lines
        self._received = received
        self._port = port
        self._last = 0.0

    async def run(
        self, listening: object, ready: Callable[[str], None], seconds: float | None, idle: float | None
    ) -> None:
        """Take requests until the time is over."""
        from aiohttp import web

        application = web.Application(client_max_size=_MOST)
        application.router.add_post(PATH, self._take)
        runner = web.AppRunner(application, handle_signals=False, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.SockSite(runner, listening).start()  # type: ignore[arg-type]  # a socket
            ready(f"http://{LOOPBACK}:{self._port}{PATH}")
            end = None if seconds is None else time.monotonic() + seconds
            while end is None or time.monotonic() < end:
                if idle is not None and self._last and time.monotonic() - self._last >= idle:
                    break
                await asyncio.sleep(_STEP)
        finally:
            await runner.cleanup()

    async def _take(self, request: web.Request) -> web.Response:
        from aiohttp import web

        kind = request.content_type
        if request.headers.get("Host", "").lower() not in hosts_of(self._port):  # a page of another site
            return self._refused(403, f"this receiver answers as {LOOPBACK}:{self._port} only")
        if kind not in (_JSON, _PROTOBUF):
            return self._refused(415, f"the content type is {kind}; wanted is {_PROTOBUF} or {_JSON}")
        try:
            body = await request.read()
            found = orjson.loads(body) if kind == _JSON else otlp_object(body, "the request")
        except web.HTTPRequestEntityTooLarge:
            return self._refused(413, f"the request is larger than {_MOST >> 20} MB; export smaller batches")
        except web.HTTPException:
            raise
        except (orjson.JSONDecodeError, InputError) as error:
            return self._refused(400, str(error))
        if not isinstance(found, dict) or not isinstance(found.get("resourceSpans", []), list):
            return self._refused(400, "an object with the list `resourceSpans` was wanted")
        try:
            spans = count_spans(found)
        except (AttributeError, TypeError):
            return self._refused(400, "`resourceSpans` is not as OTLP has it")
        if spans:
            self._lines.write(orjson.dumps(found) + b"\n")
        self._received.requests += 1
        self._received.spans += spans
        self._last = time.monotonic()
        return web.Response(body=b"{}" if kind == _JSON else b"", content_type=kind)

    def _refused(self, status: int, why: str) -> web.Response:
        from aiohttp import web

        self._received.refused += 1
        return web.json_response({"message": why}, status=status)
