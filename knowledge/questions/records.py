"""Records: rows that somebody has in Python, as lists of dicts, data frames or data sets, made plain."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from ... import InputError
from ..formats.finding import open_source
from .row_files import RowList, RowSource
from .rows import Row, kind_of

LISTED_UNDER = {"questions": ("questions",), "answers": ("answers", "questions")}


def rows_of(data: object, name: str) -> RowSource:
    """Rows of a file, or of what is in memory.

    Args:
        data: a path; a list of dicts, or of questions as texts; a pandas or polars DataFrame; a pyarrow Table; a
            Hugging Face ``Dataset``; or anything else that can be looped over and gives mappings.
        name: ``questions`` or ``answers``, for messages.

    Raises:
        InputError: it is nothing of the kind; with what was given.
    """
    if isinstance(data, (str, Path)):
        wanted = "a file of questions" if name == "questions" else "a file of recorded answers"
        listed_under = LISTED_UNDER.get(name, (name,))
        return open_source(Path(data), wanted, listed_under, only_questions=name == "questions")
    records = [_record(row, place, name) for place, row in enumerate(_iterable(data, name), 1)]
    return RowList(Path(name), records)


def _iterable(data: Any, name: str) -> Iterable[object]:  # noqa: ANN401 - whatever the user has
    if isinstance(data, Mapping):
        if data and all(hasattr(each, "features") or hasattr(each, "column_names") for each in data.values()):
            splits, first = ", ".join(map(str, data)), repr(next(iter(data)))
            raise InputError(f"{name}: a data set with the splits {splits} was given; give one of them: data[{first}].")
        raise InputError(f"{name}: one mapping was given; put it in a list: [{{...}}].")
    for method in ("to_pylist", "to_dicts"):  # pyarrow, polars
        if callable(found := getattr(data, method, None)):
            return cast("Iterable[object]", found())
    if hasattr(data, "columns") and callable(found := getattr(data, "to_dict", None)):  # pandas
        return cast("Iterable[object]", found("records"))
    if not isinstance(data, Iterable) or isinstance(data, (bytes, bytearray)):
        raise InputError(
            f"{name}: a {type(data).__name__} was given; wanted a path, a list of dicts, a DataFrame or a data set."
        )
    return data


def _record(row: object, place: int, name: str) -> Row:
    if isinstance(row, str) and name == "questions":
        return {"question": row}
    if not isinstance(row, Mapping):
        example = '{"question": "..."}' if name == "questions" else '{"question": "...", "answer": "..."}'
        kind = kind_of(row) if row is None or isinstance(row, (str, int, float, list)) else f"a {type(row).__name__}"
        raise InputError(f"{name}:{place}: a mapping such as {example} was wanted, not {kind}.")
    return {str(key): _plain(value) for key, value in row.items()}


def _plain(value: Any) -> object:  # noqa: ANN401 - whatever a data frame holds
    """A value as JSON has it: what means "missing" in a data frame is None, and arrays are lists."""
    match value:
        case None | str() | bool() | int():
            return value
        case float():
            return None if math.isnan(value) else float(value)
        case Mapping():
            return {str(key): _plain(each) for key, each in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_plain(each) for each in value]
        case datetime.date() | datetime.time() if value == value:
            return value.isoformat()
    if callable(found := getattr(value, "tolist", None)):  # of numpy: an array, or one number
        return _plain(found())
    return None if type(value).__name__ in ("NAType", "NaTType") else str(value)
