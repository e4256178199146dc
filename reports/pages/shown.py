"""Shown: text from anywhere made safe for a page: characters that hide or turn others around are made visible."""

from __future__ import annotations

from typing import Final

# Overrides and embeddings turn a whole line around; a page isolates texts, so nobody needs them to be obeyed.
_TURNING: Final = [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_PICTURES: Final[dict[int, int | str]] = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n\r"},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
    **{code: f"\u27e8U+{code:04X}\u27e9" for code in _TURNING},
    **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD),
}  # fmt: skip


def shown(text: str) -> str:
    r"""The text with control characters as their pictures, and marks that turn text around spelt out.

    >>> shown("a\x00b\x1b[31m")
    'a␀b␛[31m'
    """
    return text.translate(_PICTURES)
