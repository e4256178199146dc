"""Turns: how soon a thread of this program gets the interpreter from another one while a run is under way."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

TURN = 0.0005  # seconds, where Python has 0.005


@contextlib.contextmanager
def short_turns() -> Iterator[None]:
    """Let threads hand over the interpreter sooner.

    The event loop gives it away with every packet that it sends or receives, and with hundreds of requests under way
    waits a whole turn for it each time that the writer or the embedder is at work.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, TURN))
    try:
        yield
    finally:
        sys.setswitchinterval(before)
