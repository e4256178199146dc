"""Redaction: what is kept of settings, addresses and command lines has no secret in it."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from proctor.bots.redaction import redacted_command
from suites import write_suite
from tables import in_one_test
from typed import plugin_options, pytest_session


@in_one_test(
    ("typed", "kept"),
    [
        (["run", "s.yaml", "--limit", "3"], ["run", "s.yaml", "--limit", "3"]),
        (["--judge-url", "http://me:pw@host:80/v1"], ["--judge-url", "http://***@host:80/v1"]),
        (["--judge-url=http://me:pw@host/v1"], ["--judge-url=http://***@host/v1"]),
        (["--judge-url", "http://host/v1?api_key=k&n=1"], ["--judge-url", "http://host/v1?api_key=***&n=1"]),
        (["role=https://me:pw@host/m"], ["role=https://***@host/m"]),
        (["--judge-url", "http://me:p/w@host"], ["--judge-url", "***"]),
        (["--judge-url", "http://[host"], ["--judge-url", "***"]),
        (["--api-key", "k", "--token=t", "-x"], ["--api-key", "***", "--token=***", "-x"]),
        (["--api-key", "$KEY", "--password", "--html", "-"], ["--api-key", "$KEY", "--password", "--html", "-"]),
        (["--judge", "openai:name", "--bots", "a,b"], ["--judge", "openai:name", "--bots", "a,b"]),
    ],
)
def test_a_command_line_is_kept_without_its_secrets(typed: list[str], kept: list[str]) -> None:
    assert redacted_command(typed) == kept


def test_no_secret_that_was_typed_is_in_the_database(tmp_path: Path) -> None:
    write_suite(tmp_path, "def answer(question):\n    return 'yes'\n", 2)
    (tmp_path / "test_bot.py").write_text("def test_it(proctor):\n    assert proctor.run('suite.yaml')\n")
    (tmp_path / "conftest.py").write_text("def pytest_addoption(parser):\n    parser.addoption('--at')\n")
    done = pytest_session(*plugin_options(), "--at", "https://me:hunter2@host/v1", folder=tmp_path)
    assert done.returncode == 0, done.stdout
    (database,) = tmp_path.rglob("*.db")
    with closing(sqlite3.connect(database)) as connection:
        ((manifest,),) = connection.execute("SELECT manifest FROM runs")
    assert "https://***@host/v1" in json.loads(manifest)["command"]
    assert not any(b"hunter2" in each.read_bytes() for each in database.parent.glob("*.db*"))
