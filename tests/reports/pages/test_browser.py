"""Where the browser can't be driven, tests of pages are skipped with the reason, and any other fault is a fault."""

import sys
from pathlib import Path

import pytest
from browser import BROWSERS, chromium
from selenium.common.exceptions import SessionNotCreatedException

# A driver that is there and refuses every session.
REFUSING = """#!{python}
import http.server, json, os, sys

class Refusing(http.server.BaseHTTPRequestHandler):
    def answer(self, status, value):
        body = json.dumps({{"value": value}}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(200, {{"ready": True, "message": ""}})
        if self.path == "/shutdown":
            os._exit(0)

    def do_POST(self):
        self.answer(500, {{"error": "session not created", "message": {message!r}, "stacktrace": ""}})

    def log_message(self, *said):
        pass

port = next(int(each.partition("=")[2]) for each in sys.argv if each.startswith("--port="))
http.server.ThreadingHTTPServer(("127.0.0.1", port), Refusing).serve_forever()
"""


def programs(folder: Path, monkeypatch: pytest.MonkeyPatch, message: str) -> None:
    """A browser and a driver in the only folder where programs are looked for."""
    for name, text in ((BROWSERS[0], "#!/bin/sh\n"), ("chromedriver", REFUSING)):
        path = folder / name
        path.write_text(text.format(python=sys.executable, message=message))
        path.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def test_without_a_browser_tests_are_skipped_and_say_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(pytest.skip.Exception, match="apt-get install chromium"), chromium(tmp_path / "profile"):
        pass


def test_a_driver_of_another_version_is_told(tmp_path, monkeypatch):
    said = "session not created: This version of ChromeDriver only supports Chrome version 1\nCurrent version is 2"
    programs(tmp_path, monkeypatch, said)
    with pytest.raises(pytest.skip.Exception, match=r"don't fit.* version 1 Current version is 2"):
        chromium(tmp_path / "profile").__enter__()


def test_a_browser_that_breaks_is_no_reason_to_skip(tmp_path, monkeypatch):
    programs(tmp_path, monkeypatch, "session not created: Chrome failed to start: crashed")
    with pytest.raises(SessionNotCreatedException, match="crashed"):
        chromium(tmp_path / "profile").__enter__()
