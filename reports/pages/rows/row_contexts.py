"""RowContexts: the contexts of rows in the order of rank, with the gold evidence that they hold or miss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ....knowledge.questions import Evidence
from .gold_marks import GoldMarks, Groups, PassagePlace, gold_marks, gold_ranks
from .kept_json import LONGEST, loaded, short


class RowContexts:
    """The contexts of some rows.

    Args:
        evidence: of each question, as its column holds it.
        passages: id, document, start, end and text of each passage.
        lines: passage id and score of the contexts of each reply.
    """

    def __init__(
        self, evidence: Mapping[int, str], passages: Sequence[Sequence[Any]],
        lines: Mapping[int, Sequence[tuple[int, float | None]]],
    ) -> None:  # fmt: skip
        self._evidence = {question: evidence_of(text) for question, text in evidence.items()}
        self._passages = {line[0]: PassagePlace(*line[1:]) for line in passages}
        self._lines = lines
        self._marks = lru_cache(None)(self._find_marks)  # bots that share a retriever find the same passages

    def of_row(self, question: int, reply: int, has_retriever: bool) -> dict[str, object]:
        """``contexts`` and ``gold`` of a row, as they are written down in ``DATA.md``."""
        lines = self._lines.get(reply, ())
        found = [self._marks(question, passage) for passage, _ in lines]
        return {
            "contexts": [[line[0], short(line[1]), one.marks] for line, one in zip(lines, found, strict=True)],
            "gold": gold_ranks(len(self._evidence[question]), found) if has_retriever else [],
        }

    def _find_marks(self, question: int, passage: int) -> GoldMarks:
        return gold_marks(self._evidence[question], self._passages[passage], LONGEST)


def evidence_of(text: str) -> Groups:
    """Gold evidence out of its column."""
    return tuple(
        tuple(Evidence(each["document"], each.get("quote") or "", each.get("start"), each.get("end")) for each in group)
        for group in loaded(text)
    )
