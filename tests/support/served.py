"""A server of ours as a program of its own, and what it answers to a plain client."""

import contextlib
import gzip
import hashlib
import http.client
import json
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from suites import PROGRAM


@dataclass(frozen=True)
class Told:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        packed = self.headers.get("content-encoding") == "gzip"
        return (gzip.decompress(self.body) if packed else self.body).decode()

    @property
    def json(self) -> Any:
        return json.loads(self.text)


@dataclass
class Server:
    """A program that told its address."""

    process: subprocess.Popen[str]
    address: str
    ended: subprocess.CompletedProcess[str] | None = field(default=None)

    @property
    def port(self) -> int:
        port = urlsplit(self.address).port
        assert port is not None
        return port

    def ask(self, path: str, method: str = "GET", **headers: str) -> Told:
        """One request; headers by their names with underscores."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, headers=named)
            reply = connection.getresponse()
            return Told(reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read())
        finally:
            connection.close()

    def end(self, how: signal.Signals = signal.SIGINT) -> subprocess.CompletedProcess[str]:
        """End it as Ctrl-C does."""
        self.process.send_signal(how)
        out, err = self.process.communicate(timeout=60)
        self.ended = subprocess.CompletedProcess([], self.process.returncode, out, err)
        return self.ended


@contextlib.contextmanager
def served(*arguments: object, folder: Path) -> Iterator[Server]:
    """Start ``view`` or ``explore`` and wait for its address."""
    process = subprocess.Popen(
        [*PROGRAM, *map(str, arguments)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), f"{address}{process.communicate(timeout=60)}"
        yield Server(process, address)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate(timeout=60)


def digest(path: Path) -> tuple[str, int]:
    """What a file is made of, and when it was last written."""
    return hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns
