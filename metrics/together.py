"""Awaiting several things at once, so that none goes on unwatched when another fails."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

Result = TypeVar("Result")


async def together(asked: Sequence[Coroutine[Any, Any, Result]]) -> list[Result]:
    """Their results, in their order. All are run to their end; then what the first one raised is raised."""
    outcomes = await asyncio.gather(*asked, return_exceptions=True)
    results: list[Result] = []
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
        results.append(outcome)
    return results
