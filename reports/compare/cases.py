"""Cases: the questions of a run as comparisons see them, a million of them in little memory."""

from __future__ import annotations

import hashlib
import pickle
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Self, overload

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Case:
    """A question as comparisons see it.

    Attributes:
        key: its id in the question set, by which the two sides are paired.
        text: what was asked.
        yardstick: hash over all by which answers are marked: text, accepted answers, constraints, assertions, evidence
            (documents and quotes, not where they stand today) and whether it can be answered.
        source_document: the cluster in statistics; blank when the question is its own.
        tags: free labels.
        answerable: whether the knowledge holds the answer; None when the set does not say.
        conversation: id of the conversation of which it is a turn; blank for a question by itself.
        turn: its number there, from 1.
        extra: other keys of the question's line, such as those of a perturbation.
    """

    key: str
    text: str
    yardstick: str
    source_document: str = ""
    tags: tuple[str, ...] = ()
    answerable: bool | None = None
    conversation: str = ""
    turn: int | None = None
    extra: Mapping[str, object] = field(default_factory=dict)


def number_of(text: str) -> int:
    """A number of 64 bits that stands for a text: of a million texts, two are alike once in 40 million times."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


BLOCK: Final = 512  # cases that are packed together
OPEN: Final = 8  # blocks that stay unpacked
OWN: Final = -1  # in place of a source document: the question is its own cluster


class _Packed:
    """Cases in compressed blocks, and the columns by which whole runs are paired and clustered."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self._blocks: list[bytes] = []
        self._unpacked: dict[int, list[Case]] = {}
        keys, texts, marks, sources = array("Q"), array("Q"), array("Q"), array("i")
        names: dict[str, int] = {}
        waiting: list[tuple[Any, ...]] = []
        self.has_conversations = False
        for case in cases:
            keys.append(number_of(case.key))
            texts.append(number_of(case.text))
            marks.append(number_of(case.yardstick))
            sources.append(names.setdefault(case.source_document, len(names)) if case.source_document else OWN)
            self.has_conversations |= bool(case.conversation)
            waiting.append(_fields(case))
            if len(waiting) == BLOCK:
                self._pack(waiting)
        if waiting:
            self._pack(waiting)
        self.keys, self.texts, self.marks = (np.array(each, np.uint64) for each in (keys, texts, marks))
        self.sources = np.array(sources, np.intp)

    def _pack(self, waiting: list[tuple[Any, ...]]) -> None:
        self._blocks.append(zlib.compress(pickle.dumps(waiting, pickle.HIGHEST_PROTOCOL), 1))
        waiting.clear()

    def case(self, at: int) -> Case:
        """The case at a place."""
        number, inside = divmod(at, BLOCK)
        if number not in self._unpacked:
            if len(self._unpacked) == OPEN:
                del self._unpacked[next(iter(self._unpacked))]
            # Packed by this very object, so nothing of others is loaded.
            lines = pickle.loads(zlib.decompress(self._blocks[number]))  # noqa: S301
            self._unpacked[number] = [Case(*line) for line in lines]
        return self._unpacked[number][inside]


def _fields(case: Case) -> tuple[Any, ...]:
    return (
        case.key, case.text, case.yardstick, case.source_document, case.tags, case.answerable, case.conversation,
        case.turn, case.extra,
    )  # fmt: skip


class Cases(Sequence[Case]):
    """Questions in their order; each is unpacked when it is asked for.

    They take about 28 bytes each and what their compressed texts do, whatever a ``Case`` would.

    Args:
        cases: read once.
    """

    def __init__(self, cases: Iterable[Case]) -> None:
        self._packed = _Packed(cases)
        self._at: Places = np.arange(len(self._packed.keys))

    def at(self, places: Places) -> Self:
        """Those at some places, in their order; nothing is copied."""
        made = type(self).__new__(type(self))
        made._packed, made._at = self._packed, self._at[places]
        return made

    def __len__(self) -> int:
        """How many there are."""
        return len(self._at)

    @overload
    def __getitem__(self, at: int) -> Case: ...
    @overload
    def __getitem__(self, at: slice) -> Cases: ...
    def __getitem__(self, at: int | slice) -> Case | Cases:
        """The case at a place, or those of a slice."""
        return self.at(np.arange(len(self))[at]) if isinstance(at, slice) else self._packed.case(int(self._at[at]))

    def __iter__(self) -> Iterator[Case]:
        """One after the other."""
        return map(self._packed.case, self._at.tolist())

    def __eq__(self, other: object) -> bool:
        """Whether the cases are equal."""
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(Case.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]

    @property
    def keys(self) -> NDArray[np.uint64]:
        """A number for each key."""
        return self._packed.keys[self._at]

    @property
    def texts(self) -> NDArray[np.uint64]:
        """A number for each text."""
        return self._packed.texts[self._at]

    @property
    def marks(self) -> NDArray[np.uint64]:
        """A number for each yardstick."""
        return self._packed.marks[self._at]

    @property
    def sources(self) -> Places:
        """A number for each source document, OWN for none."""
        return self._packed.sources[self._at]

    @property
    def has_conversations(self) -> bool:
        """Whether any question is a turn of a conversation."""
        return self._packed.has_conversations

    @cached_property
    def places(self) -> PlacesByKey:
        """The place of each question by its key."""
        return PlacesByKey(self)


class PlacesByKey:
    """Where questions stand, by their keys.

    Args:
        cases: in which no key is there twice.
    """

    def __init__(self, cases: Cases) -> None:
        self._order = np.argsort(cases.keys, kind="stable")
        self._sorted = cases.keys[self._order]

    def of_numbers(self, keys: NDArray[np.uint64]) -> Places:
        """The place of each key by its number; -1 where it is not there."""
        if not len(self._sorted):
            return np.full(len(keys), -1, np.intp)
        found = np.minimum(np.searchsorted(self._sorted, keys), len(self._sorted) - 1)
        return np.where(self._sorted[found] == keys, self._order[found], -1)

    def get(self, key: str | None) -> int | None:
        """The place of a key; None where it is not there."""
        if key is None:
            return None
        found = int(self.of_numbers(np.array([number_of(key)], np.uint64))[0])
        return None if found < 0 else found

    def __contains__(self, key: str) -> bool:
        """Whether the key is there."""
        return self.get(key) is not None

    def __getitem__(self, key: str) -> int:
        """The place of a key; raises KeyError."""
        if (found := self.get(key)) is None:
            raise KeyError(key)
        return found
