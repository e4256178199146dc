"""Python bots: the user's own function, class or object, plain or asynchronous."""

import asyncio
import difflib
import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import cast

from .base import Identity, Reply, Usage
from .contexts import as_contexts
from .threads import Threads

_KEYS = ("answer", "contexts", "reasoning", "declined", "tokens_in", "tokens_out", "cost", "trace")


class PythonBot:
    """A bot made of a callable; a plain one runs in threads, so that questions don't wait for each other."""

    def __init__(
        self,
        name: str,
        call: Callable[[str], object],
        identity: Identity,
        owner: object = None,
    ) -> None:
        """``owner`` is the object behind the callable, whose ``prepare`` and ``close`` are called if it has them."""
        self.name = name
        self.identity = identity
        self.warnings: tuple[str, ...] = ()
        self._call = call
        self._owner = owner
        self._asynchronous = is_asynchronous(call)
        self._threads = Threads()
        self._in_use = False

    async def prepare(self) -> None:
        """Call the owner's ``prepare``, if it has one."""
        self._in_use = True
        await self._ask_owner("prepare")

    async def reply(self, question: str) -> Reply:
        """Call the function with the question.

        Raises:
            TypeError: it returned something that is no reply.
            RuntimeError: it tried to leave the process.
        """
        self._in_use = True
        try:
            if self._asynchronous:
                return as_reply(await cast("Awaitable[object]", self._call(question)))
            ran = await self._threads.run(lambda: self._call(question))
            if inspect.isawaitable(ran.value):  # a plain function that hands on a coroutine
                return as_reply(await ran.value)
        except SystemExit as left:
            raise RuntimeError(f"the bot called sys.exit({left.code!r})") from left
        reply = as_reply(ran.value)
        return replace(
            reply,
            queue_ms=reply.queue_ms + ran.wait_ms,
            attempts_ms=reply.attempts_ms or (ran.run_ms,),
        )

    async def close(self) -> None:
        """Call the owner's ``close``, if it has one and was of use, and let the threads go."""
        if self._in_use:
            await self._ask_owner("close")
        self._threads.close()

    async def _ask_owner(self, method: str) -> None:
        found = getattr(self._owner, method, None)
        if not callable(found) or inspect.isclass(self._owner):
            return
        done = found() if is_asynchronous(found) else await asyncio.to_thread(found)
        if inspect.isawaitable(done):
            await done


def is_asynchronous(call: object) -> bool:
    """Whether calling it gives a coroutine; also of partial functions and objects that can be called."""
    if inspect.iscoroutinefunction(call):
        return True
    return inspect.iscoroutinefunction(getattr(call, "__call__", None))  # noqa: B004 - the method is looked at


def as_reply(given: object) -> Reply:
    """Make a Reply of what a bot returned: a Reply, a text, None, a mapping, or ``(answer, contexts)``.

    Raises:
        TypeError: it is none of these.
    """
    match given:
        case Reply():
            return given
        case str() | None:
            return Reply(given)
        case Mapping():
            return _from_mapping(given)
        case (str() | None as answer, contexts):
            return Reply(answer, as_contexts(contexts))
        case _:
            raise TypeError(
                f"a bot must return a text, None, a Reply, a mapping with the key 'answer', or a pair "
                f"(answer, contexts); this one returned a {type(given).__name__}"
            )


def _from_mapping(given: Mapping[str, object]) -> Reply:
    unknown = [key for key in given if key not in _KEYS]
    if "answer" not in given or unknown:
        wrong = str(unknown[0]) if unknown else "answer"
        near = difflib.get_close_matches(wrong, _KEYS, n=1)
        problem = f"the key {wrong!r}" if unknown else "no key 'answer'"
        hint = f"; did you mean {near[0]!r}?" if unknown and near else f"; known are {', '.join(_KEYS)}"
        raise TypeError(f"the bot returned a mapping with {problem}{hint}")
    answer = given["answer"]
    if answer is not None and not isinstance(answer, str):
        raise TypeError(f"the bot returned a {type(answer).__name__} as its answer; it must be a text or None")
    trace = given.get("trace") or {}
    return Reply(
        answer,
        as_contexts(given.get("contexts")),
        Usage(
            tokens_in=cast("int | None", _number(given, "tokens_in")),
            tokens_out=cast("int | None", _number(given, "tokens_out")),
            cost=_number(given, "cost"),
        ),
        reasoning=cast("str | None", given.get("reasoning")),
        declined=cast("bool | None", given.get("declined")),
        trace=trace if isinstance(trace, Mapping) else {"trace": trace},
    )


def _number(given: Mapping[str, object], key: str) -> float | None:
    value = given.get(key)
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise TypeError(f"the bot returned a {type(value).__name__} as {key}; it must be a number or None")
