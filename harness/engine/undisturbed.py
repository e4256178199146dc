"""Undisturbed: settings of the interpreter that keep the event loop from standing still while a run is under way."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Iterator

TURN = 0.0005  # seconds until a thread that waits for the interpreter gets it, where Python has 0.005


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Let threads hand over the interpreter sooner, and undo at the end what ``settle`` did.

    The event loop gives the interpreter away with every packet that it sends or receives. With hundreds of requests
    under way it would wait a whole turn for it each time that the writer or the embedder is at work.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, TURN))
    try:
        yield
    finally:
        sys.setswitchinterval(before)
        gc.unfreeze()


def settle() -> None:
    """Take all that is loaded by now out of the garbage collector's sight.

    Client libraries bring hundreds of thousands of objects that stay. Looking through them takes a tenth of a second
    each time, in which no answer is read; requests by the hundred make it look often.
    """
    gc.freeze()
