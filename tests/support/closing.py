"""Closing a model that is busy, without a guess at how long it takes until it takes no more."""

import asyncio
from collections.abc import Awaitable, Callable


async def closing(close: Callable[[], None], ask: Callable[[], Awaitable[object]]) -> asyncio.Task[None]:
    """Close from another thread; returns once nothing more is taken, while ``close`` may still wait.

    Args:
        close: closes the model.
        ask: asks it something that it can't answer before it is closed; raises at once where it takes no more.
    """
    task = asyncio.create_task(asyncio.to_thread(close))
    while True:
        attempt = asyncio.ensure_future(ask())
        await asyncio.sleep(0.01)
        if attempt.done():
            assert isinstance(attempt.exception(), RuntimeError)
            return task
        attempt.cancel()
