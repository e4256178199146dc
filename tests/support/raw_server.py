"""RawServer: a real HTTP server on loopback that says whatever a test orders, and keeps what it was sent."""

import threading
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Said:
    """What the server says."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})


@dataclass(frozen=True)
class Heard:
    """What it was sent."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class RawServer:
    """For ``with``; ``url`` has no slash at its end, ``heard`` is every request that came in."""

    def __init__(self, say: Callable[[Heard], Said]) -> None:
        self.heard: list[Heard] = []
        heard = self.heard

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _answer(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                request = Heard(self.command, self.path, dict(self.headers.items()), self.rfile.read(length))
                heard.append(request)
                said = say(request)
                self.send_response(said.status)
                for name, value in said.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(said.body)))
                self.end_headers()
                try:
                    self.wfile.write(said.body)
                except OSError:
                    self.close_connection = True  # who asked has read enough

            do_GET = do_POST = do_PUT = _answer  # noqa: N815 - names of the library

            def log_message(self, *_: object) -> None:
                """Nobody reads it."""

        self._server = _Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "RawServer":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def bomb(megabytes: int, start: bytes = b"", end: bytes = b"") -> bytes:
    """So many MB of the letter a, packed a hundredfold or more, without ever being held unpacked."""
    packing = zlib.compressobj(1, zlib.DEFLATED, 31)
    letters = b"a" * (1 << 20)
    pieces = (start, *(letters for _ in range(megabytes)), end)
    return b"".join([*(packing.compress(piece) for piece in pieces), packing.flush()])


class _Quiet(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """Who asked may hang up: that is what some tests want to see."""
