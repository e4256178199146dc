"""Word runs: where a text, or nearly all of it, stands in a longer one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+")
RUN: Final = 3  # words that are looked up together
NEARLY: Final = 0.8  # share of a text's runs that stand close together in the longer one
_ROOM: Final = 1.5  # times the text's length, within which its runs must stand


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a text stands in a longer one: from ``start`` to ``end``, and the share of its runs of words."""

    start: int
    end: int
    share: float


class WordRuns:
    """A long text in which shorter ones are looked for; letter case, punctuation and blanks don't count.

    >>> WordRuns("Q: How old is it? A: Ten years.").find("how old is it").share
    1.0
    """

    def __init__(self, text: str, ignored: Iterable[str] = ()) -> None:
        """Read a text; runs of words that an ignored text has are as good as not there."""
        self.text = text
        pieces = [(found[0].casefold(), found.start(), found.end()) for found in _WORD.finditer(text)]
        self._words = [word for word, _, _ in pieces]
        self._spans = [(start, end) for _, start, end in pieces]
        known = {run for one in ignored for run in _runs(words_of(one))}
        self._places: dict[tuple[str, ...], list[int]] = {}
        for place, run in enumerate(_runs(self._words)):
            if run not in known:
                self._places.setdefault(run, []).append(place)

    def find(self, text: str) -> Standing | None:
        """Where most runs of a text stand together; None where fewer than ``NEARLY`` do, or it has too few words."""
        words = words_of(text)
        wanted = list(dict.fromkeys(_runs(words)))
        if not wanted:
            return None
        hits = sorted((place, run) for run in wanted for place in self._places.get(run, ()))
        if len({run for _, run in hits}) < NEARLY * len(wanted):
            return None
        room = int(_ROOM * len(words)) + RUN
        best: tuple[int, int, int] | None = None
        first, inside = 0, dict[tuple[str, ...], int]()
        for place, run in hits:
            inside[run] = inside.get(run, 0) + 1
            while hits[first][0] < place - room:
                gone = hits[first][1]
                inside[gone] -= 1
                if not inside[gone]:
                    del inside[gone]
                first += 1
            if best is None or len(inside) > best[0]:
                best = len(inside), hits[first][0], place
        if best is None or best[0] < NEARLY * len(wanted):
            return None
        return Standing(self._spans[best[1]][0], self._spans[best[2] + RUN - 1][1], best[0] / len(wanted))


def words_of(text: str) -> list[str]:
    """The words of a text without letter case."""
    return [word.casefold() for word in _WORD.findall(text)]


def _runs(words: list[str]) -> list[tuple[str, ...]]:
    return [tuple(words[place : place + RUN]) for place in range(len(words) - RUN + 1)]
