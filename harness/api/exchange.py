"""``read``: files of other tools, as rows of ours."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...knowledge import RowSource, recorded_in
from ...knowledge.formats.finding import Detected, ForeignRows, opened
from ..exchange import recorded_row


class ForeignFile:
    """A question set, or answers and scores, in a file of another tool (or of ours).

    Iterating reads the file anew and gives one row after another: dicts with the keys of our own files, such as
    ``question``, ``expected_answer``, ``answer``, ``contexts``, ``bot`` and ``scores``.

    Attributes:
        path: the file or folder.
        format: the name of its format, such as ``ragas``.
        why: why it is that format.
    """

    def __init__(self, source: RowSource, found: Detected) -> None:
        self.path = source.path
        self.format = found.format.name
        self.why = found.why
        self._source = source
        self._lost: tuple[str, ...] | None = None

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        recorded = recorded_in(self._source)
        self._lost = recorded.source.warnings
        has_answers = bool(recorded.has.get("answer"))
        for record in recorded:
            row = recorded_row(record)
            if not has_answers:
                del row["bot"]
            yield row

    @property
    def lost(self) -> tuple[str, ...]:
        """A sentence for everything that could not be carried over; the file is read for it, if it was not yet."""
        if self._lost is None:
            self._lost = recorded_in(self._source).source.warnings
        return self._lost

    @property
    def version(self) -> str:
        """The version of the tool that wrote the file; blank where the file does not say."""
        _ = self.lost
        return self._source.notes.version if isinstance(self._source, ForeignRows) else ""

    def __repr__(self) -> str:
        return f"ForeignFile({str(self.path)!r}, {self.format!r}: {self.why})"


def read(path: str | os.PathLike[str], format: str | None = None) -> ForeignFile:
    """Read a question set, or answers with scores, in a format of another tool.

    Args:
        path: a file of Ragas, DeepEval, promptfoo, Inspect, H2O Eval Studio, BEIR, SQuAD and others; Parquet; a folder
            that ``datasets`` saved; or a file of ours.
        format: its format; left out, it is found by looking.

    Raises:
        InputError: it can't be read, or is of no known format.

    Example::

        ragas = proctor.read("results.jsonl")
        for row in ragas:
            print(row["question"], row["scores"]["faithfulness"])
        print(ragas.lost)
    """
    return ForeignFile(*opened(Path(path), format or ""))
