"""OpenTelemetry: spans of generative AI, as OTLP JSON or protobuf, become recorded answers.

Read are the semantic conventions for GenAI (attributes ``gen_ai.*`` and their older events), those of OpenLLMetry
(``gen_ai.prompt.0.content``, ``traceloop.*``) and of OpenInference (``llm.input_messages.0.message.content``).
"""

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson

from ... import InputError
from ..documents.document import storable_value
from ..paths import unreadable
from ..questions.row_files import MOST_IN_MEMORY, file_kind
from ..questions.rows import Row
from .chat_messages import asked_last, said_in
from .format import Format, Head, Notes
from .reading import PROTOBUF, records, whole_json

Item = dict[str, Any]
_MOST_OPEN: Final = 10_000  # traces that wait for more of their spans; then the one that waits longest is complete
_DEPTH: Final = 12  # parts of an attribute's name
_LEAST_TAKEN_IN: Final = 8  # characters of a reply by which it is known where it comes again
_FAILED: Final = (2, "2", "STATUS_CODE_ERROR")
_ASKS_MODEL: Final = ("chat", "text_completion", "generate_content", "completion", "llm")
_SEARCHES: Final = ("retrieval", "retriever", "reranker")
_CALLS_TOOL: Final = ("execute_tool", "tool")
_TOOL_ROLES: Final = ("tool", "function")  # what they say stands with their calls
_SESSION: Final = ("gen_ai.conversation.id", "session.id", "traceloop.association.properties.session_id")
_MODEL: Final = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
_IN: Final = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt",
              "llm.usage.prompt_tokens")  # fmt: skip
_OUT: Final = ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion",
               "llm.usage.completion_tokens")  # fmt: skip


@dataclass(slots=True)
class _Span:
    """A span: who, when, and what its attributes and events say."""

    id: str
    parent: str
    start: int
    end: int
    service: str
    attributes: Item
    events: list[tuple[str, Item]]
    failed: str
    line: int
    asked: list[Item] = field(default_factory=list)
    replied: list[Item] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """What it does: ``chat``, ``retrieval``, ``execute_tool`` or what other conventions call these; or blank."""
        names = ("gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind", "llm.request.type")
        return next((str(self.attributes[name]).lower() for name in names if self.attributes.get(name)), "")

    def first(self, names: Iterable[str]) -> Any:  # noqa: ANN401 - whatever an attribute holds
        """The first of these attributes that is there."""
        return next((self.attributes[name] for name in names if self.attributes.get(name) not in (None, "")), None)


# ---------------------------------------------------------------- files


def _detect(head: Head) -> str | None:
    if head.kind == "protobuf":
        return f"its name ends in {head.path.suffix}, as OTLP in protobuf"
    if "resourceSpans" in head.data or "resourceSpans" in head.keys:
        return "the key resourceSpans, as OTLP has it"
    return None


def _read(path: Path, notes: Notes) -> Iterator[tuple[int, Row]]:
    open_traces: dict[str, list[_Span]] = {}
    spans = answers = 0
    for line, request in _requests(path):
        for trace, span in _spans(request, line):
            spans += 1
            of_trace = open_traces.pop(trace, [])
            of_trace.append(span)
            open_traces[trace] = of_trace  # the last to have got one is the last to be complete
        while len(open_traces) > _MOST_OPEN:
            oldest = next(iter(open_traces))
            for row in _rows(oldest, open_traces.pop(oldest), notes):
                answers += 1
                yield row
    for trace, of_trace in open_traces.items():
        for row in _rows(trace, of_trace, notes):
            answers += 1
            yield row
    if not answers:
        raise InputError(
            f"{path} has {spans:,} spans, and none says what was asked of a model. Have the application record "
            "messages: OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=span_only, or TRACELOOP_TRACE_CONTENT=true."
        )


def _requests(path: Path) -> Iterator[tuple[int, Item]]:
    """(line, export request) of a file: one object, one a line, or protobuf."""
    if path.suffix.lower() in PROTOBUF:
        for number, message in enumerate(_messages(path), 1):
            yield number, otlp_object(message, str(path))
    elif file_kind(path) == "jsonl":
        yield from records(path)
    else:
        found = whole_json(path)
        listed = found if isinstance(found, list) else [found]
        for number, each in enumerate(listed, 1):
            if not isinstance(each, dict) or not isinstance(each.get("resourceSpans"), list):
                raise InputError(f"{path}: an object with the list `resourceSpans` was wanted, as OTLP has it.")
            yield number, each


