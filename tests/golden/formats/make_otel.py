"""Writes otel-*.pb and otel-*.jsonl with the OpenTelemetry SDK and three instrumentations of the client of OpenAI.

Run in an environment of its own: pip install openai opentelemetry-sdk opentelemetry-exporter-otlp-proto-http
opentelemetry-instrumentation-openai-v2 opentelemetry-instrumentation-openai openinference-instrumentation-openai
"opentelemetry-util-genai<1" "wrapt<2", which openai-v2 2.4b0 needs; then python make_otel.py genai (openllmetry,
openinference).

A server on loopback answers as OpenAI would, with our own texts. Each instrumentation watches the same four requests: a
question with documents, one with history, one for which a tool is called, and one that fails. Search and tool are spans
of the application, by the conventions that go with the instrumentation.
"""

import base64
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path

from texts import CASES, TALK

HERE = Path(__file__).parent
KINDS = {
    "genai": "opentelemetry-instrumentation-openai-v2",
    "openllmetry": "opentelemetry-instrumentation-openai",
    "openinference": "openinference-instrumentation-openai",
}
CASE = CASES[0]
TOOL = {"type": "function", "function": {"name": "availability", "parameters": {"type": "object"}}}


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        last = asked["messages"][-1]
        message = {"role": "assistant", "content": {
            CASE["question"]: CASE["answer"], TALK[2][1]: TALK[3][1], "free": "Yes, it is free.",
        }.get(last["content"])}  # fmt: skip
        if last["content"] == "Is bike 7 free?":
            call = {"id": "call_1", "type": "function",
                    "function": {"name": "availability", "arguments": '{"bike": 7}'}}  # fmt: skip
            message["tool_calls"] = [call]
        status = 500 if last["content"] == "Fail!" else 200
        body = json.dumps({"error": {"message": "out of order"}} if status == 500 else {
            "id": "x", "object": "chat.completion", "created": 1, "model": "shop-1",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 21, "completion_tokens": 9, "total_tokens": 30},
        }).encode()  # fmt: skip
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def searched(kind):
    found = list(zip(CASE["contexts"], CASE["documents"], strict=True))
    if kind == "openinference":
        return {"openinference.span.kind": "RETRIEVER"} | {
            f"retrieval.documents.{place}.document.{name}": value
            for place, (text, document) in enumerate(found) for name, value in (("content", text), ("id", document))
        }  # fmt: skip
    documents = [{"id": document, "content": text} for text, document in found]
    return {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": json.dumps(documents)}


def called(kind):
    if kind == "openinference":
        return {"openinference.span.kind": "TOOL", "tool.name": "availability", "input.value": '{"bike": 7}',
                "output.value": "free"}  # fmt: skip
    if kind == "openllmetry":
        return {"traceloop.span.kind": "tool", "traceloop.entity.name": "availability",
                "traceloop.entity.input": '{"bike": 7}', "traceloop.entity.output": "free"}  # fmt: skip
    return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "availability",
            "gen_ai.tool.call.id": "call_1", "gen_ai.tool.call.result": "free"}  # fmt: skip


def main(kind):  # noqa: C901 - one scene after another
    os.environ |= {
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "span_only", "TRACELOOP_TRACE_CONTENT": "true",
        "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental",
    }  # fmt: skip
    import openai
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    memory, provider = InMemorySpanExporter(), TracerProvider(resource=Resource({"service.name": "shop-bot"}))
    provider.add_span_processor(SimpleSpanProcessor(memory))
    if kind == "genai":
        from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
    elif kind == "openllmetry":
        from opentelemetry.instrumentation.openai import OpenAIInstrumentor
    else:
        from openinference.instrumentation.openai import OpenAIInstrumentor
    OpenAIInstrumentor().instrument(tracer_provider=provider)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = openai.OpenAI(base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key="none", max_retries=0)
    tracer = provider.get_tracer("shop")

    def ask(*messages, **more):
        told = [{"role": "system", "content": "Be brief."}, *messages]
        return client.chat.completions.create(model="shop-1", messages=told, **more).choices[0].message

    with tracer.start_as_current_span("POST /ask"):
        with tracer.start_as_current_span("search", attributes=searched(kind)):
            pass
        ask({"role": "user", "content": CASE["question"]})
    with tracer.start_as_current_span("POST /ask"):
        ask(*({"role": role, "content": text} for role, text in TALK[:3]))
    with tracer.start_as_current_span("POST /ask"):
        question = {"role": "user", "content": "Is bike 7 free?"}
        first = ask(question, tools=[TOOL])
        with tracer.start_as_current_span("availability", attributes=called(kind)):
            pass
        result = {"role": "tool", "tool_call_id": "call_1", "content": "free"}
        ask(question, first.model_dump(exclude_none=True), result, tools=[TOOL])
    try:
        with tracer.start_as_current_span("POST /ask"):
            ask({"role": "user", "content": "Fail!"})
    except openai.InternalServerError:
        pass
    message = encode_spans(memory.get_finished_spans())
    for group in message.resource_spans:  # a trace of the stack names files of the machine
        for span in (each for scope in group.scope_spans for each in scope.spans):
            del span.events[:]
    path = HERE / f"otel-{kind}-{version(KINDS[kind])}.pb"
    path.write_bytes(message.SerializeToString())
    found = MessageToDict(message)  # as OTLP JSON wants it but for the ids, which it has in hex
    for group in found["resourceSpans"]:
        for span in (each for scope in group["scopeSpans"] for each in scope["spans"]):
            for name in ("traceId", "spanId", "parentSpanId"):
                if name in span:
                    span[name] = base64.b64decode(span[name]).hex()
    if kind == "genai":
        path.with_suffix(".jsonl").write_text(json.dumps(found) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
