"""Mistakes in a suite file: from what a model refused to a sentence with line and column."""

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from .positions import KeyPath, Place, PlacedYaml
from .schema_walk import Schema, Spot, Walk, wanted

_SECRET = ("key", "token", "secret", "password", "headers", "authorization", "options", "body")
_NUMBER = re.compile(r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?")
_OWN_WORDS = ("value_error", "assertion_error")


@dataclass(frozen=True, slots=True, order=True)
class Mistake:
    """One thing to mend: where it stands, under which keys, and the sentence."""

    place: Place
    path: str
    says: str


def nearest(given: str, known: Iterable[str], otherwise: str = "the names are") -> str:
    """``; did you mean X?`` when a known name is close, else all of them (the first twenty)."""
    names = list(known)
    close = difflib.get_close_matches(given, names, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {close[0]}?"
    more = ", ..." if len(names) > 20 else ""
    return f"; {otherwise} {', '.join(names[:20])}{more}" if names else ""


def mistake(document: PlacedYaml, path: KeyPath, says: str) -> Mistake:
    """A mistake at a path of the document, or at the nearest place above it that the file holds."""
    at = path
    while at and at not in document.places:
        at = at[:-1]
    return Mistake(document.places.get(at, Place(1, 1)), ".".join(map(str, path)), says)


def mistakes(error: ValidationError, document: PlacedYaml, schema: Schema) -> list[Mistake]:
    """Every mistake that the model found, each told once and in our own words."""
    walk = Walk(schema, document.values)
    found = [(walk.to(details["loc"]), details) for details in error.errors(include_url=False, include_context=True)]
    reported: dict[tuple[KeyPath, str], Mistake] = {}
    for spot, details in found:
        if not _is_shadowed(spot, details["type"], [other for other, _ in found]):
            told = _tell(spot, details)
            reported[told.path, told.says] = mistake(document, told.path, told.says)
    return list(reported.values())


def _is_shadowed(spot: Spot, kind: str, others: Sequence[Spot]) -> bool:
    """Whether this is a branch of a union that was not meant: another branch got further into the value."""
    if not spot.in_union or kind in _OWN_WORDS:
        return False
    depth = len(spot.path)
    return any(len(other.path) > depth and other.path[:depth] == spot.path for other in others)


@dataclass(frozen=True, slots=True)
class _Told:
    path: KeyPath
    says: str


def _tell(spot: Spot, details: Mapping[str, Any]) -> _Told:
    """The path and the sentence of one refusal."""
    match details["type"]:
        case "extra_forbidden":
            return _Told(spot.path, f"there is no such key{nearest(str(spot.path[-1]), spot.keys, 'the keys are')}")
        case "missing" if spot.path and isinstance(spot.path[-1], str):
            return _Told(spot.path[:-1], _missing(str(spot.path[-1]), spot.nodes))
        case "union_tag_not_found":
            return _Told(spot.path, f"the key type is missing; wanted one of {', '.join(spot.tags)}")
        case "union_tag_invalid":
            given = spot.value.get("type") if isinstance(spot.value, dict) else None
            return _Told((*spot.path, "type"), _not_one_of(given, spot.tags))
        case "value_error" | "assertion_error":
            return _Told(spot.path, str(details["ctx"]["error"]))
    return _Told(spot.path, mismatch(spot))


def _missing(key: str, nodes: Sequence[Schema]) -> str:
    described = next((node["description"] for node in nodes if node.get("description")), "")
    return f"the key {key} is missing" + (f" ({described.rstrip('.')})" if described else "")


def mismatch(spot: Spot) -> str:
    """What was given and what was wanted at a place."""
    choices = [str(choice) for node in spot.nodes for choice in node.get("enum", ())]
    if choices and isinstance(spot.value, str):
        return _not_one_of(spot.value, choices)
    return f"got {given(spot.path, spot.value)}, wanted {wanted(spot.nodes)}{_about_quotes(spot)}"


def _not_one_of(value: object, choices: Sequence[str]) -> str:
    near = difflib.get_close_matches(str(value), choices, n=1, cutoff=0.6)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"got {given((), value)}, wanted {_one_of(choices)}{hint}"


def _one_of(choices: Sequence[str]) -> str:
    return choices[0] if len(choices) == 1 else f"one of {', '.join(choices)}"


def _about_quotes(spot: Spot) -> str:
    types = {node.get("type") for node in spot.nodes}
    if isinstance(spot.value, str) and types & {"integer", "number"} and _NUMBER.fullmatch(spot.value.strip()):
        return "; take the quotes away"
    if isinstance(spot.value, (bool, int, float)) and "string" in types:
        return "; put it in quotes"
    return ""


def given(path: KeyPath, value: object) -> str:
    """A value as a message may show it: short, and never what may be a secret."""
    match value:
        case None:
            return "nothing"
        case dict():
            return "a mapping" if value else "an empty mapping"
        case list() | tuple():
            return "a list" if value else "an empty list"
        case str() if any(word in str(key).lower() for key in path for word in _SECRET):
            return "text"
        case str():
            return f"'{value}'" if len(value) <= 60 else f"'{value[:57]}...'"
    return json.dumps(value)


def written(path: str, found: Iterable[Mistake]) -> Iterator[str]:
    """The mistakes as lines ``suite.yaml:8:5: bots.faq.min_similarity: ...``, in the order of the file."""
    for each in sorted(found):
        where = f"{each.path}: " if each.path else ""
        yield f"{path}:{each.place.line}:{each.place.column}: {_on_one_line(where + each.says)}"


def _on_one_line(text: str) -> str:
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
