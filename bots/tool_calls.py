"""Tool calls of a reply: read from what bots, models and LangChain's messages give, within bounds."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ..metrics import ToolCall
from .bot import Context, Reply, first_of

MOST_CALLS: Final = 1_000  # of one reply; more are a bot in a loop
LONGEST: Final = 100_000  # characters of a result, and of arguments as JSON
_WHOLE: Final = LONGEST + 50  # with what is said of the rest: a text that was cut is not cut again
SEARCH: Final = "search"  # what the search of a RAG bot, and of a chain with a retriever, is called

_MOST_SAID: Final = 3  # problems of a reply
_QUOTED: Final = 200  # characters of what was given that a sentence shows
_NAME: Final = ("name", "tool", "tool_name", "function_name")
_ARGUMENTS: Final = ("arguments", "args", "input_parameters", "parameters", "input")
_RESULT: Final = ("result", "output", "content", "response")
_ID: Final = ("id", "tool_call_id", "call_id")
_OF_OBJECTS: Final = (
    *_NAME, *_ARGUMENTS, *_RESULT, *_ID, "error", "status", "type", "role", "function", "tool_calls",
    "invalid_tool_calls",
)  # fmt: skip


@dataclass
class ToolCalls:
    """The calls of one reply, gathered from calls, messages and results in whatever form they come.

    Nothing raises: what can't be read is said in ``problems``, or in the ``error`` of its call.
    """

    calls: list[ToolCall] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add(self, given: object) -> None:
        """Take a call, or a message with calls or with the result of one; other messages have none.

        A call is a ``ToolCall``, a name, or something with a name and arguments, in the forms of OpenAI, LangChain,
        DeepEval or our own. A call with the id of one that is there is the same call.
        """
        if isinstance(given, ToolCall):
            return self._add(_sound(given))
        if isinstance(given, str) and given.strip():
            return self._add(ToolCall(given.strip()))
        fields = _fields(given)
        if not fields:
            self.problems.append(f"a tool call is {_shown(given)}; something with a name and arguments was wanted")
        elif "tool" in (fields.get("role"), fields.get("type")) and first_of(fields, _ARGUMENTS) is None:
            self._add_result(fields)
        elif isinstance(called := fields.get("tool_calls"), Sequence) and not isinstance(called, str):
            for each in (*called, *(_listed(fields.get("invalid_tool_calls")))):
                self.add(each)
        elif "role" not in fields and fields.get("type") not in ("human", "ai", "system"):
            self._add(_call(fields))
        return None

    def finish(self, id: str, result: object, error: str = "") -> None:
        """Note the result of the call with this id; without such a call it is a call of its own, which says so."""
        self._add_result({"tool_call_id": id, "content": result, "error": error})

    def _add(self, call: ToolCall) -> None:
        known = next((place for place, each in enumerate(self.calls) if _is_same(each, call)), None)
        if known is None:
            self.calls.append(call)
            return
        before = self.calls[known]
        self.calls[known] = replace(
            before,
            result=call.result if before.result is None else before.result,
            error=before.error or call.error,
        )

    def _add_result(self, fields: Mapping[str, object]) -> None:
        id = _text(first_of(fields, ("tool_call_id", "id")))
        result = _result(first_of(fields, _RESULT))
        error = _text(fields.get("error")) or (result or "it failed" if fields.get("status") == "error" else "")
        for place, call in enumerate(self.calls):
            if id and call.id == id and call.result is None:
                self.calls[place] = replace(call, result=result, error=call.error or error)
                return
        name = _text(first_of(fields, _NAME)) or "unknown"
        problem = "this is the result of a call that is not there"
        self.calls.append(ToolCall(name, None, result, id, _said(problem, error)))

    def bounded(self) -> tuple[ToolCall, ...]:
        """The calls, so many and so long as are stored; what is left out is said."""
        if len(self.calls) > MOST_CALLS:
            self.problems.append(f"of {len(self.calls):,} tool calls the first {MOST_CALLS:,} are stored")
        return tuple(map(_bounded, self.calls[:MOST_CALLS]))


def _is_same(one: ToolCall, other: ToolCall) -> bool:
    """Whether it is one call that was met twice; some servers give all calls one id."""
    return bool(one.id) and (one.id, one.name, one.arguments) == (other.id, other.name, other.arguments)


def with_tool_calls(reply: Reply, given: object) -> Reply:
    """The reply with tool calls, given as a list in whatever form; what can't be read is said in its trace.

    None means that the bot does not report tools, an empty list that it called none.
    """
    if given is None:
        return reply if reply.tool_calls is None else replace(reply, tool_calls=None)
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        return without_tool_calls(reply, f"they are {_shown(given)}; a list of calls was wanted")
    calls = ToolCalls()
    for each in given:
        calls.add(each)
    return with_gathered(reply, calls)


def without_tool_calls(reply: Reply, problem: str) -> Reply:
    """The reply of a bot that reports tools, of which it is not known which it called, and why."""
    return _noted(replace(reply, tool_calls=None), problem)


def with_gathered(reply: Reply, calls: ToolCalls) -> Reply:
    """The reply with calls that were gathered from several places."""
    read = replace(reply, tool_calls=calls.bounded())
    return _noted(read, "; ".join(calls.problems[:_MOST_SAID])) if calls.problems else read


def search_call(query: str, contexts: Iterable[Context]) -> ToolCall:
    """The call of a bot that searches before it answers, whether a model wanted it or not.

    Its result names the places that were found, best first; their texts are the contexts of the reply.
    """
    places = (
        f"{each.document}:{each.start}-{each.end}" if each.start is not None else each.document for each in contexts
    )
    return ToolCall(SEARCH, {"query": query}, "\n".join(places))


def _noted(reply: Reply, problem: str) -> Reply:
    left = reply.trace.get("not_kept")
    return replace(
        reply,
        trace={**reply.trace, "not_kept": {**(left if isinstance(left, Mapping) else {}), "tool_calls": problem}},
    )


def _fields(given: object) -> Mapping[str, object]:
    """What something says of itself by the names that are known; OpenAI's ``function`` is taken apart."""
    if isinstance(given, Mapping):
        fields = {str(name): value for name, value in given.items()}
    else:
        fields = {name: value for name in _OF_OBJECTS if (value := getattr(given, name, None)) is not None}
        fields = {name: value for name, value in fields.items() if not callable(value)}
    function = fields.get("function")
    match function:
        case None:
            return fields
        case str():
            return {"name": function, **fields}
    return {**fields, **_fields(function)}


