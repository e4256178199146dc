"""Where tables of figures are printed."""

import io

import pytest
from proctor.harness.cli.conventions import TableConsole


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("columns", "width"), [("20", 40), ("60", 60), ("120", 120)])
def test_a_console_is_as_wide_as_the_terminal_and_never_too_narrow_for_figures(monkeypatch, columns, width):
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERM", "xterm")
    console = TableConsole(Terminal())
    assert console.width == width
    console.print("7" * 35, style="bold")
    assert "7" * 35 in console.file.getvalue()


def test_a_file_has_80_columns_and_names_stay_as_they_are(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    file = io.StringIO()
    TableConsole(file).print("a:b: [red]c[/red] " + "x " * 40)
    lines = file.getvalue().splitlines()
    assert lines[0].startswith("a:b: [red]c[/red] x")
    assert max(map(len, lines)) <= 80
