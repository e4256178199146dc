"""Where tables of figures are printed."""

import io

import pytest
from proctor.harness.cli.console import TableConsole


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("columns", "width"), [("60", 80), ("80", 80), ("120", 120)])
def test_a_terminal_is_never_too_narrow_for_figures(monkeypatch, columns, width):
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERM", "xterm")
    console = TableConsole(Terminal())
    assert console.width == width
    console.print("7" * 70, style="bold")
    assert "7" * 70 in console.file.getvalue()


def test_a_file_has_80_columns_and_names_stay_as_they_are(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    file = io.StringIO()
    TableConsole(file).print("a:b: [red]c[/red] " + "x " * 40)
    lines = file.getvalue().splitlines()
    assert lines[0].startswith("a:b: [red]c[/red] x")
    assert max(map(len, lines)) <= 80