def _messages(path: Path) -> Iterator[bytes]:
    """The messages of a file: one, or several with four bytes of length before each, as the Collector writes them."""
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            content = stream.read() if size <= MOST_IN_MEMORY else b""
    except OSError as error:
        raise unreadable(path, error) from error
    if not size:
        raise InputError(f"{path} is empty.")
    if not content:
        raise InputError(f"{path} is larger than {MOST_IN_MEMORY >> 20} MB; have the Collector write JSON.")
    if content[0] == 0x0A:  # the first field of a message
        yield content
        return
    place = 0
    while place < len(content):
        size = int.from_bytes(content[place : place + 4], "big")
        if not 0 < size <= len(content) - place - 4:
            raise InputError(f"{path} is no OTLP: byte {place} begins no message.")
        yield content[place + 4 : place + 4 + size]
        place += 4 + size


def otlp_object(message: bytes, where: str) -> Item:
    """An export request in protobuf as the object that OTLP JSON has for it; ``where`` names it in messages.

    Raises:
        InputError: it is none, or the package that reads it is not installed.
    """
    try:
        from google.protobuf.json_format import MessageToDict
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    except ImportError as error:
        raise InputError(
            f"{where} wants opentelemetry-proto, which is not installed: pip install 'proctor[otel]'."
        ) from error
    try:
        made: Item = MessageToDict(ExportTraceServiceRequest.FromString(message))
    except (DecodeError, RecursionError) as error:
        raise InputError(f"{where} is no OTLP export request in protobuf: {error}.") from error
    for span in _each_span(made):
        for name in ("traceId", "spanId", "parentSpanId"):
            span[1][name] = _hex(span[1].get(name, ""))
    return made


def _hex(given: str) -> str:
    try:
        return base64.b64decode(given).hex()
    except (binascii.Error, ValueError):
        return given


def _each_span(request: Item) -> Iterator[tuple[Item, Item]]:
    """(resource, span) of a request."""
    for group in request.get("resourceSpans") or []:
        resource = group.get("resource") or {}
        for scope in group.get("scopeSpans") or group.get("instrumentationLibrarySpans") or []:
            for span in scope.get("spans") or []:
                yield resource, span


def count_spans(request: Item) -> int:
    """How many spans an export request has."""
    return sum(1 for _ in _each_span(request))


def _spans(request: Item, line: int) -> Iterator[tuple[str, _Span]]:
    for resource, span in _each_span(request):
        about = _attributes(resource.get("attributes"))
        status = span.get("status") or {}
        made = _Span(
            id=str(span.get("spanId") or ""),
            parent=str(span.get("parentSpanId") or ""),
            start=int(span.get("startTimeUnixNano") or 0),
            end=int(span.get("endTimeUnixNano") or 0),
            service=str(about.get("service.name") or ""),
            attributes=_attributes(span.get("attributes")),
            events=[(str(each.get("name")), _attributes(each.get("attributes"))) for each in span.get("events") or []],
            failed=str(status.get("message") or "it failed") if status.get("code") in _FAILED else "",
            line=line,
        )
        yield str(span.get("traceId") or ""), made


def _attributes(given: object) -> Item:
    found = given if isinstance(given, list) else []
    return {str(each["key"]): _value(each.get("value")) for each in found if isinstance(each, dict) and "key" in each}


def _value(given: Any) -> Any:  # noqa: ANN401 - any value of OTLP
    if not isinstance(given, dict):
        return given
    if "arrayValue" in given:
        return [_value(each) for each in (given["arrayValue"] or {}).get("values") or []]
    if "kvlistValue" in given:
        return _attributes((given["kvlistValue"] or {}).get("values"))
    if "intValue" in given:
        return int(given["intValue"])
    return next(iter(given.values()), None)


# ---------------------------------------------------------------- answers


