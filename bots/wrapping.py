"""Wrapping: `as_bot` makes a bot of a function, a class, an object or a LangChain Runnable."""

import hashlib
import inspect
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol, cast, runtime_checkable

from .base import Bot, Identity
from .langchain_bot import LangChainBot
from .python_bot import PythonBot
from .redaction import redacted, without_addresses


@runtime_checkable
class BuiltBot(Bot, Protocol):
    """A bot that is ready for a run: what it is made of can be asked before anything heavy is loaded.

    ``warnings`` are sentences for the user: those of the settings from the start, others after ``prepare``.
    """

    @property
    def identity(self) -> Identity:
        """What the bot is made of; reading it loads no model and no index."""
        ...

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user should know about this bot."""
        ...

    async def prepare(self) -> None:
        """Load what is needed, before the clock starts. Raises BotMisconfigured when it can't work."""
        ...

    async def close(self) -> None:
        """Give back connections, threads and memory."""
        ...


def as_bot(
    given: object,
    name: str | None = None,
    *,
    options: Mapping[str, object] | None = None,
    identity: Identity | None = None,
) -> BuiltBot:
    """Make a bot of what the user has.

    Args:
        given: a function of the question, plain (run in threads) or asynchronous; an object with ``reply``;
            a class of either, which is made first; a LangChain Runnable; or a bot, which is left as it is.
        name: how it is called in reports; left out, its own name.
        options: keyword arguments: of a class when it is made, of a function at every call.
        identity: what it is made of; left out, a hash of its source and of what it holds.

    Raises:
        TypeError: nothing of the kind.
    """
    chosen = dict(options or {})
    named = name or _own_name(given)
    if inspect.isclass(given):
        identity = identity or _identity(given, chosen)
        given, chosen = given(**chosen), {}
        named = name or _own_name(given)
    if isinstance(given, BuiltBot) and name in (None, given.name) and not chosen:
        return given
    made_of = identity or getattr(given, "identity", None) or _identity(given, chosen)
    if is_runnable(given):
        return LangChainBot(named, given, made_of, **chosen)  # type: ignore[arg-type]  # a Runnable, as was seen
    reply = getattr(given, "reply", None)
    call = reply if callable(reply) else given
    if not callable(call):
        raise TypeError(
            f"a bot must be a function, an object with a method reply(question), or a LangChain Runnable; "
            f"this is a {type(given).__name__}"
        )
    asked = cast("Callable[[str], object]", partial(call, **chosen) if chosen else call)
    return PythonBot(named, asked, made_of, owner=given)


def is_runnable(given: object) -> bool:
    """Whether it is a LangChain Runnable; LangChain is not imported to find out."""
    runnables = sys.modules.get("langchain_core.runnables.base") or sys.modules.get("langchain_core.runnables")
    return runnables is not None and isinstance(given, runnables.Runnable)


def _own_name(given: object) -> str:
    named = getattr(given, "name", None) or getattr(given, "__name__", None)
    if isinstance(given, partial):
        return _own_name(given.func)
    if isinstance(named, str) and named != "<lambda>":
        return named
    return type(given).__name__ if not inspect.isfunction(given) else "function"


def _identity(given: object, options: Mapping[str, object]) -> Identity:
    """What can be told of a thing in memory: its source, and what it holds as it writes itself.

    What its code calls is not seen, nor what hides behind a ``repr`` without content.
    """
    held: list[object] = []
    code = given
    while isinstance(code, partial):
        held += [code.args, sorted(code.keywords.items())]
        code = code.func
    if is_runnable(code):
        source = repr(code)
    elif inspect.isroutine(code) or inspect.isclass(code):
        source = _source(code)
        held += _held_by_function(code)
    else:
        source = _source(type(code))
        held.append(_attributes(code))
    content = without_addresses("\0".join([source, *map(_written, held)]))
    return Identity(
        kind="langchain" if is_runnable(given) else "python",
        settings={"options": redacted(options)} if options else {},
        parts={"code": hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()},
    )


def _source(code: object) -> str:
    try:
        return inspect.getsource(cast("type", code))
    except (OSError, TypeError):
        return f"{getattr(code, '__module__', '')}.{getattr(code, '__qualname__', code)}"


def _held_by_function(code: object) -> list[object]:
    """Defaults, what a closure holds, and the object behind a bound method."""
    cells = [cell.cell_contents for cell in getattr(code, "__closure__", None) or () if _is_filled(cell)]
    owner = getattr(code, "__self__", None)
    held = [getattr(code, "__defaults__", None), getattr(code, "__kwdefaults__", None), cells]
    return held if owner is None or inspect.ismodule(owner) else [*held, type(owner), _attributes(owner)]


def _is_filled(cell: object) -> bool:
    try:
        return hasattr(cell, "cell_contents")
    except ValueError:
        return False


def _attributes(owner: object) -> object:
    return sorted(vars(owner).items()) if hasattr(owner, "__dict__") else repr(owner)


def _written(held: object) -> str:
    try:
        return repr(held)
    except Exception:  # noqa: BLE001 - the user's own __repr__
        return type(held).__name__
