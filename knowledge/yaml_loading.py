"""The one way in which YAML is read: composed to nodes, and refused before it unfolds into more than memory holds."""

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # ruamel.yaml takes 0.05 s to import, and few files are YAML
    from ruamel.yaml import YAML
    from ruamel.yaml.nodes import Node

MOST_CHARACTERS: Final = 64 << 20  # of a file; a million questions
MOST_UNFOLDED: Final = 100_000  # values that aliases may add
_MOST_REPEATED: Final = 16 << 20  # characters that aliases may add
_MOST_DEPTH: Final = 100


class YamlTooMuch(Exception):  # noqa: N818 - a finding about a text, which the reader reports
    """The text is larger, deeper or more repetitive than anything written by hand; both figures count from 1."""

    def __init__(self, says: str, line: int, column: int) -> None:
        super().__init__(says)
        self.says = says
        self.line = line
        self.column = column


def composed(text: str) -> "tuple[Node | None, YAML]":
    """The root of one YAML 1.2 document, None of a blank one, and what turns its scalars into values.

    Raises:
        YAMLError: it is not YAML.
        YamlTooMuch: it is too long, too deep, a circle, or its aliases unfold into too much.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import ReusedAnchorWarning

    if len(text) > MOST_CHARACTERS:
        raise YamlTooMuch(f"the text has more than {MOST_CHARACTERS >> 20} million characters; write it as JSONL", 1, 1)
    yaml = YAML(typ="safe", pure=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReusedAnchorWarning)  # YAML allows it: the later anchor counts
            root = yaml.compose(text)
    except RecursionError:
        raise _too_deep(text) from None
    if root is not None:
        _check(root)
    return root, yaml


def _children(node: "Node") -> "Iterator[Node]":
    if isinstance(node.value, list):
        for each in node.value:
            yield from each if isinstance(each, tuple) else (each,)


def _check(root: "Node") -> None:
    """Refuse circles, depth, and aliases of aliases; every node is looked at once, however often it is repeated."""
    sizes: dict[int, tuple[int, int]] = {}  # by node: values and characters, unfolded
    opened: set[int] = set()
    most = (_count(root) + MOST_UNFOLDED, _MOST_REPEATED)
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            opened.discard(id(node))
            sizes[id(node)] = _size(node, sizes, most)
        elif id(node) in opened:
            raise _beyond(node, f"the alias *{node.anchor} stands inside what it repeats")
        elif id(node) not in sizes:
            opened.add(id(node))
            if len(opened) > _MOST_DEPTH:
                raise _beyond(node, "the lists or mappings are nested too deeply")
            stack.append((node, True))
            stack += [(child, False) for child in _children(node)]


def _count(root: "Node") -> int:
    """How many nodes there are, each counted once."""
    seen, waiting = {id(root)}, [root]
    while waiting:
        new = {id(child): child for child in _children(waiting.pop()) if id(child) not in seen}
        seen |= new.keys()
        waiting += new.values()
    return len(seen)


def _size(node: "Node", sizes: dict[int, tuple[int, int]], most: tuple[int, int]) -> tuple[int, int]:
    below = [sizes[id(child)] for child in _children(node)]
    own = node.end_mark.index - node.start_mark.index
    values = 1 + sum(each for each, _ in below)
    characters = max(own, sum(each for _, each in below))
    if values > most[0]:
        raise _beyond(node, f"the aliases unfold into more than {MOST_UNFOLDED:,} values")
    if characters - own > most[1]:
        raise _beyond(node, f"the aliases unfold into more than {_MOST_REPEATED >> 20} million characters")
    return values, characters


def _beyond(node: "Node", says: str) -> YamlTooMuch:
    return YamlTooMuch(says, node.start_mark.line + 1, node.start_mark.column + 1)


def _too_deep(text: str) -> YamlTooMuch:
    """Where it becomes too deep: found by the parser's events, which need no stack."""
    from ruamel.yaml import YAML
    from ruamel.yaml.events import CollectionEndEvent, CollectionStartEvent

    says, depth = "the lists or mappings are nested too deeply", 0
    for event in YAML(typ="safe", pure=True).parse(text):
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if depth > _MOST_DEPTH:
            return YamlTooMuch(says, event.start_mark.line + 1, event.start_mark.column + 1)
    return YamlTooMuch(says, 1, 1)
