"""Walks a JSON schema and a document side by side: what may stand at a place, in words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .positions import KeyPath

Schema = Mapping[str, Any]

_NAMES = {"string": "text", "boolean": "true or false", "null": "nothing"}


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a document, with what the schema says of it.

    Attributes:
        path: keys and indices; the last one may be missing from the document.
        value: what stands there, None when nothing does.
        nodes: the schemas that may hold here, unions taken apart.
        keys: keys that are known beside this one.
        tags: values of ``type`` between which the mapping here chooses.
        in_union: whether the refusal came from one branch among several.
    """

    path: KeyPath
    value: Any
    nodes: tuple[Schema, ...]
    keys: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    in_union: bool = False


@dataclass(frozen=True, slots=True)
class Walk:
    """A schema (as pydantic writes it) and a document that was held against it."""

    schema: Schema
    document: Any

    def to(self, location: Sequence[str | int]) -> Spot:
        """Follow the location of a pydantic error, leaving out the names of union branches in it."""
        at = self.start()
        for step in location:
            if at.tags and isinstance(at.value, dict) and at.value.get("type") == step:
                at = replace(at, tags=())
            else:
                at = self.step(at, step) or replace(at, in_union=True)
        return at

    def start(self) -> Spot:
        """The document itself."""
        return self._spot((), self.document, (self.schema,), ())

    def step(self, at: Spot, key: str | int) -> Spot | None:
        """The place under a key or index; None when ``key`` is neither in the document nor in the schema."""
        known = tuple(name for node in at.nodes for name in node.get("properties", ()))
        inner = tuple(found for node in at.nodes if (found := _inner(node, key)) is not None)
        present = key in at.value if isinstance(at.value, dict) else False
        if isinstance(key, int) and isinstance(at.value, list):
            present = key < len(at.value)
        if not present and not any(key in node.get("properties", ()) for node in at.nodes):
            return None
        return self._spot((*at.path, key), at.value[key] if present else None, inner, known)

    def leaves(self, at: Spot | None = None) -> Iterator[Spot]:
        """Every place of the document that is neither a mapping nor a list, with its schemas."""
        at = at or self.start()
        if not isinstance(at.value, (dict, list)):
            yield at
            return
        for key in at.value if isinstance(at.value, dict) else range(len(at.value)):
            deeper = self.step(at, key) or self._spot((*at.path, key), at.value[key], (), ())
            yield from self.leaves(deeper)

    def _spot(self, path: KeyPath, value: Any, nodes: Sequence[Schema], keys: tuple[str, ...]) -> Spot:  # noqa: ANN401
        flat: list[Schema] = []
        tags: tuple[str, ...] = ()
        for node in nodes:
            flat += self._branches(node, value)
            tags += tuple(self._resolved(node).get("discriminator", {}).get("mapping", ()))
        return Spot(path, value, tuple(flat), keys, tags)

    def _branches(self, node: Schema, value: Any) -> Iterator[Schema]:  # noqa: ANN401
        """The alternatives of a node: the one that a ``type`` chooses, else all of them."""
        node = self._resolved(node)
        choice = node.get("discriminator", {}).get("mapping", {})
        tag = value.get("type") if isinstance(value, dict) else None
        if isinstance(tag, str) and tag in choice:
            yield from self._branches({"$ref": choice[tag]}, value)
            return
        branches = node.get("anyOf") or node.get("oneOf")
        if not branches:
            yield node
            return
        for branch in branches:
            for found in self._branches(branch, value):
                yield {"description": node["description"], **found} if "description" in node else found

    def _resolved(self, node: Schema) -> Schema:
        if "$ref" not in node:
            return node
        name = str(node["$ref"]).rpartition("/")[2]
        return {**self.schema["$defs"][name], **{key: value for key, value in node.items() if key != "$ref"}}


def _inner(node: Schema, key: str | int) -> Schema | None:
    """The schema of what stands under ``key`` in a value of this schema."""
    if isinstance(key, int):
        ordered = node.get("prefixItems", ())
        found = ordered[key] if key < len(ordered) else node.get("items")
    else:
        found = node.get("properties", {}).get(key, node.get("additionalProperties"))
    return found if isinstance(found, Mapping) else None


def wanted(nodes: Sequence[Schema]) -> str:
    """What the schemas admit, in words: ``a number from 0 to 1``, ``text or a list of text``."""
    said = dict.fromkeys(_words(node) for node in nodes if node.get("type") != "null")
    return " or ".join(said) or "something else"


def _words(node: Schema) -> str:
    if "enum" in node or "const" in node:
        choices = [str(choice) for choice in node.get("enum", (node.get("const"),))]
        return choices[0] if len(choices) == 1 else f"one of {', '.join(choices)}"
    match node.get("type"):
        case "integer":
            return f"a whole number{_bounds(node)}"
        case "number":
            return f"a number{_bounds(node)}"
        case "string" if str(node.get("format", "")).endswith("path"):
            return "the name of a file or folder"
        case "string":
            return "text that is not empty" if node.get("minLength") else "text"
        case "array":
            return _list_words(node)
        case "object":
            return "a mapping with at least one entry" if node.get("minProperties") else "a mapping"
    return _NAMES.get(str(node.get("type")), "another value")


def _list_words(node: Schema) -> str:
    if "prefixItems" in node:
        return f"a list of {len(node['prefixItems'])} values"
    items = node.get("items", {})
    inner = [kind for branch in items.get("anyOf", [items]) if (kind := _plural(branch))]
    ending = " with at least one entry" if node.get("minItems") else ""
    return f"a list{' of ' if inner else ''}{' or '.join(inner)}{ending}"


def _plural(node: Schema) -> str:
    if str(node.get("format", "")).endswith("path"):
        return "such names"
    kinds = {"string": "texts", "integer": "whole numbers", "number": "numbers", "object": "mappings"}
    return kinds.get(str(node.get("type")), "")


def _bounds(node: Schema) -> str:
    low, high = node.get("minimum"), node.get("maximum")
    above, below = node.get("exclusiveMinimum"), node.get("exclusiveMaximum")
    if low is not None and high is not None:
        return f" from {_figure(low)} to {_figure(high)}"
    parts = [
        f"{word} {_figure(bound)}"
        for word, bound in (("of at least", low), ("above", above), ("of at most", high), ("below", below))
        if bound is not None
    ]
    return f" {' and '.join(parts)}" if parts else ""


def _figure(bound: float) -> str:
    return f"{bound:g}"