def _call(fields: Mapping[str, object]) -> ToolCall:
    name = _text(first_of(fields, _NAME))
    arguments, wrong = _arguments(first_of(fields, _ARGUMENTS))
    error = _said("" if name else "it has no name", wrong, _text(fields.get("error")))
    result, id = _result(first_of(fields, _RESULT)), _text(first_of(fields, _ID))
    return ToolCall(name or "unknown", arguments, result, id, error)


def _arguments(given: object) -> tuple[Mapping[str, object] | None, str]:
    """Arguments by name, and what is wrong with them; models write them as JSON, and at times break it."""
    if given is None or given == "":
        return {}, ""
    if isinstance(given, str):
        try:
            read = json.loads(given)
        except (ValueError, RecursionError):
            return None, f"its arguments are no JSON: {_shown(given)}"
        if read is None:
            return {}, ""
        given = read
    if not isinstance(given, Mapping):
        return None, f"its arguments are {_shown(given)}; an object was wanted"
    return {str(name): value for name, value in given.items()}, ""


def _sound(call: ToolCall) -> ToolCall:
    """A call that a bot made itself, with the types that it says it has."""
    arguments, wrong = (None, "") if call.arguments is None else _arguments(call.arguments)
    return ToolCall(
        _text(call.name) or "unknown", arguments, _result(call.result), _text(call.id), _said(_text(call.error), wrong)
    )


def _bounded(call: ToolCall) -> ToolCall:
    result = call.result
    if result is not None and len(result) > _WHOLE:
        call = replace(call, result=f"{result[:LONGEST]}… ({len(result) - LONGEST:,} more characters)")
    if call.arguments and (length := len(_json(call.arguments))) > LONGEST:
        wrong = f"its arguments have {length:,} characters; {LONGEST:,} are stored at most"
        call = replace(call, arguments=None, error=_said(call.error, wrong))
    return call if len(call.name) <= _QUOTED + 1 else replace(call, name=f"{call.name[:_QUOTED]}…")


def _said(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def _result(given: object) -> str | None:
    return given if given is None or isinstance(given, str) else _json(given)


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return str(value)


def _listed(given: object) -> Sequence[object]:
    return given if isinstance(given, list | tuple) else ()


def _text(given: object) -> str:
    return "" if given is None else given.strip() if isinstance(given, str) else str(given)


def _shown(given: object) -> str:
    if given is None:
        return "null"
    written = " ".join(str(given).split())
    return f"{written[:_QUOTED]}… ({type(given).__name__})" if len(written) > _QUOTED else f"{written!r}"
