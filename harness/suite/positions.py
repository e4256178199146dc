"""YAML text as plain values, with the line and the column of every key and item."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from ...knowledge.yaml_loading import YamlTooMuch, composed

KeyPath = tuple[str | int, ...]

_TAG = "tag:yaml.org,2002:"
_CONVERTED = ("null", "bool", "int", "float")
_KNOWN = (*_CONVERTED, "str", "timestamp", "map", "seq")


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A place in a text; both figures count from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Flaw:
    """Something in the text that can't be used, and where."""

    place: Place
    says: str


@dataclass(frozen=True, slots=True)
class PlacedYaml:
    """A document: its values, where each key or item begins, and what was wrong with the text.

    Attributes:
        values: mappings, lists, text, numbers, booleans and None. Keys are text, exactly as they were written.
        places: path of keys and indices -> its place; the empty path is the document.
        flaws: in the order of the text; ``values`` is None when the text could not be parsed at all.
    """

    values: Any
    places: Mapping[KeyPath, Place]
    flaws: tuple[Flaw, ...]


def read_yaml(text: str) -> PlacedYaml:
    """Read one YAML 1.2 document (``no`` stays text), reporting every repeated key and not the first alone."""
    try:
        root, yaml = composed(text)
    except YamlTooMuch as beyond:
        return PlacedYaml(None, {}, (Flaw(Place(beyond.line, beyond.column), beyond.says),))
    except YAMLError as error:
        return PlacedYaml(None, {}, (_syntax_flaw(error, text),))
    builder = _Builder(yaml)
    values = None if root is None else builder.value(root, ())
    return PlacedYaml(values, builder.places, tuple(sorted(builder.flaws, key=lambda flaw: flaw.place)))


class _Builder:
    """Turns nodes into values and notes their places."""

    def __init__(self, yaml: YAML) -> None:
        self.places: dict[KeyPath, Place] = {}
        self.flaws: list[Flaw] = []
        self._construct = yaml.constructor.construct_object

    def value(self, node: Node, path: KeyPath) -> object:
        self.places.setdefault(path, _place(node))
        if _kind(node) not in _KNOWN:
            self.flaws.append(Flaw(_place(node), f"the tag {node.tag} means nothing here; leave it out"))
            return None
        if isinstance(node, ScalarNode):
            return self._scalar(node)
        if isinstance(node, MappingNode):
            return self._mapping(node, path)
        return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]

    def _mapping(self, node: MappingNode, path: KeyPath) -> dict[str, object]:
        merged: dict[str, object] = {}
        for key, value in node.value:
            if _kind(key) == "merge":
                merged = {**self._merge(value, path), **merged}
        own: dict[str, object] = {}
        for key, value in node.value:
            if _kind(key) == "merge":
                continue
            if not isinstance(key, ScalarNode):
                self.flaws.append(Flaw(_place(key), "a key must be text, not a list or a mapping"))
            elif key.value in own:
                first = self.places[*path, key.value].line
                self.flaws.append(Flaw(_place(key), f"the key {key.value} is given twice (first on line {first})"))
            else:
                self.places[*path, key.value] = _place(key)
                own[key.value] = self.value(value, (*path, key.value))
        return {**merged, **own}

    def _merge(self, node: Node, path: KeyPath) -> dict[str, object]:
        """What ``<<: *other`` brings in; keys of the mapping itself come first."""
        sources = node.value if isinstance(node, SequenceNode) else [node]
        merged: dict[str, object] = {}
        for source in sources:
            brought = self.value(source, path) if isinstance(source, MappingNode) else None
            if isinstance(brought, dict):
                merged = {**brought, **merged}
            else:
                self.flaws.append(Flaw(_place(source), "<< wants an alias of a mapping, as in <<: *name"))
        return merged

    def _scalar(self, node: ScalarNode) -> object:
        kind = _kind(node)
        if any("\ud800" <= letter <= "\udfff" for letter in node.value):
            self.flaws.append(Flaw(_place(node), "the text holds half of a surrogate pair, which is no letter"))
            return None
        if kind not in _CONVERTED:
            return node.value
        try:
            return self._construct(node)
        except (ValueError, LookupError, YAMLError):  # what ruamel lets through: int(''), no such truth value
            self.flaws.append(Flaw(_place(node), f"'{node.value}' can't be read as {kind}"))
            return None


def _kind(node: Node) -> str:
    return (node.tag or "").removeprefix(_TAG)


def _place(node: Node) -> Place:
    return Place(node.start_mark.line + 1, node.start_mark.column + 1)


def _syntax_flaw(error: YAMLError, text: str) -> Flaw:
    """What a parser stumbled over, in words that help to mend it."""
    if isinstance(error, ReaderError):
        before = text[: error.position]
        place = Place(before.count("\n") + 1, error.position - (before.rfind("\n") + 1) + 1)
        return Flaw(place, f"the character U+{ord(text[error.position]):04X} is not allowed in YAML")
    if not isinstance(error, MarkedYAMLError) or error.problem_mark is None:
        return Flaw(Place(1, 1), "this is not YAML")
    place = Place(error.problem_mark.line + 1, error.problem_mark.column + 1)
    opened = "" if error.context_mark is None else f" on line {error.context_mark.line + 1}"
    return Flaw(place, next(_explanations(error.problem or "", error.context or "", opened)))


def _explanations(problem: str, context: str, opened: str) -> Iterator[str]:
    """Explanations that fit, best first; the last one always does."""
    if "'\\t'" in problem:
        yield "a tab stands where YAML wants spaces; indent with spaces"
    if "quoted scalar" in context:
        yield f"the quote that was opened{opened} is never closed"
    if "flow" in context:
        yield f"the bracket or brace that was opened{opened} is not closed, or a comma is missing"
    if "mapping values are not allowed" in problem:
        yield "a ':' is not expected here; indent this line like its neighbours, or quote a value that holds ': '"
    if "could not find expected ':'" in problem:
        yield "this line has no ':' after its key"
    if "expected <block end>" in problem:
        yield "this line is not indented like the lines above it"
    if "another document" in problem:
        yield "a second document begins here; a suite file holds one"
    if "undefined alias" in problem:
        yield f"{problem.removeprefix('found ')}; an anchor (&name) must come before its alias (*name)"
    if "character" in problem:
        yield f"{problem}; put the value in quotes"
    yield f"this is not YAML: {problem}"
