"""YAML editing: one object of a list changed, or one added, with comments, order and style left as they were."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from .. import InputError
from .rows import Reading, Row
from .yaml_loading import YamlTooMuch, composed
from .yaml_rows import yaml_rows

if TYPE_CHECKING:
    from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

_LISTED: Final = ("questions",)
_WIDTH: Final = 120


def with_yaml_row(text: str, path: Path, line: int, changes: Mapping[str, object]) -> str:
    """The text with new values in the object that begins on a line; None takes a key away, or says false.

    Raises:
        InputError: there is no such object, or the change can't be made without changing something else.
    """
    bare = text.removeprefix("\ufeff")
    found = [node for node in _list(bare, path).value if node.start_mark.line + 1 == line]
    if not found:
        raise InputError(f"{path}:{line}: no row begins here any more; start again.")
    if len(found) > 1:  # one is an alias of the other, or both stand on one line
        raise InputError(f"{path}:{line}: this line holds more than one row; change it by hand.")
    node = found[0]
    before = _rows(bare, path)
    made = bare
    keys = {str(key.value): (key, value) for key, value in node.value}
    for name in sorted(changes, key=lambda each: -keys[each][1].start_mark.index if each in keys else 1):
        if name in keys:
            made = _with_value(made, node, keys[name], changes[name])
    new = {name: value for name, value in changes.items() if name not in keys and value is not None}
    if new:
        again = next(each for each in _list(made, path).value if each.start_mark.line + 1 == line)
        made = _with_keys(made, again, new)
    expected = [_merged(row, changes) if at == line else row for at, row in before]
    if [_present(row) for _, row in _rows(made, path)] != [_present(row) for row in expected]:
        raise InputError(f"{path}:{line}: this row is written in a way that can't be changed here; change it by hand.")
    return text[: len(text) - len(bare)] + made


def with_yaml_rows(text: str, path: Path, rows: Sequence[Row]) -> str:
    """The text with some objects more at the end of its list.

    Raises:
        InputError: it can't be added without changing something else.
    """
    bare = text.removeprefix("\ufeff")
    listed = _list(bare, path)
    before = _rows(bare, path)
    if listed.flow_style or not listed.value:
        end = listed.end_mark.index - 1
        gap = ", " if listed.value else ""
        made = f"{bare[:end].rstrip().removesuffix(',')}{gap}{', '.join(map(_json, rows))}{bare[end:]}"
    else:
        indent = " " * listed.start_mark.column
        place = _line_end(bare, listed)
        blank = "\n" if _are_apart(bare, listed) else ""
        lines = (f"{blank}{_dumped([row])}" for row in rows)
        dumped = "".join(f"{indent}{line}\n" if line else "\n" for line in "".join(lines).splitlines())
        made = f"{bare[:place]}\n{dumped}{bare[place:].removeprefix(chr(10))}"
    if [each for _, each in _rows(made, path)] != [*(each for _, each in before), *_as_read(rows, path)]:
        raise InputError(f"{path}: its list is written in a way to which nothing can be added here; add it by hand.")
    return text[: len(text) - len(bare)] + made


def _are_apart(text: str, listed: "Node") -> bool:
    """Whether a blank line stands before the last object."""
    start = listed.value[-1].start_mark.index
    return text[:start].rpartition("\n")[0].endswith("\n")


def _list(text: str, path: Path) -> "SequenceNode":
    from ruamel.yaml.error import YAMLError

    root: Any
    try:
        root, _ = composed(text)
    except YamlTooMuch as error:
        raise InputError(f"{path}:{error.line}: {error.says}.") from error
    except YAMLError as error:
        raise InputError(f"{path} is not valid YAML any more; start again.") from error
    if root is not None and root.tag.endswith(":map"):
        root = next((value for key, value in root.value if key.value in _LISTED), None)
    if root is None or not root.tag.endswith(":seq"):
        raise InputError(f"{path}: a list of objects was wanted, or an object with the key `questions`.")
    return cast("SequenceNode", root)


def _rows(text: str, path: Path) -> list[tuple[int, Row]]:
    return yaml_rows(text.encode(), path, _LISTED, Reading())


def _as_read(rows: Sequence[Row], path: Path) -> list[Row]:
    return [row for _, row in _rows(_json(list(rows)), path)]


def _merged(row: Row, changes: Mapping[str, object]) -> Row:
    return row | dict(changes)


def _present(row: Row) -> Row:
    """Without what says nothing: a mark that was taken away may stand there as false."""
    return {key: value for key, value in row.items() if value is not None and value is not False}


def _with_value(text: str, node: "MappingNode", pair: tuple["Node", "Node"], value: object) -> str:
    key, old = pair
    start, end = old.start_mark.index, old.end_mark.index
    if value is None and not node.flow_style and key.start_mark.line > node.start_mark.line:
        begin = text.rfind("\n", 0, key.start_mark.index) + 1
        last = text.find("\n", start + len(text[start:end].rstrip()))
        return text[:begin] + (text[last + 1 :] if last >= 0 else "")
    written = text[start:end]
    tail = written[len(written.rstrip()) :]
    return f"{text[:start]}{_json(False if value is None else value)}{tail}{text[end:]}"


def _with_keys(text: str, node: "MappingNode", new: Mapping[str, object]) -> str:
    if node.flow_style:
        end = node.end_mark.index - 1
        inner = "".join(f", {_json(name)}: {_json(value)}" for name, value in new.items())
        return f"{text[:end].rstrip()}{inner}{text[end:]}"
    place = _line_end(text, node)
    indent = " " * node.start_mark.column
    lines = "".join(f"\n{indent}{name}: {_json(value)}" for name, value in new.items())
    return f"{text[:place]}{lines}{text[place:]}"


def _line_end(text: str, node: "Node") -> int:
    """The end of the line on which the last thing in a node stands."""
    last = node
    while not getattr(last, "flow_style", False) and isinstance(last.value, list) and last.value:
        last = last.value[-1][1] if isinstance(last.value[-1], tuple) else last.value[-1]
    end = last.start_mark.index + len(text[last.start_mark.index : last.end_mark.index].rstrip())
    found = text.find("\n", end)
    return len(text) if found < 0 else found


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _dumped(value: object) -> str:
    from ruamel.yaml import YAML

    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style, yaml.allow_unicode, yaml.width = False, True, _WIDTH
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]  # its own default is None
    file = io.BytesIO()
    yaml.dump(value, file)
    return file.getvalue().decode()
