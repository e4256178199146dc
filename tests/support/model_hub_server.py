"""A server that speaks as much of the protocol of the Hugging Face hub as its library needs to fetch a model."""

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class ModelHubServer:
    """Models by name, each with the folder that holds its files; ``requests`` are those that came, in their order."""

    def __init__(self, models: Mapping[str, Path], token: str = "", fails_on: str = "") -> None:
        """Prepare.

        Args:
            models: folder by name (``owner/name``).
            token: without which nothing is given; empty asks for none.
            fails_on: answers with an error of the server when the content of the file of this name is wanted.
        """
        self.models, self.token, self.fails_on = models, token, fails_on
        self.requests: list[tuple[str, str]] = []
        self.url = ""

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        path = unquote(urlsplit(handler.path).path)
        self.requests.append((handler.command, path))
        if self.token and handler.headers.get("Authorization") != f"Bearer {self.token}":
            _send(handler, 401, b"{}", {"X-Error-Message": "Invalid credentials in Authorization header"})
            return
        is_api = path.startswith("/api/models/")
        owner, name, kind, revision, *inside = path.removeprefix("/api/models").strip("/").split("/")
        folder = self.models.get(f"{owner}/{name}")
        if folder is None:
            _send(handler, 404, b"{}", {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"})
        elif revision not in {"main", COMMIT}:
            _send(handler, 404, b"{}", {"X-Error-Code": "RevisionNotFound", "X-Error-Message": "No such revision"})
        elif is_api and kind == "revision":
            _send(handler, 200, json.dumps({"id": f"{owner}/{name}", "sha": COMMIT, "siblings": []}).encode())
        elif is_api and kind == "tree":
            _send(handler, 200, json.dumps(_listed(folder)).encode())
        else:
            self._send_file(handler, folder / "/".join(inside))

    def _send_file(self, handler: BaseHTTPRequestHandler, path: Path) -> None:
        content = path.read_bytes()
        headers = {"ETag": f'"{_oid(content)}"', "X-Repo-Commit": COMMIT}
        if path.name == self.fails_on and handler.command == "GET":
            _send(handler, 500, b"")
        else:
            _send(handler, 200, content, headers)


@contextmanager
def serving(models: Mapping[str, Path], token: str = "", fails_on: str = "") -> Iterator[ModelHubServer]:
    """The server, at its ``url``, for as long as the block lasts."""
    hub = ModelHubServer(models, token, fails_on)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            hub.answer(self)

        def do_HEAD(self) -> None:
            hub.answer(self)

        def log_message(self, *_: object) -> None:
            """Be silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _listed(folder: Path) -> list[dict[str, object]]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return [
        {
            "type": "file",
            "path": path.relative_to(folder).as_posix(),
            "size": path.stat().st_size,
            "oid": _oid(path.read_bytes()),
        }
        for path in files
    ]


def _oid(content: bytes) -> str:
    return hashlib.sha1(content, usedforsecurity=False).hexdigest()


def _send(
    handler: BaseHTTPRequestHandler,
    status: int,
    content: bytes,
    headers: Mapping[str, str] | None = None,
) -> None:
    handler.send_response(status)
    for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    if handler.command != "HEAD":
        handler.wfile.write(content)