def _rows(trace: str, spans: list[_Span], notes: Notes) -> Iterator[tuple[int, Row]]:
    """The answers of a trace."""
    once = {each.id: each for each in spans}.values()  # an exporter that tries again sends some twice
    spans = sorted(once, key=lambda each: (each.end, each.start))
    for span in spans:
        span.asked, span.replied = _spoken(span)
    by_id = {span.id: span for span in spans}
    talked = [span for span in spans if any(each["role"] == "user" for each in span.asked)]
    groups = _groups(talked or _outermost(spans), by_id, notes)
    if not groups and any(span.attributes.get("gen_ai.request.model") for span in spans):
        notes.lose("a trace without messages is", "the application must record what is said (capture of content)")
    tops = _tops(groups, by_id)
    shares = _shares(groups, tops, spans, by_id)
    for number, (group, top, share) in enumerate(zip(groups, tops, shares, strict=True), 1):
        identity = trace if number == 1 else f"{trace}-{number}"
        yield group[0].line, _row(identity, group, top, share, notes)


def _groups(talked: Sequence[_Span], by_id: Mapping[str, _Span], notes: Notes) -> list[list[_Span]]:
    """Calls of a model by what they answer.

    Those with the same messages of the user are one answer: an agent calls its model again with what tools said. Of
    calls below one span those on whose messages another goes on are earlier turns, and those that serve a later one
    are steps, such as one that puts the question in other words to search with. Each other one answers a question.
    """
    asked: dict[str, dict[tuple[str, ...], list[_Span]]] = {}
    for span in talked:
        users = tuple(each["content"] for each in span.asked if each["role"] == "user")
        asked.setdefault(_ancestors(span, by_id)[-1].id, {}).setdefault(users, []).append(span)
    made = []
    for groups in asked.values():
        turns = {users[:length] for users in groups for length in range(1, len(users))}
        in_order = sorted(groups.items(), key=lambda each: (each[1][-1].end, len(each[0])))
        inputs = [(each.end, _taken_in(each)) for each in by_id.values()] if len(groups) > 1 else []
        for place, (users, group) in enumerate(in_order, 1):
            later = [_plain(others[-1]) for others, _ in in_order[place:]]
            if users in turns or not _is_step(group, _plain(users[-1]), later, inputs):
                made.append(group)
            else:
                notes.lose("a call with other messages is", "it serves a later call, which answers", group[0].line)
    return made


def _is_step(group: Sequence[_Span], asked: str, later: Sequence[str], inputs: Sequence[tuple[int, str]]) -> bool:
    """Whether a later call is asked the same in other words, or a later span takes in what this one replied."""
    if any(asked in other or (other and other in asked) for other in later):
        return True
    replied, end = _plain(_text_of(group[-1].replied)), group[-1].end
    return len(replied) >= _LEAST_TAKEN_IN and any(after > end and replied in text for after, text in inputs)


def _taken_in(span: _Span) -> str:
    given = span.first(
        ("gen_ai.retrieval.query", "gen_ai.retrieval.query.text", "input.value", "traceloop.entity.input")
    )
    others = [each for each in span.asked if each["role"] != "assistant"]  # what was said before is history
    return _plain(f"{_text_of(others)} {'' if given is None else _as_text(given)}")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _outermost(spans: Sequence[_Span]) -> list[_Span]:
    """The span with the text that went in and came out of a whole chain, where no call of a model has messages."""
    for span in sorted(spans, key=lambda each: each.start - each.end):
        given = span.first(("input.value", "traceloop.entity.input"))
        if given is not None and span.kind not in (*_SEARCHES, *_CALLS_TOOL, "embedding", "embeddings"):
            asked = said_in(_json(given))
            if isinstance(asked, str) and asked.strip():
                span.asked = [_said("user", asked)]
                answer = said_in(_json(span.first(("output.value", "traceloop.entity.output"))))
                span.replied = [_said("assistant", answer)] if isinstance(answer, str) else []
                return [span]
    return []


def _tops(groups: Sequence[Sequence[_Span]], by_id: Mapping[str, _Span]) -> list[_Span]:
    """For each group the outermost span that is of it alone: how long that took is what the user waited for."""
    lines = [[_ancestors(span, by_id) for span in group] for group in groups]
    ids = [{each.id for line in group for each in line} for group in lines]
    made = []
    for number, group in enumerate(lines):
        others = set().union(*(each for place, each in enumerate(ids) if place != number))
        own = [each for each in group[-1] if each.id not in others]
        made.append(own[-1] if own else groups[number][-1])
    return made


