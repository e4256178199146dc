"""Objects: what is asked and what is right in the free-form inputs and outputs of tracing tools."""

from typing import Any, Final

from ..questions.rows import Row
from .format import Notes
from .openai_evals import asked_last

_ASKED: Final = ("question", "input", "query", "prompt", "user_input", "text", "message")
_SAID: Final = (
    "answer", "output", "expected_answer", "expected_output", "expected", "reference", "ground_truth", "response",
    "result", "content", "text", "label",
)  # fmt: skip
_CONTEXTS: Final = ("contexts", "retrieved_contexts", "documents", "context", "retrieval_context")


def asked_in(value: Any, line: int, notes: Notes) -> Row:  # noqa: ANN401 - of their JSON
    """The question of an input: a text, messages, or an object with one of these; what else there is stays as extra."""
    if isinstance(value, list):
        return asked_last(value, line, notes)
    if not isinstance(value, dict):
        return {"question": value}
    if isinstance(value.get("messages"), list):
        return {**_rest(value, "messages"), **asked_last(value["messages"], line, notes)}
    key = _key(value, _ASKED)
    if key is None:
        return {"question": None, **value}
    found = asked_last(value[key], line, notes) if isinstance(value[key], list) else {"question": value[key]}
    return {**_rest(value, key), **found}


def said_in(value: Any) -> str | list[str] | None:  # noqa: ANN401 - of their JSON
    """The answer of an output: a text, a list of accepted ones, or an object with one."""
    if isinstance(value, dict):
        if isinstance(messages := value.get("messages"), list) and messages:
            return said_in(messages[-1])
        key = _key(value, _SAID)
        return None if key is None else said_in(value[key])
    if isinstance(value, list):
        texts = [each for each in value if isinstance(each, str)]
        return texts or None
    return None if value is None else str(value)


def contexts_in(value: Any) -> list[Any] | None:  # noqa: ANN401 - of their JSON
    """The contexts of an output, where it has some."""
    if not isinstance(value, dict):
        return None
    found = next((value[key] for key in _CONTEXTS if isinstance(value.get(key), list)), None)
    if found is None:
        return None
    return [
        each if isinstance(each, str) else str(each.get("text") or each.get("page_content") or each) for each in found
    ]


def _key(value: dict[str, Any], names: tuple[str, ...]) -> str | None:
    lowered = {str(key).lower(): key for key in value}
    found = next((lowered[name] for name in names if name in lowered), None)
    return next(iter(value)) if found is None and len(value) == 1 else found


def _rest(value: dict[str, Any], key: str) -> Row:
    return {str(name): each for name, each in value.items() if name != key}
