"""Review: a person decides on drafts one after the other, and each decision is on disk before the next is asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from ... import InputError
from ...knowledge.question_editing import raw_rows, with_questions, with_row
from ...knowledge.question_files import open_questions
from ...knowledge.question_writing import extra_keys, question_pieces
from ...knowledge.questions import DRAFT, MOVED, REJECTED, Question
from ...knowledge.rows import Row
from ...reports.whole_files import whole_file
from ..suite.suite_file import load_named
from .drafting import PASSAGE

_NAMES: Final = {
    DRAFT: (DRAFT,),
    PASSAGE: (PASSAGE,),
    "question": ("question", "text"),
    "answer": ("expected_answers", "expected_answer", "expected"),
}
_REMEMBERED: Final = 64_000_000  # bytes of files as they were, to go back to
_OF_A_SUITE: Final = re.compile(r"(?:^|[{,]\s*)[\"']?bots[\"']?\s*:", re.MULTILINE)


@dataclass(slots=True)
class Tally:
    """Decisions of this sitting."""

    accepted: int = 0
    rejected: int = 0
    edited: int = 0


@dataclass(slots=True)
class _Step:
    """One step: the place it was made at, and files as they were before it and after."""

    place: int
    before: dict[Path, bytes | None] = field(default_factory=dict)
    after: dict[Path, bytes] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)


class Review:
    """The drafts of a file that wait, in their order.

    Args:
        path: a file of questions among which drafts are.
        into: the file to which accepted ones are added; None to take only their mark away.

    Raises:
        InputError: a file can't be read, or there is no draft that waits.
    """

    def __init__(self, path: Path, into: Path | None = None) -> None:
        self.path = path
        self.into = None if into is None or into.resolve() == path.resolve() else into
        self.tally = Tally()
        self._read()
        if self.into is not None:
            question_pieces(self.into, "--into")
            if not self.into.parent.is_dir():
                raise InputError(f"--into: the folder {self.into.parent} does not exist.")
        self._places = [place for place, each in enumerate(self._questions) if each.extra.get(DRAFT) is True]
        self._at = 0
        self._steps: list[_Step] = []
        if self.into is not None and self.into.is_file() and self.into.stat().st_size:
            open_questions(self.into, drafts=True)  # so that it is known now whether it can be read

    @property
    def waiting(self) -> int:
        """How many drafts there were to decide on."""
        return len(self._places)

    @property
    def number(self) -> int:
        """Which of them is shown, from 1."""
        return self._at + 1

    @property
    def left(self) -> int:
        """How many are still marked as drafts."""
        return sum(each.extra.get(DRAFT) is True for each in self._questions)

    @property
    def current(self) -> Question | None:
        """The draft to decide on; None when all were shown."""
        return self._questions[self._places[self._at]] if self._at < len(self._places) else None

    def accept(self) -> None:
        """Make a question of it: its mark goes, and where it is to stand elsewhere it is added there first.

        Raises:
            InputError: somebody else has changed the draft meanwhile; this holds for ``reject`` and ``edit`` too.
        """
        self._check()
        step = self._begin()
        if self.into is None:
            self._change(step, {DRAFT: None, PASSAGE: None})
        else:
            self._add(step, self.into)
            self._change(step, {DRAFT: MOVED})
        self.tally.accepted += 1
        self._at += 1

    def reject(self) -> None:
        """Want none of it: it stays with another mark, so that it is not drafted again."""
        self._check()
        self._change(self._begin(), {DRAFT: REJECTED})
        self.tally.rejected += 1
        self._at += 1

    def skip(self) -> None:
        """Decide later."""
        self._begin()
        self._at += 1

    def edit(self, question: str = "", answer: str = "") -> None:
        """Give it other words; it still waits.

        Raises:
            InputError: the file is a table without a column for the answer.
        """
        new = {key: text for key, text in (("question", question), ("answer", answer)) if text.strip()}
        if new:
            self._check()
            self._change(self._begin(), new)
            self.tally.edited += 1

    def back(self) -> bool:
        """Take the last step back, with what it wrote; False where there is none.

        Raises:
            InputError: somebody else has changed a file since.
        """
        if not self._steps:
            return False
        step = self._steps[-1]
        for path, content in step.after.items():
            if not path.is_file() or path.read_bytes() != content:
                raise InputError(f"{path} was changed by somebody else meanwhile, so that step can't be taken back.")
        for path, before in step.before.items():
            if before is None:
                path.unlink()
            else:
                _write(path, before)
        self._steps.pop()
        self._at, self.tally = step.place, step.tally
        self._read()
        return True

    def _read(self) -> None:
        self._questions = tuple(open_questions(self.path, drafts=True))

    def _check(self) -> None:
        """See that the draft stands in its place as it was shown, whoever else has written to the file since."""
        place = self._places[self._at]
        fresh = tuple(open_questions(self.path, drafts=True))
        if place >= len(fresh) or _shown(fresh[place]) != _shown(self._questions[place]):
            raise InputError(f"This draft was changed in {self.path} by somebody else; leave it (s), or start again.")
        self._questions = fresh

    def _begin(self) -> _Step:
        step = _Step(self._at, tally=replace(self.tally))
        self._steps.append(step)
        while sum(len(each or b"") for one in self._steps for each in one.before.values()) > _REMEMBERED:
            self._steps.pop(0)
        return step

    def _add(self, step: _Step, into: Path) -> None:
        draft = self.current
        if draft is None:
            return
        is_there = into.is_file() and into.stat().st_size > 0
        others = list(open_questions(into, drafts=True)) if is_there else []
        if any(other.id == draft.id and other.text == draft.text for other in others):
            return  # it was added when somebody stopped us between the two files
        question = replace(draft, id=_free(draft.id, {other.id for other in others}), extra=_plain(draft.extra))
        if is_there:
            content = with_questions(into, [question])
        else:
            content = b"".join(question_pieces(into, "--into")([question], extra_keys([question])))
        step.before[into] = into.read_bytes() if into.is_file() else None
        _write(into, content)
        step.after[into] = content

    def _change(self, step: _Step, changes: Mapping[str, object]) -> None:
        line, row = raw_rows(self.path)[self._places[self._at]]
        named: dict[str, object] = {}
        for what, value in changes.items():
            key = _key(row, what)
            if key is not None:
                named[key] = [value] if what == "answer" and isinstance(row[key], list) else value
            elif what == "answer" and self.path.suffix.lower() in (".csv", ".tsv", ".tab"):
                raise InputError(f"{self.path} has no column expected_answer, so there is no place for an answer.")
            elif value is not None:
                named["expected_answer" if what == "answer" else what] = value
        before = self.path.read_bytes()
        content = with_row(self.path, line, named)
        _write(self.path, content)
        step.before[self.path], step.after[self.path] = before, content
        self._read()


def file_of(path: Path) -> Path:
    """The file of questions that is meant: the one that is named, or that of the suite that is.

    Raises:
        InputError: a suite is named that can't be read.
    """
    if path.is_dir() or (str(path) == "sample" and not path.exists()):
        return _questions_of(path)
    if path.suffix.lower() in (".yaml", ".yml", ".json") and path.is_file():
        start = path.read_bytes().decode("utf-8", "replace")
        if not start.lstrip("\ufeff \r\n\t").startswith(("[", "-")) and _OF_A_SUITE.search(start):
            return _questions_of(path)
    return path


def _questions_of(suite: Path) -> Path:
    loaded = load_named(suite)
    return loaded.base / loaded.suite.questions


def _shown(draft: Question) -> tuple[object, ...]:
    return draft.id, draft.text, draft.expected, draft.extra.get(DRAFT)


def _key(row: Row, what: str) -> str | None:
    plain = {key.strip().lower().replace(" ", "_").replace("-", "_"): key for key in row}
    present = [plain[name] for name in _NAMES[what] if name in plain]
    return next((key for key in present if row[key]), present[0] if present else None)


def _plain(extra: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in extra.items() if key not in (DRAFT, PASSAGE)}


def _free(identity: str, taken: set[str]) -> str:
    free, number = identity, 2
    while free in taken:
        free, number = f"{identity}-{number}", number + 1
    return free


def _write(path: Path, content: bytes) -> None:
    with whole_file(path) as file:
        file.write(content)
