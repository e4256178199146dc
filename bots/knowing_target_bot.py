"""Knowing target bots: the user's own code that can leave documents out when it is told which."""

from __future__ import annotations

from ..knowledge.documents import Document
from .base import Identity, Reply
from .target_bot import TargetBot


class KnowingTargetBot:
    """A bot of the user's whose code has a parameter ``without``: ids of the documents of the suite to leave out.

    Each bot without some documents calls or makes that code anew; what is dear to make is its own to keep.

    Attributes:
        name: the bot's name in reports.
        documents: those of the suite, without those that are left out.
    """

    def __init__(
        self, bot: TargetBot, documents: tuple[Document, ...], gone: frozenset[str] = frozenset(), name: str = ""
    ) -> None:
        """``bot`` as it stands in the suite; ``documents`` are all of the suite."""
        self.name = name or bot.name
        self.documents = tuple(each for each in documents if each.id not in gone)
        self._whole, self._all, self._gone = bot, documents, gone
        self._bot = bot.leaving_out(gone & {each.id for each in documents}, self.name)

    @property
    def identity(self) -> Identity:
        """That of the code, with what it leaves out."""
        return self._bot.identity

    @property
    def warnings(self) -> tuple[str, ...]:
        """Those of the user's bot, once it is there."""
        return self._bot.warnings

    def without(self, documents: frozenset[str], name: str | None = None) -> KnowingTargetBot:
        """The same bot as if some documents were not there; see ``TakesKnowledge.without``."""
        return KnowingTargetBot(self._whole, self._all, self._gone | documents, name or self.name)

    async def prepare(self) -> None:
        """Import the user's code; see ``TargetBot.prepare``."""
        await self._bot.prepare()

    async def reply(self, question: str) -> Reply:
        """Ask the user's bot."""
        return await self._bot.reply(question)

    async def close(self) -> None:
        """Close the user's bot."""
        await self._bot.close()
