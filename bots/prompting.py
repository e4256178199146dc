"""Prompts: templates from Markdown, filled in one literal pass, and what bots have in common that ask a model so."""

import difflib
import hashlib
import json
import re
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, Self, TypeVar
from weakref import WeakSet

from .. import InputError
from ..knowledge import Document, Message, existing, unreadable
from .bot import Checkable, Context, Identity, KnowledgeDigests, Reply
from .chat.limits import SingleFlight
from .chat.model import ChatModel, ChatRequest
from .history import Asked, history_identity, history_prompts, put
from .settings import HistorySettings
from .tool_calls import SEARCH, with_tool_calls

PLACEHOLDERS = ("context", "question")
_FILLED = re.compile(r"\{(context|question)\}")
_LOOKS_FILLED = re.compile(r"\{\s*([A-Za-z_]+)\s*\}")
_BUILT_IN = Path(__file__).parent / "prompts"


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt with places for the context and the question; ``source`` is what messages call it.

    Attributes:
        text: the template, with ``{context}`` and ``{question}`` in it.
        source: the file it came from.
        warnings: sentences about other names in braces, which are sent unchanged.
    """

    text: str
    source: str
    warnings: tuple[str, ...] = ()

    def fill(self, context: str, question: str) -> str:
        """The prompt; what is filled in is never looked at again, and other braces stay as they are."""
        values = {"context": context, "question": question}
        return _FILLED.sub(lambda place: values[place[1]], self.text)


def load_template(path: Path | None, built_in: str) -> Template:
    """The template in a file, or the one that ships with the package.

    Args:
        path: an absolute path, or None for the built-in template.
        built_in: name of the built-in template: ``rag`` or ``full_context``.

    Raises:
        InputError: the file can't be read, misses a placeholder or has a misspelt one.
    """
    if path is None:
        path = _BUILT_IN / f"{built_in}.md"
    return parse_template(_read(path), str(path))


def parse_template(text: str, source: str) -> Template:
    """Check a template's placeholders. Raises InputError with the line and the nearest right name."""
    text = text.strip()
    strange = [found for found in _LOOKS_FILLED.finditer(text) if not _FILLED.fullmatch(found[0])]
    for found in strange:
        near = difflib.get_close_matches(found[1].lower(), PLACEHOLDERS, n=1, cutoff=0.6)
        if near:
            place = f"{source}:{_line(text, found.start())}"
            raise InputError(f"{place}: {found[0]} is not a placeholder; did you mean {{{near[0]}}}?")
    present = {found[1] for found in _FILLED.finditer(text)}
    missing = [f"{{{name}}}" for name in PLACEHOLDERS if name not in present]
    if missing:
        raise InputError(
            f"{source}: the prompt misses {' and '.join(missing)}; a prompt must say with {{context}} "
            "where the documents go and with {question} where the question goes."
        )
    warnings = tuple(
        f"{source}:{_line(text, found.start())}: {found[0]} is not a placeholder and is sent as it stands."
        for found in strange
    )
    return Template(text, source, warnings)


def _line(text: str, position: int) -> int:
    """The line number, from 1, on which a position stands."""
    return text.count("\n", 0, position) + 1


def _read(path: Path) -> str:
    try:
        return existing(path, "a Markdown file with a prompt").read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as broken:
        raise InputError(f"{path} is not UTF-8 (byte {broken.start}); save the prompt as UTF-8.") from None
    except OSError as refused:
        raise unreadable(path, refused) from refused


NOTHING_FOUND = "(Nothing was found.)"


def render_context(context: Context, number: int, title: str = "") -> str:
    """A passage with its number, and the title and id of its document above it."""
    named = f"{title} ({context.document})" if title and title != context.document else context.document
    heading = f"[{number}] {named}".rstrip()
    return f"{heading}\n{context.text}"


def render_contexts(contexts: Sequence[Context], titles: Mapping[str, str]) -> str:
    """Passages as the prompt shows them, in their order.

    Args:
        contexts: the passages.
        titles: document id -> title, where there is one.
    """
    rendered = (render_context(each, number, titles.get(each.document, "")) for number, each in enumerate(contexts, 1))
    return "\n\n".join(rendered) or NOTHING_FOUND


_EARLIER: ContextVar[Callable[[str], Reply | None] | None] = ContextVar("proctor_earlier_answers", default=None)


@contextmanager
def earlier_answers(find: Callable[[str], Reply | None] | None) -> Iterator[None]:
    """Inside, a request that was answered before is not made again.

    Args:
        find: gives the answer to the request of a hash, None where there is none; None itself asks for everything.
    """
    token = _EARLIER.set(find)
    try:
        yield
    finally:
        _EARLIER.reset(token)


