"""Places in a JSON value, written like ``choices.0.message.content``."""

import difflib

from .. import InputError


def look_up(value: object, path: str) -> object:
    """What stands at a path: keys and numbers separated by dots; ``*`` goes through a list; empty is the whole.

    Raises:
        LookupError: there is nothing; the message says how far the path leads and what is there.
    """
    parts = path.split(".") if path else []
    return _walk(value, parts, 0)


def check_path(path: str, setting: str) -> None:
    """Refuse a path with an empty part. Raises InputError naming the setting."""
    if path and not all(path.split(".")):
        raise InputError(f"{setting} {path!r} has an empty part; write it like choices.0.message.content.")


def _walk(value: object, parts: list[str], depth: int) -> object:
    for number, part in enumerate(parts[depth:], depth):
        if part == "*" and isinstance(value, list):
            return [_walk(each, parts, number + 1) for each in value]
        value = _step(value, part, ".".join(parts[:number]))
    return value


def _step(value: object, part: str, above: str) -> object:
    under = f"under {above!r}" if above else "at the top"
    if isinstance(value, dict):
        if part in value:
            return value[part]
        near = difflib.get_close_matches(part, map(str, value), n=1)
        there = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(map(str, value)) or 'nothing'}"
        raise LookupError(f"no {part!r} {under}; {there}")
    if isinstance(value, list) and part.lstrip("-").isdigit():
        try:
            return value[int(part)]
        except IndexError:
            raise LookupError(f"no number {part} {under}; the list there has {len(value)} items") from None
    kind = {list: "a list", str: "a text", type(None): "null"}.get(type(value), f"a {type(value).__name__}")
    raise LookupError(f"no {part!r} {under}; there is {kind}")
