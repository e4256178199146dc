"""Sessions that the documentation shows, in blocks of ``console``, run and compared.

``python tests/support/shown.py [PAGE ...]`` rewrites them.
"""

import difflib
import functools
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from typed import proctor

ROOT = Path(__file__).parents[2]
PAGES = tuple(
    ROOT / name
    for name in (
        "README.md", "bots/README.md", "knowledge/README.md", "metrics/README.md", "reports/README.md",
        "harness/README.md", "harness/TUTORIAL.md", "harness/COMING_FROM.md",
    )
)  # fmt: skip
# Pages whose blocks, files among them, follow one another in a folder that is empty at first, and what it is called.
STORIES = {"TUTORIAL.md": "library", "COMING_FROM.md": "moving"}
ELISION = "..."
_BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```)", re.DOTALL | re.MULTILINE)
_FENCED = re.compile(r"^```(\w*) ?(\S*)\n(.*?)^```", re.DOTALL | re.MULTILINE)  # a language, and a file's name
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?|\.\d+")
# What a clock or the run's name says is different each time.
_PASSING = (
    (re.compile(r"\b\d{8}-\d{6}-[0-9a-f]{4}\b"), "RUN"),
    (re.compile(r"[\d,.]+x \[.*$"), "TIMES"),
    (re.compile(r"[\d,.]+ (?:ms|s|min)\b"), "TIME"),
    (re.compile(r"(?<=\d) +\d+\.\d$"), " TIME"),  # the column ms of a grid
)


@dataclass(frozen=True)
class Typed:
    """A command and the lines below it."""

    command: str
    lines: tuple[str, ...]


def session(block: str) -> list[Typed]:
    """What is typed in a block, and what it prints."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [Typed(first, tuple(rest)) for first, *rest in (part.rstrip("\n").split("\n") for part in parts)]


def blocks(page: Path) -> list[str]:
    """The sessions of a page."""
    return _BLOCK.findall(page.read_text("utf-8"))


class Shell:
    """Runs sessions: one that begins with ``proctor init`` in a folder of its own, others where the sample was run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sample = folder / "sample"
        self.outputs = functools.cache(self._outputs)

    def printed(self, page: Path) -> Iterator[list[str]]:
        """What each command of each session of a page prints."""
        if page.name in STORIES:
            yield from self._story(page)
            return
        for block in blocks(page):
            yield self.outputs(tuple(each.command for each in session(block)))

    def _story(self, page: Path) -> Iterator[list[str]]:
        folder = self._folder / STORIES[page.name]
        folder.mkdir()
        for language, name, text in _FENCED.findall(page.read_text("utf-8")):
            if name:
                (folder / name).parent.mkdir(exist_ok=True)
                (folder / name).write_text(text, "utf-8")
            elif language == "console":
                yield [_output(each.command, folder) for each in session(text)]

    def _outputs(self, commands: tuple[str, ...]) -> list[str]:
        if commands == ("proctor run",):
            self._sample.mkdir()
            return [_output(commands[0], self._sample)]
        self.outputs(("proctor run",))
        if not commands[0].startswith("proctor init"):
            return [_output(command, self._sample) for command in commands]
        own = Path(tempfile.mkdtemp(dir=self._folder))
        shutil.copyfile(self._sample / "proctor.db", own / "proctor.db")  # answers are cached
        return [_output(command, own) for command in commands]


def _output(command: str, folder: Path) -> str:
    if command.startswith("proctor "):
        return proctor(*shlex.split(command)[1:], folder=folder).stdout
    command = re.sub(r"^python ", f"{shlex.quote(sys.executable)} ", command)
    return subprocess.run(command, shell=True, cwd=folder, check=True, capture_output=True, text=True).stdout  # noqa: S602


def differences(shown: Sequence[str], printed: str) -> Iterator[str]:
    """What is shown and was not printed there; an elision stands for any lines, blank lines for none."""
    lines = [line for line in printed.splitlines() if line.strip()]
    place, may_skip = 0, False
    for line in shown:
        if line.strip() == ELISION:
            may_skip = True
        elif line.strip():
            found = next((at for at in range(place, len(lines)) if _agree(line, lines[at])), None)
            if found is None or (found > place and not may_skip):
                yield f"{line!r} was shown; {lines[place : place + 3] or 'nothing more'} was printed"
                return
            place, may_skip = found + 1, False
    if place < len(lines) and not may_skip and shown:
        yield f"{lines[place]!r} was printed, and is not shown"


def _agree(shown: str, printed: str) -> bool:
    """Whether two lines are the same, but for the last decimal of a figure, which differs among processors."""
    lasting, now = _lasting(shown), _lasting(printed)
    if _NUMBER.sub("#", lasting) != _NUMBER.sub("#", now):
        return False
    return all(_close(*pair) for pair in zip(_NUMBER.findall(lasting), _NUMBER.findall(now), strict=True))


def _close(shown: str, printed: str) -> bool:
    decimals = len(shown.partition(".")[2])
    if not decimals or len(printed.partition(".")[2]) != decimals:
        return shown == printed
    return abs(float(shown.replace(",", "")) - float(printed.replace(",", ""))) < 1.5 * 10**-decimals


def _lasting(line: str) -> str:
    for pattern, word in _PASSING:
        line = pattern.sub(word, line.rstrip())
    return " ".join(line.split())


def rewritten(typed: Typed, printed: str) -> Typed:
    """The same lines as they are printed now; one that has no like is left out."""
    lines, made, place, may_skip = [line for line in printed.splitlines() if line.strip()], [], 0, False
    for line in typed.lines:
        if not line.strip() or line.strip() == ELISION:
            made.append(line)
            may_skip |= bool(line.strip())
            continue
        wanted = _NUMBER.sub("#", _lasting(line))
        rest = [_NUMBER.sub("#", _lasting(each)) for each in lines[place:]]
        likes = [difflib.SequenceMatcher(None, wanted, each).ratio() for each in rest]
        if not likes or max(likes) < 0.6:
            continue
        found = place + likes.index(max(likes))
        if not may_skip:
            made += lines[place:found] if found - place <= 3 else [ELISION]
        made.append(line if _agree(line, lines[found]) else lines[found])
        place, may_skip = found + 1, False
    if place < len(lines) and not may_skip and typed.lines:
        made.append(ELISION)
    return Typed(typed.command, tuple(made))


def rewrite(page: Path, shell: Shell) -> list[str]:
    """Write a page with what its sessions print now; returns what still differs."""
    left: list[str] = []
    printed = shell.printed(page)

    def fresh(found: re.Match[str]) -> str:
        outputs = next(printed)
        made = [rewritten(each, output) for each, output in zip(session(found[0]), outputs, strict=True)]
        for each, output in zip(made, outputs, strict=True):
            left.extend(f"{page}: $ {each.command}: {difference}" for difference in differences(each.lines, output))
        return "".join(f"$ {each.command}\n" + "".join(f"{line}\n" for line in each.lines) for each in made)

    page.write_text(_BLOCK.sub(fresh, page.read_text("utf-8")), "utf-8")
    return left


if __name__ == "__main__":
    named = [page for page in PAGES if not sys.argv[1:] or page.relative_to(ROOT).as_posix() in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as scratch:
        running = Shell(Path(scratch))
        left = [line for page in named for line in rewrite(page, running)]
    print("\n".join(left) or "All sessions print what is shown.")
