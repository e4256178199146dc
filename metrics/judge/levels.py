"""LevelCall: one request to a judge that puts each of some numbered items on a scale of a few levels."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import ClassVar

from .call import TEXT, JudgeCall, Reading, Schema, record, several, span
from .replies import Malformed, read_items, read_object


@dataclass(frozen=True, slots=True)
class Level:
    """Where a judge puts an item.

    Attributes:
        place: on the call's scale, from 0, the lowest.
        why: the judge's reason; may be blank.
        agreement: share of judges or votes that say the same; 1.0 when there was one.
        probability: that the highest level holds, if the judge has one; language models have none.
    """

    place: int
    why: str = ""
    agreement: float = 1.0
    probability: float | None = None


Levels = tuple[Level | None, ...]
"""One for each item, in order; None for one that can't be read."""


class LevelCall(JudgeCall[Levels]):
    """A call that is answered with one level for each item."""

    field: ClassVar[str]
    part: ClassVar[str]  # field of the reply with the list of items
    scale_names: ClassVar[tuple[str, ...]]  # from the lowest to the highest; figures are read as numbers, too

    def ids(self) -> tuple[str, ...]:
        """The ids of the items."""
        raise NotImplementedError

    def reminder(self) -> str:
        """What is asked about, by the ids."""
        return (
            f'Reply with the JSON object only, with exactly one entry for each id ("{self.part}": {span(self.ids())}).'
        )

    def schema(self) -> Schema:
        """A list of items; the reason comes first, so that the level follows from it."""
        is_figure = all(name.isdecimal() for name in self.scale_names)
        names: list[object] = [int(name) for name in self.scale_names] if is_figure else list(self.scale_names)
        level: Schema = {"type": "integer" if is_figure else "string", "enum": names}
        return record(**{self.part: several(record(id=TEXT, why=TEXT, **{self.field: level}))})

    def read(self, reply: str) -> Reading[Levels]:
        """The levels that can be read."""
        found = read_object(reply)
        if isinstance(found, str):
            return Reading(None, found)
        levels, problems = read_items(found, self.part, self.ids(), self._level)
        return Reading(levels if any(levels) else None, " ".join(problems))

    def _level(self, entry: object) -> Level:
        given = entry.get(self.field) if isinstance(entry, dict) else None
        name = str(given).strip().casefold().replace(" ", "_") if isinstance(given, str | int) else ""
        if isinstance(given, bool) or name not in self.scale_names:
            raise Malformed(f'"{self.field}" must be one of {", ".join(self.scale_names)}')
        why = entry.get("why") if isinstance(entry, dict) else None
        return Level(self.scale_names.index(name), " ".join(why.split()) if isinstance(why, str) else "")

    def missing(self, answer: Levels) -> Sequence[str]:
        """Ids of the items without a level."""
        return tuple(identity for identity, level in zip(self.ids(), answer, strict=True) if level is None)

    def completed(self, first: Levels, second: Levels) -> Levels:
        """For each item the first level, or else the second."""
        return tuple(one or other for one, other in zip(first, second, strict=True))

    def combine(self, answers: Sequence[Levels | None], mean: bool) -> Levels:  # noqa: ARG002 - levels have no mean
        """For each item the median level, the lower one of two; None where fewer than half can be read."""
        rows = [(None,) * len(self.ids()) if answer is None else answer for answer in answers]
        return tuple(_median(column) for column in zip(*rows, strict=True))


def _median(levels: Sequence[Level | None]) -> Level | None:
    readable = [level for level in levels if level is not None]
    if not readable or 2 * len(readable) < len(levels):
        return None
    place = median_low(level.place for level in readable)
    agreeing = [level for level in readable if level.place == place]
    return Level(place, next((one.why for one in agreeing if one.why), ""), len(agreeing) / len(readable))
