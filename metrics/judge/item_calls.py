"""ItemCall: a call that asks for a verdict on each of some numbered items."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from .ballots import combined_verdict, tie
from .call import Answer, JudgeCall, Reading
from .items import numbered, span
from .reading import Malformed, read_boolean, read_items, read_object
from .schemas import TEXT, YES_OR_NO, Schema, record, several
from .verdicts import Verdict, Verdicts


@dataclass(frozen=True, slots=True)
class ItemList:
    """Items of one kind that a call asks about.

    Attributes:
        part: section of the prompt, and field of the reply with a list of verdicts.
        place: field of the answer where the verdicts go.
        ids: of the items; empty when the call does not ask about them.
        verdict: field of the reply's items that says yes or no: ``supported``, ``useful``.
        chunks: number of chunks of which the judge names those that support an item alone; 0 when it is not asked to.
        why: whether the judge says what is missing.
    """

    part: str
    place: str
    ids: tuple[str, ...]
    verdict: str
    chunks: int = 0
    why: bool = True

    def schema(self) -> Schema:
        """One item of the reply. The reason comes first, so that the verdict follows from it."""
        fields: dict[str, Schema] = {"id": TEXT}
        if self.why:
            fields["why"] = TEXT
        fields[self.verdict] = YES_OR_NO
        if self.chunks:
            fields["chunks"] = several(TEXT)
        return record(**fields)

    def read(self, found: Mapping[str, object]) -> Verdict:
        """The verdict in one item of a reply. Raises Malformed."""
        holds = read_boolean(found.get(self.verdict))
        if holds is None:
            raise Malformed(f'"{self.verdict}" must be true or false')
        why = found.get("why")
        return Verdict(
            holds,
            self._chunks(found.get("chunks")) if self.chunks and holds else (),
            " ".join(why.split()) if isinstance(why, str) else "",
        )

    def _chunks(self, found: object) -> tuple[int, ...]:
        """Numbers of the chunks that are named; names of chunks that were not shown are dropped."""
        if not isinstance(found, list):
            raise Malformed('"chunks" must be a list of chunk ids')
        numbers = {name: number for number, name in enumerate(numbered("c", self.chunks), start=1)}
        named = {numbers.get(_chunk_name(name)) for name in found}
        return tuple(sorted(number for number in named if number is not None))


def _chunk_name(found: object) -> str:
    if isinstance(found, int) and not isinstance(found, bool):
        return f"c{found}"
    name = found.strip(" []").casefold() if isinstance(found, str) else ""
    return f"c{name}" if name.isdecimal() else name


class ItemCall(JudgeCall[Answer]):
    """A call whose answer is a dataclass of verdicts, one tuple of them for each list of items."""

    answer_type: ClassVar[type[Any]]

    @abstractmethod
    def lists(self) -> tuple[ItemList, ...]:
        """The lists of items that it may ask about."""

    @property
    def parts(self) -> frozenset[str]:
        """The lists that are not empty."""
        return frozenset(items.part for items in self._asked())

    def reminder(self) -> str:
        """What is asked about, by the ids."""
        asked = "; ".join(f'"{items.part}": {span(items.ids)}' for items in self._asked())
        return f"Reply with the JSON object only, with exactly one entry for each id ({asked})."

    def schema(self) -> Schema:
        """An object with a list of verdicts for each list of items."""
        return record(**{items.part: several(items.schema()) for items in self._asked()})

    def read(self, reply: str) -> Reading[Answer]:
        """Verdicts on all items that can be read."""
        found = read_object(reply)
        if isinstance(found, str):
            return Reading(None, found)
        verdicts: dict[str, Verdicts] = {}
        problems: list[str] = []
        for items in self._asked():
            verdicts[items.place], wrong = read_items(found, items.part, items.ids, items.read)
            problems += wrong
        readable = not verdicts or any(verdict for some in verdicts.values() for verdict in some)
        return Reading(self.answer_type(**self._all(verdicts)) if readable else None, " ".join(problems))

    def lacks(self, answer: Answer) -> Sequence[str]:
        """Ids of the items without a verdict."""
        return tuple(
            identity
            for items in self._asked()
            for identity, verdict in zip(items.ids, self._of(answer, items), strict=True)
            if verdict is None
        )

    def completed(self, first: Answer, second: Answer) -> Answer:
        """For each item the first verdict, or else the second."""

        def better(items: ItemList) -> Verdicts:
            pairs = zip(self._of(first, items), self._of(second, items), strict=True)
            return tuple(one if one is not None else other for one, other in pairs)

        return self._made({items.place: better(items) for items in self._asked()})

    def combine(self, answers: Sequence[Answer | None], mean: bool) -> Answer:  # noqa: ARG002 - not needed here
        """The majority for each item; verdicts are no numbers."""
        return self._made(
            {
                items.place: tuple(combined_verdict(column) for column in self._columns(answers, items))
                for items in self._asked()
            }
        )

    def tied(self, answers: Sequence[Answer | None]) -> bool:
        """Whether any item is tied."""
        return any(
            tie([verdict.holds if verdict else None for verdict in column])
            for items in self._asked()
            for column in self._columns(answers, items)
        )

    def _asked(self) -> tuple[ItemList, ...]:
        return tuple(items for items in self.lists() if items.ids)

    def _of(self, answer: Answer, items: ItemList) -> Verdicts:
        verdicts: Verdicts = getattr(answer, items.place)
        return verdicts

    def _columns(self, answers: Sequence[Answer | None], items: ItemList) -> list[Verdicts]:
        """For each item, what every judge said of it; None throughout for one whose reply can't be read."""
        unread: Verdicts = (None,) * len(items.ids)
        rows = [unread if answer is None else self._of(answer, items) for answer in answers]
        return list(zip(*rows, strict=True))

    def _made(self, verdicts: Mapping[str, Verdicts]) -> Answer:
        answer: Answer = self.answer_type(**self._all(verdicts))
        return answer

    def _all(self, verdicts: Mapping[str, Verdicts]) -> dict[str, Verdicts]:
        return {items.place: verdicts.get(items.place, ()) for items in self.lists()}
