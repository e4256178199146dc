"""Contexts: passages in whatever form a bot hands them over, made into one."""

import math
from collections.abc import Iterable, Mapping

from .base import Context

_TEXT = ("text", "content", "page_content", "passage", "chunk", "snippet")
_DOCUMENT = ("document", "document_id", "doc_id", "source", "id", "file", "path", "url", "title")
_START = ("start", "start_index", "start_char")
_END = ("end", "end_index", "end_char")
_SCORE = ("score", "relevance_score", "similarity")


def as_contexts(given: object) -> tuple[Context, ...] | None:
    """Make contexts of a list of texts, mappings, passages or LangChain documents; None stays None.

    Raises:
        TypeError: it is not a list, or something in it has no text.
    """
    if given is None:
        return None
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise TypeError(f"contexts must be a list of passages, not {_kind(given)}")
    return tuple(as_context(each) for each in given)


def as_context(given: object) -> Context:
    """Make one context of a text, a mapping, a passage or a LangChain document.

    Of a mapping, its ``metadata`` are looked through as well. Raises TypeError when there is no text.
    """
    match given:
        case Context():
            return given
        case str():
            return Context(given)
        case Mapping():
            fields = _with_metadata(given)
        case _:
            names = (*_TEXT, *_DOCUMENT, *_START, *_END, *_SCORE, "metadata")
            fields = _with_metadata({name: getattr(given, name) for name in names if hasattr(given, name)})
    text = _first(fields, _TEXT)
    if not isinstance(text, str):
        raise TypeError(f"a context needs a text; {_kind(given)} has none under {', '.join(_TEXT)}")
    document = _first(fields, _DOCUMENT)
    start = _whole(_first(fields, _START))
    end = _whole(_first(fields, _END))
    if start is not None and end is None:
        end = start + len(text)
    return Context(text, "" if document is None else str(document), start, end, _number(_first(fields, _SCORE)))


def _with_metadata(fields: Mapping[str, object]) -> Mapping[str, object]:
    metadata = fields.get("metadata")
    return {**metadata, **_present(fields)} if isinstance(metadata, Mapping) else fields


def _present(fields: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}


def _first(fields: Mapping[str, object], names: Iterable[str]) -> object:
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _number(value: object) -> float | None:
    """A finite number; numpy's own are numbers too."""
    try:
        number = float(value)  # type: ignore[arg-type]  # whatever can't be one raises
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _kind(given: object) -> str:
    if isinstance(given, Mapping):
        return f"a mapping with the keys {', '.join(map(str, given)) or '(none)'}"
    return f"a {type(given).__name__}"
