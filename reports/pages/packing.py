"""Packing: JSON in the form in which a page carries it."""

from __future__ import annotations

import base64
import zlib
from typing import Final

import orjson
from markupsafe import Markup

LEVEL: Final = 6


def packed(data: bytes) -> bytes:
    """JSON compressed (gzip) and in base64, which holds no character that ends a script."""
    squeezed = zlib.compressobj(LEVEL, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    return base64.b64encode(squeezed.compress(data) + squeezed.flush())


def embedded_json(value: object) -> Markup:
    """A small value as JSON inside a script element: nothing in it can end the element or begin a comment."""
    text = orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode("utf-8", "replace")
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - what could end the element is escaped above