def _ancestors(span: _Span, by_id: Mapping[str, _Span]) -> list[_Span]:
    """The span and those above it, outwards, as far as they are there."""
    line = [span]
    seen = {span.id}
    while (above := by_id.get(line[-1].parent)) is not None and above.id not in seen:
        line.append(above)
        seen.add(above.id)
    return line


def _shares(
    groups: Sequence[Sequence[_Span]], tops: Sequence[_Span], spans: Sequence[_Span], by_id: Mapping[str, _Span]
) -> list[list[_Span]]:
    """The spans of each answer: those within its outermost one, and what ended beside it before it did."""
    if len(groups) == 1:
        return [list(spans)]
    shares: list[list[_Span]] = [[] for _ in groups]
    place_of = {top.id: place for place, top in enumerate(tops)}
    ends = [(group[-1].end, _ancestors(group[-1], by_id)[-1]) for group in groups]
    for span in spans:
        line = _ancestors(span, by_id)
        place = next((place_of[each.id] for each in line if each.id in place_of), None)
        if place is None:
            place = next((n for n, (end, root) in enumerate(ends) if end >= span.end and root is line[-1]), None)
        if place is not None:
            shares[place].append(span)
    return shares


def _row(identity: str, group: Sequence[_Span], top: _Span, spans: Sequence[_Span], notes: Notes) -> Row:
    last = group[-1]
    spoken = [
        each for each in last.asked if each["role"] == "user" or (each["content"] and each["role"] not in _TOOL_ROLES)
    ]
    row = asked_last(spoken, last.line, notes)
    answered = [(span, text) for span in group if (text := _text_of(span.replied))]
    answer = answered[-1][1] if answered else None
    row |= {"id": identity, "answer": answer, "bot": _bot(group)}
    failed = next((span.failed for span in reversed(group) if span.failed), "")
    if answer is None and failed:
        row["error"] = failed
    if top.end > top.start > 0:
        row["latency_ms"] = (top.end - top.start) / 1e6
    asking = [span for span in group if span.kind in _ASKS_MODEL] or [last]
    for name, names in (("tokens_in", _IN), ("tokens_out", _OUT)):
        counts = [span.first(names) for span in asking]
        if all(isinstance(each, int) for each in counts):
            row[name] = sum(counts)
    calls = _calls(group, spans)
    if calls:
        row["tool_calls"] = calls
    contexts = _contexts(spans)
    if contexts is None and calls:
        contexts = [{"text": call["result"]} for call in calls if call.get("result")] or None
    if contexts is not None:
        row["contexts"] = contexts
    for name, about in (("model", last.first(_MODEL)), ("session", last.first(_SESSION))):
        if about is not None:
            row[name] = str(about)
    return {key: value for key, value in row.items() if value is not None or key in ("question", "answer")}


def _bot(group: Sequence[_Span]) -> str:
    service = group[-1].service
    named = "" if service.startswith("unknown_service") else service
    agents = (span.attributes.get("gen_ai.agent.name") for span in reversed(group))
    return named or str(next(filter(None, agents), "") or group[-1].first(_MODEL) or "recorded")


def _text_of(messages: Sequence[Item]) -> str:
    return "\n\n".join(each["content"] for each in messages if each["content"])


def _calls(group: Sequence[_Span], spans: Sequence[_Span]) -> list[Item]:
    """The tools that models wanted to be called, or spans say were, with the results that later messages have."""
    found: dict[str, Item] = {}
    results: dict[str, str] = {}
    for span in group:
        asked_since = max((place for place, each in enumerate(span.asked) if each["role"] == "user"), default=0)
        for message in (*span.asked[asked_since:], *span.replied):
            for call in message["tool_calls"]:
                found.setdefault(call["id"] or f"{call['name']} {call['arguments']}", call)
            results |= message["results"]
    waiting = dict(found)
    for span in spans:
        if span.kind in _CALLS_TOOL:
            call = _call_of(span)
            same = next((key for key, each in waiting.items() if _is_same(each, call)), "")
            target = waiting.pop(same) if same else found.setdefault(call["id"] or span.id, call)
            if call.get("result"):
                target.setdefault("result", call["result"])
    for key, result in results.items():
        if key in found:
            found[key].setdefault("result", result)
    return [{name: value for name, value in call.items() if value not in (None, "")} for call in found.values()]


