"""Random one-line changes of the product, and how many of them the tests of the room notice: goal 19 of 20.

    python tests/benchmarks/mutations.py [--count 20] [--seed 1] [--seconds 240]

Each change is made in a copy of the checkout: a comparison turned round, a ``not`` dropped, a number off by one, two
signs or ``and`` and ``or`` exchanged, a result thrown away. First those tests run that import the changed module or are
called after it, then those that share the rarest words with the names around the changed line, then those of its room,
until one fails or the time is over. What is not noticed is printed with its file and line: either a test is missing, or
the change changes nothing that anybody could see. The other tests are not run, so that the figure is a lower bound.
Options of pytest go into ``PYTEST_ADDOPTS``.
"""

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLOORS = ("bots", "harness", "knowledge", "metrics", "reports")
COMPARED = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"), ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="), ast.In: (" in ", " not in "), ast.NotIn: ("not in", "in"), ast.Is: (" is ", " is not "),
    ast.IsNot: ("is not", "is"),
}  # fmt: skip
SPEAKING = 6  # test files that are run for what they speak of
UNNOTICED = ("survived", "time is over")
SIGNS = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*")}


@dataclass(frozen=True, slots=True)
class Change:
    """One line of a file, as it is and as it becomes."""

    file: str
    line: int
    before: str
    after: str


def changes(file: Path) -> Iterator[Change]:
    """Every change that is made of a file; what stands in annotations and docstrings is left alone."""
    lines = file.read_text("utf-8").splitlines()
    tree = ast.parse("\n".join(lines))
    skipped = {id(inner) for node in ast.walk(tree) for part in _not_run(node) for inner in ast.walk(part)}
    for node in ast.walk(tree):
        if id(node) in skipped or getattr(node, "lineno", 0) != getattr(node, "end_lineno", 1):
            continue
        for start, end, new in _edits(node, lines):
            text = lines[node.lineno - 1]
            yield Change(str(file.relative_to(ROOT)), node.lineno, text, f"{text[:start]}{new}{text[end:]}")


def _not_run(node: ast.AST) -> Iterator[ast.AST]:
    for name in ("annotation", "returns"):
        if (part := getattr(node, name, None)) is not None:
            yield part
    if isinstance(node, ast.JoinedStr):  # columns within f-strings are not those of the line before Python 3.12
        yield from node.values
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        yield node.value


def _edits(node: ast.AST, lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Places on the line of a node, and what comes there. Columns count bytes, so lines with other letters are out."""
    if not (isinstance(node, ast.expr | ast.stmt) and lines[node.lineno - 1].isascii()):
        return
    text = lines[node.lineno - 1]
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARED:
            yield from _exchanged(text, left.end_col_offset or 0, right.col_offset, *COMPARED[type(op)])
        case ast.BinOp(left=left, op=op, right=right) if type(op) in SIGNS:
            yield from _exchanged(text, left.end_col_offset or 0, right.col_offset, *SIGNS[type(op)])
        case ast.BoolOp(op=op, values=[first, second, *_]):
            names = ("and", "or") if isinstance(op, ast.And) else ("or", "and")
            yield from _exchanged(text, first.end_col_offset or 0, second.col_offset, *names)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield node.col_offset, operand.col_offset, ""
        case ast.Constant(value=int(value)) if type(value) is int:
            yield node.col_offset, node.end_col_offset or 0, str(value + 1)
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield value.col_offset, value.end_col_offset or 0, "None"


def _exchanged(text: str, start: int, end: int, old: str, new: str) -> Iterator[tuple[int, int, str]]:
    if 0 <= start < end and (place := text.find(old, start, end)) >= 0:
        yield place, place + len(old), new


def tests_of(change: Change) -> list[list[str]]:
    """The test files that import the module, those that speak of the changed lines, and the others of its room."""
    path = Path(change.file)
    module = ".".join(("proctor", *path.with_suffix("").parts))
    room = ROOT / "tests" / path.parent
    while not any(room.glob("test_*.py")):
        room = room.parent
    texts = {each: each.read_text("utf-8") for each in sorted((ROOT / "tests").rglob("test_*.py"))}
    its = f"test_{path.stem}"
    near = [each for each, text in texts.items() if module in text or each.stem in (its, f"{its}_command")]
    near.sort(key=lambda each: each.stem not in (its, f"{its}_command"))
    spoken = [each for each in _speaking(names_around(change), texts) if each not in near]
    nearby = [each for each in texts if each.parent == room and each not in (*near, *spoken)]
    return [[str(each.relative_to(ROOT)) for each in part] for part in (near, spoken, nearby) if part]


def names_around(change: Change) -> set[str]:
    """The words of the functions and classes that the line is in, and of its file."""
    tree = ast.parse((ROOT / change.file).read_text("utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    around = [each for each in ast.walk(tree) if isinstance(each, kinds) and _spans(each, change.line)]
    written = " ".join([Path(change.file).stem, *(each.name for each in around)])
    return {word.casefold() for word in re.findall(r"[A-Z]?[a-z]{2,}|[A-Z]{3,}", written)}


def _spans(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or 0)


def _speaking(words: set[str], texts: Mapping[Path, str]) -> list[Path]:
    """The few test files that hold most of the words, each counted the more the fewer files hold it."""
    files_of = {
        word: {each for each, text in texts.items() if word in text.casefold() and each.parent.name != "tests"}
        for word in words
    }
    marks = {each: sum(1 / len(files) for files in files_of.values() if each in files) for each in texts}
    return sorted((each for each in texts if marks[each]), key=lambda each: -marks[each])[:SPEAKING]


def noticed(change: Change, copy: Path, seconds: float) -> str:
    """The test that failed, ``survived`` or ``time is over``, after the tests ran in the copy with the change in it."""
    file, began = copy / change.file, time.monotonic()
    text = file.read_text("utf-8")
    lines = text.splitlines()
    lines[change.line - 1] = change.after
    file.write_text("\n".join(lines) + "\n", "utf-8")
    try:
        for files in tests_of(change):
            command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", *files]
            left = seconds - (time.monotonic() - began)
            done = subprocess.run(
                command, cwd=copy, timeout=max(left, 1), capture_output=True, text=True,
                env=os.environ | {"PYTHONPATH": str(copy.parent)},
            )  # fmt: skip
            if done.returncode not in (0, 5):
                return next(
                    (line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))), "crashed"
                )
    except subprocess.TimeoutExpired:
        return "time is over"
    finally:
        file.write_text(text, "utf-8")
    return "survived"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=240.0, help="for the tests of one change")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    every = [change for floor in FLOORS for file in sorted((ROOT / floor).rglob("*.py")) for change in changes(file)]
    chosen = chance.sample(every, options.count)
    results = []
    with tempfile.TemporaryDirectory() as made:
        copy = Path(made) / "proctor"
        if (shared := ROOT.parent / "shared").exists():  # else tests of public data sets are skipped
            (copy.parent / "shared").symlink_to(shared.resolve())
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", "__pycache__", ".*_cache", "build"))
        for number, change in enumerate(chosen, 1):
            results.append(noticed(change, copy, options.seconds))
            print(f"{number:>3} {change.file}:{change.line}: {change.before.strip()}")
            print(f"    became {change.after.strip()}")
            print(f"    {results[-1]}", flush=True)
    caught = sum(result not in UNNOTICED for result in results)
    print(f"caught {caught} of {len(results)} out of {len(every):,} changes; goal 19 of 20")


if __name__ == "__main__":
    main()
