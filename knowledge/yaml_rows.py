"""Rows of YAML: a list of objects, with texts kept as they were written."""

from pathlib import Path
from typing import TYPE_CHECKING

from .. import InputError
from .rows import Reading, Row, decoded_whole, not_a_row, repaired
from .yaml_loading import YamlTooMuch, composed

if TYPE_CHECKING:  # ruamel.yaml takes 0.05 s to import, and few files are YAML
    from ruamel.yaml.nodes import Node

_TAG = "tag:yaml.org,2002:"


def yaml_rows(content: bytes, path: Path, listed_under: tuple[str, ...], reading: Reading) -> list[tuple[int, Row]]:
    """(line, row) of a YAML file that is a list of objects, or an object with such a list.

    A number stays a number only when writing it out again gives the same text: ``4.50``, ``007`` and dates
    are texts, because an expected answer must not change when it is read.

    Raises:
        InputError: it is not UTF-8, not YAML, or has no list of objects.
    """
    from ruamel.yaml.error import YAMLError

    text = decoded_whole(content, path)
    if "\0" in text:
        reading.note_repair(text.count("\n", 0, text.index("\0")) + 1)
        text = text.replace("\0", "\ufffd")
    try:
        root, _ = composed(text)
        rows = _list_node(root, path, listed_under)
        return [(node.start_mark.line + 1, _row(node, path, reading)) for node in rows]
    except YAMLError as error:
        raise _not_yaml(error, path) from error
    except YamlTooMuch as error:
        raise InputError(f"{path}:{error.line}: {error.says}.") from error


def _list_node(root: "Node | None", path: Path, listed_under: tuple[str, ...]) -> "list[Node]":
    names = " or ".join(f"`{name}`" for name in listed_under)
    if root is None:
        return []
    if root.tag == f"{_TAG}map":
        keys = {key.value: value for key, value in root.value}
        found = next((keys[name] for name in listed_under if name in keys), None)
        if found is None:
            raise InputError(
                f"{path}: the object has no key {names} with the list of rows; it has {', '.join(map(str, keys))}."
            )
        root = found
    if root.tag != f"{_TAG}seq":
        line = root.start_mark.line + 1
        raise InputError(f"{path}:{line}: a list of objects was wanted, or an object with the key {names}.")
    return list(root.value)


def _row(node: "Node", path: Path, reading: Reading) -> Row:
    line = node.start_mark.line + 1
    value = repaired(_value(node, path), line, reading)
    if not isinstance(value, dict):
        raise not_a_row(path, line, value)
    return value


def _value(node: "Node", path: Path) -> object:
    match (node.tag or "").removeprefix(_TAG):
        case "seq":
            return [_value(item, path) for item in node.value]
        case "map":
            return _object(node, path)
        case "null":
            return None
        case "bool":
            return node.value.lower() == "true"
        case "int" | "float" as kind:
            return _number(node.value, kind)
        case _:
            return str(node.value)


def _object(node: "Node", path: Path) -> Row:
    row: Row = {}
    for key, value in node.value:
        name = str(key.value)
        place = f"{path}:{key.start_mark.line + 1}"
        if key.tag == f"{_TAG}merge":
            raise InputError(f"{place}: merge keys (<<) are not read; write the keys out.")
        if name in row:
            raise InputError(f"{place}: the key `{name}` stands twice in one object.")
        row[name] = _value(value, path)
    return row


def _number(written: str, kind: str) -> object:
    try:
        number: int | float = int(written) if kind == "int" else float(written)
    except ValueError:
        return written
    return number if str(number) == written else written


def _not_yaml(error: Exception, path: Path) -> InputError:
    mark = getattr(error, "problem_mark", None)
    reason = getattr(error, "problem", None) or str(error).splitlines()[0]
    place = f"{path}:{mark.line + 1}" if mark else str(path)
    column = f" (column {mark.column + 1})" if mark else ""
    return InputError(f"{place}: this is not valid YAML: {reason}{column}.")