def _is_same(one: Item, other: Item) -> bool:
    """Whether a span is of a call that a message has: by its id, or by its name where the span knows no id."""
    return bool(one["id"] == other["id"] if other["id"] and one["id"] else one["name"] == other["name"])


def _call_of(span: _Span) -> Item:
    attributes = span.attributes
    given = span.first(("gen_ai.tool.call.arguments", "tool.parameters", "input.value", "traceloop.entity.input"))
    made = {
        "name": str(span.first(("gen_ai.tool.name", "tool.name", "traceloop.entity.name")) or "tool"),
        "arguments": _arguments(given),
        "id": str(attributes.get("gen_ai.tool.call.id") or ""),
    }
    result = span.first(("gen_ai.tool.call.result", "output.value", "traceloop.entity.output"))
    return made | ({} if result is None else {"result": _as_text(result)})


def _contexts(spans: Sequence[_Span]) -> list[Item] | None:
    """What was retrieved: of the last reranker, or of all searches; None where no span is a search."""
    reranked = [_documents(span, "reranker.output_documents") for span in spans if span.kind == "reranker"]
    if reranked and reranked[-1]:
        return reranked[-1]
    found: list[Item] = []
    searched = False
    for span in spans:
        given = span.attributes.get("gen_ai.retrieval.documents")
        stored = [about for name, about in span.events if name == "db.query.result"]
        documents = _documents(span, "retrieval.documents")
        if given is not None:
            parsed = _json(given)
            documents += [_document(each) for each in (parsed if isinstance(parsed, list) else [])]
        documents += [
            {"text": str(each["db.query.result.document"]), "document": str(each.get("db.query.result.id") or "")}
            for each in stored
            if each.get("db.query.result.document")
        ]
        searched = searched or bool(documents) or span.kind in ("retrieval", "retriever")
        found += documents
    return [each for each in found if each["text"]] if searched else None


def _documents(span: _Span, prefix: str) -> list[Item]:
    return [_document(each) for each in _listed(span.attributes, prefix)]


def _document(given: Any) -> Item:  # noqa: ANN401 - of their JSON
    if not isinstance(given, dict):
        return {"text": _as_text(given)}
    about = given.get("document", given)
    about = about if isinstance(about, dict) else {"content": about}
    text = next((about[key] for key in ("content", "text", "page_content") if about.get(key)), "")
    name = next((about[key] for key in ("id", "document_id", "uri", "title") if about.get(key)), "")
    return {"text": _as_text(text), "document": str(name)}


# ---------------------------------------------------------------- messages


def _spoken(span: _Span) -> tuple[list[Item], list[Item]]:
    """What was put to a model and what it said, in whichever of the conventions it is written."""
    attributes = span.attributes
    for name, about in span.events:  # of 2025, with the messages in an event
        if name == "gen_ai.client.inference.operation.details":
            attributes = {**attributes, **about}
    asked = _whole(attributes.get("gen_ai.input.messages")) or _whole(attributes.get("gen_ai.prompt"))
    asked = asked or [*map(_message, _listed(attributes, "gen_ai.prompt"))]
    asked = asked or [*map(_message, _listed(attributes, "llm.input_messages"))]
    replied = _whole(attributes.get("gen_ai.output.messages")) or _whole(
        attributes.get("gen_ai.completion"), "assistant"
    )
    replied = replied or [*map(_message, _listed(attributes, "gen_ai.completion"))]
    replied = replied or [*map(_message, _listed(attributes, "llm.output_messages"))]
    if not asked:
        asked, choices = _of_events(span.events)
        replied = replied or choices
    return asked, replied


def _of_events(events: Sequence[tuple[str, Item]]) -> tuple[list[Item], list[Item]]:
    """Messages that are events of their own, as the conventions had them until 2025."""
    asked: list[Item] = []
    replied: list[Item] = []
    for name, about in events:
        found = {key.removeprefix("gen_ai.event."): value for key, value in about.items()}
        if name == "gen_ai.choice":
            message = _json(found.get("message", found))
            replied.append(_message({"role": "assistant", **(message if isinstance(message, dict) else found)}))
        elif name == "gen_ai.content.prompt":
            asked += _whole(about.get("gen_ai.prompt"))
        elif name == "gen_ai.content.completion":
            replied += _whole(about.get("gen_ai.completion"), "assistant")
        elif name.startswith("gen_ai.") and name.endswith(".message"):
            role = name.removeprefix("gen_ai.").removesuffix(".message")
            asked.append(_message({"role": role, **found}))
    return asked, replied


