"""Packing: JSON in the form in which a page carries it."""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

import numpy as np
import orjson
from markupsafe import Markup

LEVEL: Final = 6
AHEAD: Final = 6  # blocks that wait for being compressed or written
# 85 characters that come one after the other, but for "<", which could end the script.
_DIGITS: Final = np.frombuffer(bytes(range(0x28, 0x7D)).replace(b"<", b"}"), np.uint8)


def packed(data: bytes) -> bytes:
    """JSON compressed (gzip) and written in base 85, which holds no character that ends a script."""
    squeezed = zlib.compressobj(LEVEL, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    return in_base_85(squeezed.compress(data) + squeezed.flush())


def packed_ahead(blocks: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """The blocks packed, in their order: a thread compresses one while the next ones are made."""
    waiting: deque[tuple[str, Future[bytes]]] = deque()
    with ThreadPoolExecutor(1) as thread:
        for name, data in blocks:
            waiting.append((name, thread.submit(packed, data)))
            if len(waiting) > AHEAD:
                first, made = waiting.popleft()
                yield first, made.result()
        for first, made in waiting:
            yield first, made.result()


def in_base_85(data: bytes) -> bytes:
    """Bytes as printable ASCII, a quarter longer; base64 would make them a third longer.

    Four bytes, the first of them the highest, are a number of five digits, the first the highest. At the end, up to
    three bytes are as many digits and one more.

    >>> in_base_85(bytes(4)), in_base_85(bytes([255]) * 4), in_base_85(b"a")
    (b'(((((', b'z?^4(', b'G6')
    """
    lacking = -len(data) % 4
    words = np.frombuffer(data + bytes(lacking), ">u4").astype(np.uint32)
    digits = np.empty((len(words), 5), np.uint8)
    for place in range(4, -1, -1):
        words, digits[:, place] = np.divmod(words, np.uint32(85))
    text = _DIGITS[digits].tobytes()
    return text[: len(text) - lacking]


def embedded_json(value: object) -> Markup:
    """A small value as JSON inside a script element: nothing in it can end the element or begin a comment."""
    text = orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode("utf-8", "replace")
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - what could end the element is escaped above
