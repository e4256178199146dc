"""Values of a row turned into what they mean; a wrong one is a WrongValue that says what was wanted."""

import json
import math

from .characters import storable_value
from .questions import MOVED, REJECTED, Constraint, Evidence
from .rows import kind_of

_YES = ("true", "yes", "1")
_NO = ("false", "no", "0")
_LARGEST_COUNT = 2**53  # up to here every whole number is exact as a float


class WrongValue(ValueError):  # noqa: N818 - a finding that the reader of the row turns into a sentence
    """A value can't be what its field wants; the message goes on after the field's name."""


def as_text(value: object) -> str:
    """A text; whole and decimal numbers are written out."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    quoting = " (put it in quotes)" if isinstance(value, bool) else ""
    raise WrongValue(f"must be a text, not {kind_of(value)}{quoting}")


def as_id(value: object) -> str:
    """An id: a text or a whole number."""
    if isinstance(value, float):
        raise WrongValue(f"must be a text or a whole number, not {kind_of(value)}")
    return as_text(value)


def as_texts(value: object) -> tuple[str, ...]:
    """A text or a list of them; blank and null ones are dropped."""
    if type(value) is str:  # by far the most frequent case
        return (value,) if value and not value.isspace() else ()
    items = value if isinstance(value, list) else [value]
    texts = (as_text(item) for item in items if item is not None)
    return tuple(text for text in texts if text and not text.isspace())


def cell_as_texts(value: object) -> tuple[str, ...]:
    """The texts of a cell, separated by ``|``, or a JSON list of them."""
    return as_texts(_cell_items(value))


def as_tags(value: object) -> tuple[str, ...]:
    """Labels: a list, or one text in which ``|`` or else commas separate them."""
    if isinstance(value, str):
        value = value.split("|" if "|" in value else ",")
    return tuple(dict.fromkeys(tag.strip() for tag in as_texts(value)))


def as_constraints(value: object) -> tuple[Constraint, ...]:
    """A text or a list of texts that must all hold; a list inside is a choice of which one must hold."""
    constraints: list[Constraint] = []
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, list):
            if any(isinstance(member, list) for member in item):
                raise WrongValue("may hold lists of texts, but no lists inside those")
            choice = as_texts(item)
            constraints.extend([choice] if choice else [])
        else:
            constraints.extend(as_texts(item))
    return tuple(constraints)


def cell_as_constraints(value: object) -> tuple[Constraint, ...]:
    """The constraints of a cell: separated by ``|``, or a JSON list."""
    return as_constraints(_cell_items(value))


def as_flag(value: object) -> bool | None:
    """True or false, also written as yes or no, 1 or 0; None when blank."""
    if isinstance(value, bool):
        return value
    written = str(value).strip().lower() if isinstance(value, str | int) else None
    if written in _YES:
        return True
    if written in _NO:
        return False
    if written == "":
        return None
    shown = f"{value!r}" if isinstance(value, str) else kind_of(value)
    raise WrongValue(f"must be true or false (or yes, no, 1, 0), not {shown}")


def as_draft(value: object) -> object:
    """The mark of a draft: True while it waits, else what became of it; None for a question like any other."""
    word = value.strip().lower() if isinstance(value, str) else ""
    if word in (REJECTED, MOVED):
        return word
    try:
        return as_flag(value) or None
    except WrongValue:
        shown = f"{value!r}" if isinstance(value, str) else kind_of(value)
        raise WrongValue(f"must be true, false, {REJECTED} or {MOVED}, not {shown}") from None


def as_evidence(value: object) -> tuple[tuple[Evidence, ...], ...]:
    """Groups of evidence, all needed: an object is a group of its own, a list is a group of which one will do."""
    groups = []
    for item in value if isinstance(value, list) else [value]:
        members = item if isinstance(item, list) else [item]
        if members:
            groups.append(tuple(_evidence(member) for member in members))
    return tuple(groups)


def cell_as_evidence(value: object) -> tuple[tuple[Evidence, ...], ...]:
    """The evidence of a cell, written as JSON; none when it is blank."""
    if isinstance(value, str) and not value.strip():
        return ()
    try:
        return as_evidence(storable_value(json.loads(as_text(value))))
    except json.JSONDecodeError as error:
        raise WrongValue(
            f"must be JSON in a table ({error.msg}); for one quote use columns evidence_document and evidence_quote"
        ) from error


def as_it_is(value: object) -> object:
    """The value itself."""
    return value


def cell_as_json(value: object) -> object:
    """The object that a cell holds as JSON; None when it is blank, the text itself when it is no object."""
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return value if value else None
    try:
        return storable_value(json.loads(value))
    except (ValueError, RecursionError):
        return value


def as_contexts(value: object) -> tuple[tuple[str, str], ...] | None:
    """(text, document) of each context: a list of texts or of objects with ``text`` and perhaps ``document``."""
    if isinstance(value, str):
        return ((value, ""),) if value.strip() else None
    if not isinstance(value, list):
        raise WrongValue(f"must be a list of texts, not {kind_of(value)}")
    return tuple(_context(item) for item in value)


def cell_as_contexts(value: object) -> tuple[tuple[str, str], ...] | None:
    """The contexts of a cell: a JSON list, or else one context."""
    found = _json_list(value)
    return as_contexts(value if found is None else found)


def as_amount(value: object) -> float | None:
    """A number that is not below zero; None when blank."""
    if isinstance(value, str) and not value.strip():
        return None
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise WrongValue(f"must be a number, not {kind_of(value)}")
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise WrongValue(f"must be a number, not {value!r:.40}") from None
    if not math.isfinite(number) or number < 0:
        raise WrongValue(f"must be a number from 0 on, not {value}")
    return number


def as_count(value: object) -> int | None:
    """A whole number that is not below zero; None when blank."""
    number = as_amount(value)
    if number is not None and not number.is_integer():
        raise WrongValue(f"must be a whole number, not {value}")
    if number is not None and number > _LARGEST_COUNT:
        raise WrongValue(f"must be at most {_LARGEST_COUNT}, not {value}")
    return None if number is None else int(number)


def _evidence(value: object) -> Evidence:
    if not isinstance(value, dict):
        raise WrongValue(f'must hold objects such as {{"document": ..., "quote": ...}}, not {kind_of(value)}')
    unknown = sorted(value.keys() - {"document", "quote", "start", "end"})
    if unknown:
        raise WrongValue(f"holds an object with the key `{unknown[0]}`; known are document, quote, start, end")
    document = as_text(value.get("document") or "").strip()
    if not document:
        raise WrongValue("holds an object without `document`")
    quote = as_text(value.get("quote") or "")
    start, end = as_count(value.get("start") or 0), as_count(value.get("end") or 0)
    if value.get("start") is None and value.get("end") is None:
        return Evidence(document, quote)
    if start is None or not end or start >= end:
        raise WrongValue(f"holds a span from {value.get('start')} to {value.get('end')}; start must be below end")
    return Evidence(document, quote, start, end)


def _context(value: object) -> tuple[str, str]:
    if isinstance(value, dict):
        if not isinstance(value.get("text"), str):
            raise WrongValue("holds an object without a `text`")
        return value["text"], as_text(value.get("document") or "")
    if not isinstance(value, str):
        raise WrongValue(f"must hold texts, or objects with `text`, not {kind_of(value)}")
    return value, ""


def _cell_items(value: object) -> object:
    found = _json_list(value)
    return value.split("|") if found is None and isinstance(value, str) else found


def _json_list(value: object) -> list[object] | None:
    """The list that a cell holds as JSON; None if it holds something else, such as a pattern that begins with [."""
    if not isinstance(value, str) or not value.lstrip().startswith("["):
        return None
    try:
        items = storable_value(json.loads(value))
    except (ValueError, RecursionError):
        return None
    return items if isinstance(items, list) else None