def _whole(given: object, role: str = "user") -> list[Item]:
    """Messages in one attribute: a list, perhaps as JSON, or the text of one."""
    if given in (None, ""):
        return []
    found = _json(given)
    if isinstance(found, dict):
        found = found.get("messages", [found])
    if isinstance(found, list):
        return [_message({"role": role, **each}) for each in found if isinstance(each, dict)]
    return [_said(role, str(found))]


def _said(role: str, text: str) -> Item:
    return {"role": role, "content": text, "tool_calls": [], "results": {}}


def _message(given: Item) -> Item:
    """A message of any convention: role, text, tool calls, and the results of tools by the ids of their calls."""
    inner = given.get("message")
    message = inner if isinstance(inner, dict) else given
    role = {"human": "user", "ai": "assistant", "model": "assistant"}.get(
        found := str(message.get("role") or "").lower(), found
    )
    parts = next(
        (each for key in ("parts", "contents", "content") if (each := _json(message.get(key))) is not None), ""
    )
    texts, calls, results = [], [], {}
    for part in parts if isinstance(parts, list) else [parts]:
        about = part.get("message_content", part) if isinstance(part, dict) else {"content": part}
        if not isinstance(about, dict):
            about = {"content": about}
        match about.get("type"):
            case "tool_call" | "tool_use":
                calls.append(_call(about))
            case "tool_call_response" | "tool_result":
                result = about.get("response", about.get("result", about.get("content")))
                results[str(about.get("id") or about.get("tool_use_id") or "")] = _as_text(result)
            case "reasoning" | "thinking" | "blob" | "uri" | "file" | "image_url" | "image":
                pass
            case _:
                text = about.get("content", about.get("text"))
                texts.append(text if isinstance(text, str) else "" if text is None else _as_text(text))
    calls += [_call(each) for each in _json(message.get("tool_calls")) or [] if isinstance(each, dict)]
    text = "\n".join(each for each in texts if each)
    if role in _TOOL_ROLES and text:
        results[str(message.get("tool_call_id") or message.get("id") or "")] = text
    return {"role": role, "content": text, "tool_calls": calls, "results": results}


def _call(given: Item) -> Item:
    inner = given.get("tool_call", given)
    about = inner.get("function", inner) if isinstance(inner, dict) else {}
    about = about if isinstance(about, dict) else {}
    identity = (inner if isinstance(inner, dict) else {}).get("id")
    arguments = about.get("arguments", about.get("input"))
    return {"name": str(about.get("name") or ""), "arguments": _arguments(arguments), "id": str(identity or "")}


def _arguments(given: object) -> object:
    found = _json(given)
    return found if isinstance(found, dict) else {} if found in (None, "") else {"value": found}


def _listed(attributes: Mapping[str, Any], prefix: str) -> list[Any]:
    """The list that names with numbers spell out: ``gen_ai.prompt.0.role``, ``gen_ai.prompt.0.content``."""
    tree: Item = {}
    for name, value in attributes.items():
        if not name.startswith(f"{prefix}."):
            continue
        *steps, end = name[len(prefix) + 1 :].split(".", _DEPTH)
        place = tree
        for step in steps:
            inner = place.setdefault(step, {})
            if not isinstance(inner, dict):
                break
            place = inner
        else:
            place[end] = value
    made = _lists(tree)
    return [each for each in made if isinstance(each, dict)] if isinstance(made, list) else []


def _lists(tree: Any) -> Any:  # noqa: ANN401 - of any depth
    if not isinstance(tree, dict):
        return tree
    made = {key: _lists(value) for key, value in tree.items()}
    if made and all(key.isdecimal() for key in made):
        return [made[key] for key in sorted(made, key=int)]
    return made


def _json(given: object) -> Any:  # noqa: ANN401 - any JSON
    """What JSON in an attribute holds; the text itself where it is none."""
    if not isinstance(given, str) or given.lstrip()[:1] not in ("{", "["):
        return given
    try:
        return storable_value(orjson.loads(given))
    except orjson.JSONDecodeError:
        return given


def _as_text(given: object) -> str:
    return given if isinstance(given, str) else orjson.dumps(given, default=str).decode()


FORMAT = Format("otel", "OpenTelemetry", _detect, _read)
