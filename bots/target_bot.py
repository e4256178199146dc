"""Target bots: the user's own code, named in the suite file and imported when the first question is due."""

import inspect
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from hashlib import sha256
from typing import Final, Self

from .. import InputError
from ..metrics.messages import exception_line
from .base import BotMisconfigured, Identity, Reply
from .langchain_bot import LangChainBot
from .redaction import redacted
from .targets import Target
from .wrapping import BuiltBot, as_bot, is_runnable

WITHOUT: Final = "without"  # parameter of code that can leave documents out


class TargetBot:
    """A bot behind a target: its identity is a hash of the file, so that a run that is kept never imports it.

    What the file imports is not seen: after a change there, ask again with ``--fresh``.
    """

    def __init__(self, name: str, target: Target, options: Mapping[str, object]) -> None:
        """``options`` are keyword arguments: of a class when it is made, of a function at every call."""
        self.name = name
        self._target = target
        self._options = options
        self._inner: BuiltBot | None = None
        self.identity = self._identity()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Those of the user's bot, once it is there."""
        return self._inner.warnings if self._inner else ()

    async def prepare(self) -> None:
        """Import the user's code and prepare what it holds.

        Raises:
            BotMisconfigured: it can't be imported, made, or is no bot.
        """
        try:
            inner = self._make(self._target.load())
        except InputError as wrong:
            raise BotMisconfigured(f"Bot {self.name}: {wrong}") from wrong
        except (Exception, SystemExit) as raised:
            raise BotMisconfigured(
                f"Bot {self.name}: {self._target.written} could not be made: {exception_line(raised)}"
            ) from raised
        await inner.prepare()
        self._inner = inner

    async def reply(self, question: str) -> Reply:
        """Ask the user's bot; see ``PythonBot`` and ``LangChainBot``."""
        if self._inner is None:
            await self.prepare()
        if self._inner is None:
            raise RuntimeError(f"bot {self.name} is not prepared")
        return await self._inner.reply(question)

    async def close(self) -> None:
        """Close the user's bot."""
        inner, self._inner = self._inner, None
        if inner is not None:
            await inner.close()

    @property
    def takes_knowledge(self) -> bool:
        """Whether the user's code can leave documents out: it has a parameter ``without``. This imports it."""
        try:
            found = self._target.load()
        except InputError:
            return False  # who asks it is told why
        asked = getattr(found, "reply", found) if not inspect.isclass(found) else found
        try:
            return WITHOUT in inspect.signature(asked).parameters  # type: ignore[arg-type]  # else a TypeError
        except (TypeError, ValueError):
            return False

    def leaving_out(self, documents: frozenset[str], name: str) -> Self:
        """The same bot under a name, whose code is told which documents to leave out, by their ids."""
        other = copy(self)
        other.name = name
        other._inner = None
        if documents:
            digest = sha256("\0".join(sorted(documents)).encode("utf-8", "surrogatepass")).hexdigest()
            other._options = {**self._options, WITHOUT: documents}
            other.identity = replace(self.identity, parts={**self.identity.parts, WITHOUT: digest})
        return other

    def _make(self, found: object) -> BuiltBot:
        return as_bot(found, self.name, options=self._options, identity=self.identity)

    def _identity(self) -> Identity:
        return Identity(
            kind="python",
            settings={"target": self._target.written, "options": redacted(self._options)},
            parts={"code": self._target.digest},
        )


class LangChainTargetBot(TargetBot):
    """A LangChain Runnable behind a target, or behind a function that makes it."""

    def __init__(
        self,
        name: str,
        target: Target,
        options: Mapping[str, object],
        input_key: str | None = None,
        output_key: str | None = None,
    ) -> None:
        """``options`` are keyword arguments of the function that makes the Runnable."""
        self._keys = {"input_key": input_key, "output_key": output_key}
        super().__init__(name, target, options)

    def _make(self, found: object) -> BuiltBot:
        made = found
        if not is_runnable(found) and callable(found):
            made = found(**self._options)
        if not is_runnable(made):
            raise TypeError(
                f"it is a {type(made).__name__}; a LangChain Runnable was wanted, or a function that makes one"
            )
        return LangChainBot(self.name, made, self.identity, **self._keys)  # type: ignore[arg-type]

    def _identity(self) -> Identity:
        return Identity(
            kind="langchain",
            settings={
                "target": self._target.written,
                "options": redacted(self._options),
                **self._keys,
            },
            parts={"code": self._target.digest},
        )
