"""Apart: code of users runs in a task of its own, and whatever it does to itself, the run goes on."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextvars import ContextVar, copy_context
from typing import Any, Final, TypeVar

from ...metrics.declaration import exception_line

Given = TypeVar("Given")
GRACE: Final = 3.0  # seconds for which tasks that somebody left behind are waited for at the end
_FOREIGN: ContextVar[bool] = ContextVar("proctor_foreign", default=False)


class EndedEarly(Exception):  # noqa: N818 - an outcome of a row
    """The code cancelled its task, or raised what would end the program; the message says what."""


class _OwnTask(asyncio.Task[Any]):
    """A task of ours: code of users can't cancel it, neither by mistake nor with all tasks of the loop."""

    def cancel(self, msg: Any | None = None) -> bool:  # noqa: ANN401 - as in the base
        """As in the base class; does nothing when it is asked from within code of users."""
        return False if _FOREIGN.get() else super().cancel(msg)


def new_loop() -> asyncio.AbstractEventLoop:
    """An event loop for a run; see ``run_until_done``."""
    loop = asyncio.new_event_loop()
    loop.set_task_factory(_new_task)
    return loop


def _new_task(
    loop: asyncio.AbstractEventLoop,
    work: Coroutine[Any, Any, Any] | Generator[Any, None, Any],
    **options: Any,  # noqa: ANN401 - as they come
) -> asyncio.Task[Any]:
    kind = asyncio.Task if _FOREIGN.get() else _OwnTask
    return kind(work, loop=loop, **options)


def run_until_done(
    loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Given], interrupted: Callable[[], None]
) -> Given:
    """Run the work to its end, also when code of users stops the loop or lets SystemExit out of a task of its own.

    Args:
        loop: from ``new_loop``.
        work: what is to be done.
        interrupted: called for a KeyboardInterrupt that came out of the loop.
    """
    task = loop.create_task(work)
    while True:
        try:
            return loop.run_until_complete(task)
        except (RuntimeError, SystemExit):
            if task.done():
                raise
        except KeyboardInterrupt:
            if task.done():
                raise
            interrupted()


def close_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel what is left, wait for it a moment, and close the loop. A task that won't end is left alone."""
    try:
        if left := asyncio.all_tasks(loop):
            for task in left:
                task.cancel()
            run_until_done(loop, _ended(left), _nothing)
        run_until_done(loop, loop.shutdown_asyncgens(), _nothing)
        run_until_done(loop, loop.shutdown_default_executor(), _nothing)
    finally:
        loop.close()


async def _ended(tasks: set[asyncio.Task[Any]]) -> None:
    done, _ = await asyncio.wait(tasks, timeout=GRACE)
    for task in done:
        if not task.cancelled():
            task.exception()  # looked at, or the loop would complain of it


def _nothing() -> None:
    """A KeyboardInterrupt of somebody else's, when all is over."""


@contextlib.contextmanager
def foreign() -> Iterator[None]:
    """For code of users that is called and not awaited: it can't cancel our tasks, nor leave a low recursion limit."""
    token = _FOREIGN.set(True)
    try:
        yield
    finally:
        _FOREIGN.reset(token)
        restore_recursion_limit()


async def apart(work: Coroutine[Any, Any, Given]) -> Given:
    """Await code of users in a task of its own.

    Raises:
        EndedEarly: it cancelled its task, or raised SystemExit, KeyboardInterrupt and the like.
        CancelledError: our own task is to end; the code was told so.
        Exception: whatever else the code raised.
    """
    context = copy_context()
    task = context.run(_foreign_task, work)
    try:
        return await task
    except Exception:
        raise
    except asyncio.CancelledError as error:
        ours = asyncio.current_task()
        if ours is None or ours.cancelling():
            raise
        raise EndedEarly(_ending(error)) from None
    except BaseException as error:
        if isinstance(error, GeneratorExit):  # we are being closed: the code's own was caught in its task
            raise
        raise EndedEarly(_ending(error)) from error
    finally:
        if task.done():
            work.close()  # one that was cancelled before it began was never awaited
        restore_recursion_limit()


def cancel_again() -> None:
    """Have the current task end where it next waits, after it was to end and did something first."""
    if (ours := asyncio.current_task()) is not None:
        ours.uncancel()
        ours.cancel()


def _foreign_task(work: Coroutine[Any, Any, Given]) -> asyncio.Task[Given]:
    _FOREIGN.set(True)
    return asyncio.get_running_loop().create_task(_contained(work))


async def _contained(work: Coroutine[Any, Any, Given]) -> Given:
    """What would leave the loop from a task stays in it."""
    try:
        return await work
    except (SystemExit, KeyboardInterrupt, GeneratorExit) as error:
        if isinstance(error, GeneratorExit) and (error.__traceback__ is None or error.__traceback__.tb_next is None):
            raise  # nobody raised it: we are being closed
        raise EndedEarly(_ending(error)) from error


def _ending(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"SystemExit: it called sys.exit({error.code!r})"
    if isinstance(error, asyncio.CancelledError) and not error.args:
        return "CancelledError: it cancelled the task in which it ran"
    return exception_line(error)


_limit: list[int] = []


@contextlib.contextmanager
def steady_recursion_limit() -> Iterator[None]:
    """Refuse to have the recursion limit lowered meanwhile: it holds for every thread, and so for us as well."""
    least, given = sys.getrecursionlimit(), sys.setrecursionlimit

    def set_limit(limit: int, /) -> None:
        if limit < least:
            raise RuntimeError(
                f"the recursion limit can't be lowered to {limit}: it is {least}, and holds for the whole program"
            )
        given(limit)

    _limit.append(least)
    sys.setrecursionlimit = set_limit
    try:
        yield
    finally:
        sys.setrecursionlimit = given
        _limit.pop()
        given(max(least, sys.getrecursionlimit()))


def restore_recursion_limit() -> None:
    """For code that took hold of ``sys.setrecursionlimit`` before."""
    if _limit and sys.getrecursionlimit() < _limit[-1]:
        sys.setrecursionlimit(_limit[-1])
