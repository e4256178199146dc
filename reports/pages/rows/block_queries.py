"""BlockQuery: what the blocks of one run ask its database: the rows of fifty questions at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ...store import marks
from .columns import Column

QUESTIONS_A_BLOCK: Final = 50
OF_BLOCK: Final = "run_rows.run_id = ? AND run_rows.bot_id IN ({bots}) AND run_rows.question_id BETWEEN ? AND ?"

Wanted = Callable[[int], bool]


def all_of_them(_key: int) -> bool:
    """Every question, every passage."""
    return True


def bots_of(columns: Sequence[Column]) -> list[int]:
    """Keys of the bots, each once: a bot may be in two columns."""
    return list(dict.fromkeys(column.bot_id for column in columns))


def block_numbers(columns: Sequence[Column]) -> list[int]:
    """Numbers of the blocks of a run that hold any question."""
    run, bots = columns[0].run, bots_of(columns)
    lines = run.store.query(
        f"SELECT DISTINCT question_id / ? FROM run_rows WHERE run_id = ? AND bot_id IN ({marks(bots)}) ORDER BY 1",
        [QUESTIONS_A_BLOCK, run.id, *bots],
    )
    return [int(number) for (number,) in lines]


class BlockQuery:
    """Asks for the rows of one block.

    Args:
        columns: of one run.
        number: of the block: the question id, divided by ``QUESTIONS_A_BLOCK``.
    """

    def __init__(self, columns: Sequence[Column], number: int) -> None:
        self._store = columns[0].run.store
        self._bots = bots_of(columns)
        first = number * QUESTIONS_A_BLOCK
        self._arguments = [columns[0].run.id, *self._bots, first, first + QUESTIONS_A_BLOCK - 1]
        self.names: dict[int, list[str]] = {}
        for column in columns:
            self.names.setdefault(column.bot_id, []).append(column.name)

    def lines(self, sql: str) -> list[tuple[Any, ...]]:
        """What a statement with ``OF_BLOCK`` in it returns."""
        return self._store.query(sql.format(bots=marks(self._bots)), self._arguments)
