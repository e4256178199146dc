"""Label sheet: rows as a table that people fill in with a spreadsheet, and the same table read back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ... import InputError
from ...knowledge.row_files import open_rows
from ...knowledge.rows import Reading
from ..frames import csv_line
from .labelled_rows import ScoredRow, ShownRow

COLUMNS = (
    "row", "metric", "bot", "question_id", "repeat", "question", "expected", "answer", "contexts", "verdict", "write",
    "drawn",
)  # fmt: skip
JUDGE = "judge"  # the column that --show adds
LONGEST_CELL = 32_000  # characters; a spreadsheet cuts at 32,767 without a word
ROW, SEED = "row-", "seed "


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A line of the sheet before anybody has written on it; ``verdict`` is one that was given earlier, or blank."""

    row: ScoredRow
    shown: ShownRow
    verdict: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """What a person wrote on one line.

    Attributes:
        line: number of the line in the file.
        verdict: what was written, as a text; blank where nothing was.
        metric: name of the metric, blank when there is no such column.
        key: the row's key; blank when the sheet is not one of ours.
        content: beginning of the hash of what was shown, hexadecimal; blank when the sheet is not one of ours.
        question: the question's id.
        bot: name of the bot, blank when there is no such column.
        repeat: from 0.
        seed: of the draw that the row comes from; None when it was not drawn by us.
    """

    line: int
    verdict: str
    metric: str
    key: str
    content: str
    question: str
    bot: str
    repeat: int
    seed: int | None


def sheet(rows: Iterable[SheetRow], metric: str, write: str, seed: int, show: bool) -> Iterator[bytes]:
    """The sheet as CSV, line by line, after a byte order mark, without which spreadsheets take it for Latin-1.

    Args:
        rows: in the order of the draw.
        metric: name of the metric.
        write: what may be written into ``verdict``.
        seed: of the draw.
        show: whether the judge's value stands in a column of its own.
    """
    names = [*COLUMNS, *([JUDGE] if show else [])]
    yield "\N{ZERO WIDTH NO-BREAK SPACE}".encode() + csv_line(names)
    for each in rows:
        row, shown = each.row, each.shown
        cells: list[object] = [
            f"{ROW}{row.key}-{shown.content.hex()[:8]}", metric, row.bot, row.question, row.repeat,
            *map(_short, (shown.question, "\n".join(shown.expected), shown.answer, _numbered(shown.contexts))),
            each.verdict, write, f"{SEED}{seed}",
        ]  # fmt: skip
        yield csv_line([*cells, *([row.value] if show else [])])


def _numbered(contexts: tuple[str, ...]) -> str:
    return "\n\n".join(f"[{place}] {text}" for place, text in enumerate(contexts, 1))


def _short(text: str) -> str:
    if len(text) <= LONGEST_CELL:
        return text
    return f"{text[:LONGEST_CELL]} ... and {len(text) - LONGEST_CELL:,} more characters"


def read_sheet(path: Path, metric: str = "") -> list[Written]:
    """What was written, line by line; the metric that is given stands for a column ``metric`` that is not there.

    Any table (CSV, TSV, JSONL, JSON, YAML) with the columns ``question_id`` and ``verdict`` will do; ``bot``,
    ``repeat`` and ``metric`` may be left out where there is nothing to tell apart.

    Raises:
        InputError: the file can't be read, or a column or a repeat is missing or wrong; with the line.
    """
    file = open_rows(path, "a file of labels", ("labels", "rows"))
    written = [_written(path, line, row, metric) for line, row in file.rows(Reading())]
    if not written:
        raise InputError(f"{path} holds no labels.")
    return written


def _written(path: Path, line: int, row: Mapping[str, object], metric: str) -> Written:
    if "verdict" not in row or not {"row", "question_id"} & row.keys():
        missing = "verdict" if "verdict" not in row else "question_id"
        has = ", ".join(map(str, row)) or "none"
        raise InputError(f"{path}:{line}: there is no column `{missing}`; the columns are {has}.")
    key, content = _key(_text(row.get("row")))
    drawn = _text(row.get("drawn")).removeprefix(SEED)
    return Written(
        line=line,
        verdict=_text(row["verdict"]),
        metric=_text(row.get("metric")) or metric,
        key=key,
        content=content,
        question=_text(row.get("question_id")),
        bot=_text(row.get("bot")),
        repeat=_repeat(path, line, _text(row.get("repeat"))),
        seed=int(drawn) if drawn.isdecimal() else None,
    )


def _key(cell: str) -> tuple[str, str]:
    """The two parts of our own name for a row; blank when somebody else named it."""
    key, _, content = cell.removeprefix(ROW).partition("-")
    return (key, content) if cell.startswith(ROW) and content else ("", "")


def _repeat(path: Path, line: int, cell: str) -> int:
    if not cell or cell.removesuffix(".0").isdecimal():
        return int(cell.removesuffix(".0") or 0)
    raise InputError(f"{path}:{line}: repeat {cell!r} is no whole number from 0.")


def _text(value: object) -> str:
    """The cell as a text, without the apostrophe that kept a spreadsheet from taking it for a formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).strip().removeprefix("'")
