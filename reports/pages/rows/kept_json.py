"""Kept JSON: columns of JSON and long texts as a page may carry them: whole where they are short, told where not."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, Final, TypeAlias

import orjson

from ...encoding import storable

Json: TypeAlias = Any  # what JSON may hold: lists and objects of it

LONGEST: Final = 50_000  # characters of a text that a page shows; the database has the whole
LONGEST_WITHIN: Final = 2_000  # of a text inside JSON that is too long as a whole
# The value of a key: within a text, a backslash stands before the quote.
_LONG_NUMBER: Final = re.compile(r'":(-?\d{1,9}\.\d{5,}(?:[eE][-+]?\d{1,3})?)(?=[,}])')


def cut(name: str, text: str | None, longest: int = LONGEST) -> dict[str, object]:
    """A text under its name; when it is cut, ``NAME_length`` says how long it is."""
    if text is None or len(text) <= longest:
        return {name: text}
    return {name: text[:longest], f"{name}_length": len(text)}


def fragment(text: str) -> orjson.Fragment:
    """JSON text that goes into other JSON as it is; what is no number becomes null."""
    # What other programs write, or we where orjson can't.
    if "NaN" in text or "Infinity" in text or "\\ud" in text:
        text = orjson.dumps(loaded(text)).decode()
    return orjson.Fragment(text)


def loaded(text: str) -> Json:
    """What JSON text says, without what browsers or UTF-8 can't hold."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:  # half of a pair of surrogates, a number that is none
        return _clean(json.loads(text, parse_constant=lambda _: None))


def rounded(text: str) -> str:
    """JSON text with four digits of the long fractions that are values of keys; texts in it stay as they are."""
    return _LONG_NUMBER.sub(_four_digits, text)


def bounded(name: str, text: str) -> dict[str, object]:
    """JSON text under its name; where it is too long, with texts within cut, or ``NAME_length`` alone."""
    if len(text) <= LONGEST:
        return {name: fragment(text)}
    shorter = orjson.dumps(_shortened(loaded(text)))
    if len(shorter) <= LONGEST:
        return {name: orjson.Fragment(shorter)}
    return {f"{name}_length": len(text)}


@lru_cache(50_000)
def short(value: float | None) -> float | None:
    """Four digits: enough to sort by and to show."""
    return None if value is None else float(f"{value:.4g}")


def _clean(value: Json) -> Json:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [_clean(each) for each in value]
    if isinstance(value, dict):
        return {storable(key): _clean(each) for key, each in value.items()}
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return float(value) if abs(value) < 10**300 else str(value)[:20]
    return value


def _four_digits(found: re.Match[str]) -> str:
    if found.string[found.start() - 1] == "\\":  # within a text, which is as somebody wrote it
        return found[0]
    return f'":{float(found[1]):.4g}'


def _shortened(value: Json) -> Json:
    if isinstance(value, str) and len(value) > LONGEST_WITHIN:
        return f"{value[:LONGEST_WITHIN]} … ({len(value):,} characters)"
    if isinstance(value, list):
        return [_shortened(each) for each in value]
    if isinstance(value, dict):
        return {key: _shortened(each) for key, each in value.items()}
    return value
