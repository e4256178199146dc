"""Settings text: nested settings as lines that people read, each text on its own line or in quotes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

LONGEST: Final = 20_000  # characters of one text; a prompt in a suite may be long, a page may not
_PLAIN: Final = re.compile(r"[A-Za-z./$](?:[^\x00-\x1f\x7f-\x9f:#\"'\u2028\u2029]|:(?=\S))*")
_WORDS: Final = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n", "none"})


def settings_text(settings: object) -> str:
    r"""The settings, as YAML has them.

    >>> print(settings_text({"rag": {"top_k": 4, "tags": ["a", "b"], "prompt": "Answer.\nBriefly."}}))
    rag:
      top_k: 4
      tags:
        - a
        - b
      prompt: |-
        Answer.
        Briefly.
    """
    return "\n".join(_lines(settings, ""))


def _lines(value: object, indent: str) -> Iterator[str]:
    match value:
        case Mapping() if value:
            for name, inner in value.items():
                yield from _entry(f"{indent}{_scalar(str(name))}:", inner, indent)
        case list() | tuple() if value:
            for inner in value:
                yield from _entry(f"{indent}-", inner, indent)
        case _:
            yield f"{indent}{_scalar(value)}"


def _entry(head: str, value: object, indent: str) -> Iterator[str]:
    """A key or a dash with what stands behind it or below."""
    if isinstance(value, Mapping | list | tuple) and value:
        yield head
        yield from _lines(value, f"{indent}  ")
    elif isinstance(value, str) and _is_block(value):
        kept = "" if value.endswith("\n") else "-"
        yield f"{head} |{kept}"
        yield from (f"{indent}  {line}" if line else "" for line in _cut(value).removesuffix("\n").split("\n"))
    else:
        yield f"{head} {_scalar(value)}"


def _is_block(text: str) -> bool:
    """Whether it can stand as lines of its own; in quotes otherwise."""
    lines = text.removesuffix("\n").split("\n")
    return len(lines) > 1 and bool(lines[-1]) and not text.startswith((" ", "\n")) and not re.search(r"[\r\t]", text)


def _scalar(value: object) -> str:
    match value:
        case str():
            text = _cut(value)
            return text if _is_plain(text) else json.dumps(text, ensure_ascii=False)
        case Mapping():
            return "{}"
        case list() | tuple():
            return "[]"
    return json.dumps(value, ensure_ascii=False, default=str)


def _is_plain(text: str) -> bool:
    return bool(_PLAIN.fullmatch(text)) and text.strip() == text and text.lower() not in _WORDS and text != "."


def _cut(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}… ({len(text):,} characters; the database has them all)"
