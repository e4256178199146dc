"""Against: what edits of the documents did to the answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..statistics.paired import Difference

Change = Literal["added", "removed", "edited", "renamed"]


@dataclass(frozen=True, slots=True)
class Edit:
    """A document that is not as it was, and the answers that turned because of it.

    Attributes:
        document: its id now (its old one where it was removed).
        change: what happened to it.
        was: its old id where it was renamed, else blank.
        gained: answers that are right now and wrong with this document as it was: (bot, question).
        lost: answers that are wrong now and right with this document as it was.
    """

    document: str
    change: Change
    was: str = ""
    gained: tuple[tuple[str, str], ...] = ()
    lost: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class BotChange:
    """What all edits together did to one bot: new less old, paired by question."""

    bot: str
    difference: Difference
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Against:
    """Old and new documents over the same questions.

    Attributes:
        folder: the old documents, as the user named them.
        run: the run over the old documents.
        metric: the metric that says right or wrong.
        edits: the changed documents, those that turned most answers first.
        bots: what became of each bot.
        unexplained: answers that turned and that no single edit brings back: (bot, question).
        calls: how many answers were asked for anew.
        warnings: sentences for the user.
    """

    folder: str
    run: str
    metric: str
    edits: tuple[Edit, ...] = ()
    bots: tuple[BotChange, ...] = ()
    unexplained: tuple[tuple[str, str], ...] = ()
    calls: int = 0
    warnings: tuple[str, ...] = ()