def request_hash(model: str, settings: Mapping[str, object], request: ChatRequest) -> str:
    """Hash over all that the answer depends on: the model with its settings, the prompt and the messages before it."""
    content = [model, dict(settings), request.prompt, request.question, list(request.history)]
    written = json.dumps(content, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.blake2b(written.encode(), digest_size=16).hexdigest()


def chat_request(template: Template, asked: Asked, contexts: Sequence[Context], rendered: str) -> ChatRequest:
    """The request for an answer to a question from contexts, which are rendered already."""
    return ChatRequest(
        prompt=template.fill(rendered, asked.shown),
        instructions=template.text,
        question=asked.question,
        contexts=tuple(contexts),
        history=asked.messages,
    )


async def answer_from(
    model: ChatModel,
    template: Template,
    asked: Asked,
    contexts: tuple[Context, ...],
    rendered: str,
    trace: Mapping[str, object],
) -> Reply:
    """Ask the model with these contexts, rendered already, in its prompt.

    The trace gains the milliseconds of generation and what the model says of it. Where an equal request was answered
    before (see ``earlier_answers``) that answer is taken, with the contexts of now. Raises what ``ChatModel.complete``
    raises.
    """
    request = chat_request(template, asked, contexts, rendered)
    hashed, find = request_hash(model.name, model.settings, request), _EARLIER.get()
    if find is not None and (earlier := find(hashed)) is not None:
        calls = tuple(call for call in earlier.tool_calls or () if call.name != SEARCH) or None
        return replace(earlier, contexts=contexts, tool_calls=calls, request_hash=hashed)
    started = time.perf_counter()
    completion = await model.complete(request)
    generate_ms = (time.perf_counter() - started) * 1000 - completion.queue_ms
    reply = Reply(
        answer=completion.text,
        contexts=contexts,
        usage=completion.usage,
        reasoning=completion.reasoning,
        abstained=completion.abstained,
        queue_ms=completion.queue_ms,
        attempts_ms=completion.attempts_ms,
        trace={**trace, "generate_ms": generate_ms, **completion.trace},
        request_hash=hashed,
    )
    return asked.counted(with_tool_calls(reply, completion.tool_calls))


T = TypeVar("T")


class SharedParts(Generic[T]):
    """Parts that are opened once for all bots that use them. Bots that were garbage-collected do not count.

    Args:
        opens: opens the parts; a failure is raised to all who wait for it, and the next call tries again.
        closes: releases what is open and what was never opened.
    """

    def __init__(
        self, opens: Callable[[], Coroutine[Any, Any, T]], closes: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        self._opens = opens
        self._closes = closes
        self._users: WeakSet[object] = WeakSet()
        self._opening: SingleFlight[T] = SingleFlight()
        self._opened: T | None = None

    def add(self, user: object) -> None:
        """Keep the parts for this bot until it leaves."""
        self._users.add(user)

    async def open(self, user: object) -> T:
        """The parts, opened now if they are not, and kept for this bot until it leaves."""
        self.add(user)
        opened = self._opened
        if opened is None:
            opened = await self._opening.get(None, self._opens)
            if user in self._users:
                self._opened = opened
        return opened

    async def leave(self, user: object) -> None:
        """This bot no longer needs the parts: they are closed when it was the last."""
        if user not in self._users:
            return
        self._users.discard(user)
        if not self._users:
            self._opened = None
            self._opening.cancel()
            await self._closes()


class PromptedBot:
    """A bot that asks a chat model with passages of documents, and can be copied without some of them.

    Attributes:
        name: the bot's name in reports.
        warnings: what the user should know; ``prepare`` may add to them.
        documents: what it answers from.
    """

    def __init__(
        self,
        name: str,
        documents: Sequence[Document],
        knowledge_digest: str,
        model: ChatModel,
        template: Template,
        history: HistorySettings,
        opens: Callable[[], Coroutine[Any, Any, Any]],
    ) -> None:
        """Take the parts; nothing is loaded. ``opens`` opens what it shares with its copies, beside the model."""
        self.name = name
        self.warnings = template.warnings
        self.documents = tuple(documents)
        self._digest = knowledge_digest
        self._model = model
        self._template = template
        self._history = history
        self._titles = {document.id: document.title for document in documents}
        self._without: frozenset[str] = frozenset()
        self._digests = KnowledgeDigests(self.documents)
        self._shared = SharedParts(opens, model.close)
        self._shared.add(self)

    def without(self, documents: frozenset[str], name: str | None = None) -> Self:
        """The same bot as if some documents were not there; see ``ReducibleBot.without``."""
        reduced = copy(self)
        reduced.name = name or self.name
        reduced.documents = tuple(each for each in self.documents if each.id not in documents)
        reduced.warnings = self._template.warnings
        reduced._without = self._without | documents
        reduced._forget()
        return reduced

    def check_setup(self) -> None:
        """Look whether the model has its key. Raises BotMisconfigured."""
        if isinstance(self._model, Checkable):
            self._model.check_setup()

    def _forget(self) -> None:
        """Be as before ``prepare``."""
        raise NotImplementedError

    @property
    def _gone(self) -> Set[str]:
        return self._without & self._titles.keys()

    def _identity(
        self, kind: str, settings: Mapping[str, object], models: Mapping[str, str], parts: Mapping[str, str]
    ) -> Identity:
        """What every such bot is made of, and what this one is beside that."""
        return Identity(
            kind=kind,
            settings={**settings, **history_identity(self._history), "model": dict(self._model.settings)},
            model=self._model.name,
            embedded=self._model.embedded,
            parts={"knowledge": self._digests.without(self._gone) if self._gone else self._digest, **parts},
            prompts={"prompt": self._template.text, **history_prompts(self._history, self._model)},
            models={"chat": self._model.name, **models},
        )

    async def _put(self, question: str, history: Sequence[Message]) -> Asked:
        """The question as it is searched with and shown, after what came before it."""
        return await put(question, history, self._history.history, self._history.history_tokens, self._model)
