"""Coverage map: documents down and questions across, with what holds the answer, what was read, and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ...surveys.documents import Covered
from ...surveys.survey import Survey
from ..charts.marks import shortened
from ..shown import shown

MOST_DOCUMENTS: Final = 60  # rows; the worst documents are first
MOST_QUESTIONS: Final = 600  # columns
ROW: Final = 15.0
LABEL: Final = 190.0
WIDEST: Final = 900.0
STATES: Final = {
    "found": "holds the answer, and a bot read it",
    "holds": "holds the answer",
    "missed": "holds the answer, and no bot read it",
    "wrong": "was read for a wrong answer, and doesn't hold it",
    "idle": "was read, and doesn't hold it",
}


@dataclass(frozen=True, slots=True)
class MapCell:
    """A document and a question that have to do with each other, and its place."""

    state: str
    x: float
    y: float
    note: str


@dataclass(frozen=True, slots=True)
class MapRow:
    """A document, its name as far as there is room, and the place of its middle."""

    document: str
    name: str
    y: float


@dataclass(frozen=True, slots=True)
class CoverageMap:
    """The drawing.

    Attributes:
        rows: documents from top to bottom.
        cells: what is drawn, from left to right.
        questions: how many columns.
        left_out: how many documents are not drawn.
        step: width of a column.
        counts: how often there is each state that there can be, drawn or not.
    """

    rows: tuple[MapRow, ...]
    cells: tuple[MapCell, ...]
    questions: int
    left_out: int
    step: float
    counts: dict[str, int]

    @property
    def width(self) -> float:
        """Of the drawing."""
        return round(LABEL + self.step * self.questions + 8, 1)

    @property
    def height(self) -> float:
        """Of the drawing."""
        return ROW * len(self.rows) + 8

    @property
    def size(self) -> float:
        """Of a mark."""
        return round(min(self.step - 0.6, ROW - 5), 2)


def coverage_map(survey: Survey) -> CoverageMap | None:
    """The map of a survey; None where no question and document have to do with each other.

    Questions stand in the order of the documents that hold their answer, so that what is found lies on a diagonal.
    """
    documents = [card.document for card in survey.documents][:MOST_DOCUMENTS]
    places = {document: place for place, document in enumerate(documents)}
    drawn = [one for one in survey.coverage if one.document in places]
    columns = _columns(survey, drawn, places)
    if not columns:
        return None
    step = round(max(1.6, min(14.0, (WIDEST - LABEL) / len(columns))), 2)
    is_read = any(one.retrieved_by for one in survey.coverage)
    rows = tuple(
        MapRow(document, shortened(shown(document), 28), ROW * place + ROW / 2 + 4)
        for document, place in places.items()
    )
    cells = tuple(
        MapCell(state := _state(one, is_read), round(LABEL + step * (columns[one.question] + 0.5), 2),
                rows[places[one.document]].y, f"{one.question}, {one.document}: {STATES[state]}")
        for one in drawn if one.question in columns
    )  # fmt: skip
    found = Counter(_state(one, is_read) for one in survey.coverage)
    counts = {state: found[state] for state in STATES if is_read != (state == "holds") and (is_read or found[state])}
    return CoverageMap(rows, cells, len(columns), len(survey.documents) - len(documents), step, counts)


def _columns(survey: Survey, drawn: Sequence[Covered], places: dict[str, int]) -> dict[str, int]:
    """The questions that are drawn with their columns."""
    first: dict[str, int] = {}
    for one in drawn:
        weight = places[one.document] if one.holds else len(places)
        first[one.question] = min(first.get(one.question, len(places)), weight)
    order = {question.key: place for place, question in enumerate(survey.questions)}
    keys = sorted(first, key=lambda key: (first[key], order.get(key, len(order))))
    return {key: place for place, key in enumerate(keys[:MOST_QUESTIONS])}


def _state(one: Covered, is_read: bool) -> str:
    if one.holds and not is_read:
        return "holds"
    if one.holds:
        return "found" if one.retrieved_by else "missed"
    return "wrong" if one.wrong_for else "idle"
