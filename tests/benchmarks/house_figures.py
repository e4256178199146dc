"""Figures of the house: files, lines, and how many own files a run, a row and a report enter.

    python tests/benchmarks/house_figures.py

A file is entered when a function of it runs (not when it is only imported). The sample suite is run with one bot
over ten questions in a scratch folder, then reported.
"""

import ast
import contextlib
import inspect
import io
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import proctor

ROOT = Path(proctor.__file__).parent
FOLDERS = ("bots", "harness", "knowledge", "metrics", "reports")


def sources() -> list[Path]:
    """Every Python file of the product."""
    return [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


@contextlib.contextmanager
def entered() -> Iterator[set[str]]:
    """Names of own files of which some function runs inside the block, in any thread."""
    names: set[str] = set()
    own = {str(path) for path in sources()}

    def look(frame: object, event: str, _: object) -> None:
        code = frame.f_code  # type: ignore[attr-defined]
        if event == "call" and code.co_filename in own and code.co_flags & inspect.CO_OPTIMIZED:
            names.add(code.co_filename)

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        yield names
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]


def command(*arguments: str) -> Callable[[], None]:
    """The command line in this process."""

    def call() -> None:
        from proctor.harness.cli.main import main

        sys.argv = ["proctor", *arguments]
        quiet = io.StringIO()
        with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet), contextlib.suppress(SystemExit):
            main()

    return call


def imported_by(path: Path) -> int:
    """How many own modules a file imports, inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith("proctor")):
            found.add((node.level, node.module))
    return len(found)


def main() -> None:
    """Print every figure beside its goal."""
    files = sources()
    lines = sum(len(path.read_text("utf-8").splitlines()) for path in files)
    tests = sorted((ROOT / "tests").rglob("*.py"))
    test_lines = sum(len(path.read_text("utf-8").splitlines()) for path in tests)
    print(f"product: {len(files)} files, {lines:,} lines (goal about 350 and 65,000)")
    print(f"tests: {len(tests)} files, {test_lines:,} lines")
    modules = [path for path in files if path.name != "__init__.py"]  # a front imports nothing before it is asked
    most = sorted(((imported_by(path), path.relative_to(ROOT).as_posix()) for path in modules), reverse=True)[:5]
    print("most own modules imported (goal 15):", ", ".join(f"{name} {count}" for count, name in most))
    with tempfile.TemporaryDirectory() as scratch:
        database = str(Path(scratch) / "proctor.db")
        with entered() as run:
            command("run", "--db", database, "--bots", "rag", "--limit", "10")()
        with entered() as report:
            command("report", "--db", database, "--html", str(Path(scratch) / "page.html"))()
    print(f"own files entered by a run of one bot: {len(run)} (goal 60)")
    print(f"own files entered by a report: {len(report)} (goal 45)")
    for name in sorted(run):
        print("  run", Path(name).relative_to(ROOT).as_posix())


if __name__ == "__main__":
    main()
