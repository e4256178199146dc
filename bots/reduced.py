"""TakesKnowledge: bots that answer from documents, and can be asked as if some of these were not there."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from ..knowledge.documents import Document
from .wrapping import BuiltBot


@runtime_checkable
class TakesKnowledge(BuiltBot, Protocol):
    """A bot of which there can be one without some documents, at no other cost than that of its answers."""

    @property
    def documents(self) -> tuple[Document, ...]:
        """All that it answers from, in the order that decides between equal ones."""
        ...

    def without(self, documents: frozenset[str], name: str | None = None) -> TakesKnowledge:
        """The same bot as if some documents were not there.

        It shares model, index and embedder with this one, so nothing is embedded or loaded again, whichever of them is
        prepared first. What they share is closed when this bot is closed and every reduced one that was prepared:
        closing a reduced bot takes nothing from the others, and the one that all come from has to be closed too.

        Args:
            documents: ids of those that are taken out; ids of none are no fault.
            name: what it is called; left out, like this one.
        """
        ...
