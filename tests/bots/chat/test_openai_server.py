"""The test server itself, asked by OpenAI's own client: streaming, structured output, keys and models."""

import asyncio

import pytest
from openai import APIStatusError, AsyncOpenAI
from openai_server import Answer, OpenAIServer

SCHEMA = {"type": "object", "properties": {"verdict": {"type": "string"}}, "required": ["verdict"]}
FORMAT = {"type": "json_schema", "json_schema": {"name": "grade", "schema": SCHEMA}}


def complete(server, **options):
    async def run():
        async with AsyncOpenAI(api_key="k", base_url=server.url, max_retries=0) as client:
            messages = [{"role": "user", "content": "Say it."}]
            said = await client.chat.completions.create(model="test-model", messages=messages, **options)
            return [chunk async for chunk in said] if options.get("stream") else said

    return asyncio.run(run())


def test_streams_words_reasoning_and_usage():
    with OpenAIServer(lambda _: Answer("one two  three", reasoning="why")) as server:
        chunks = complete(server, stream=True, stream_options={"include_usage": True})
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert "".join(delta.content or "" for delta in deltas) == "one two  three"
    assert [delta.reasoning_content for delta in deltas if hasattr(delta, "reasoning_content")] == ["why"]
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].usage.completion_tokens == 3


def test_structured_output_is_honoured_refused_or_ignored():
    with OpenAIServer(lambda call: {"verdict": str(call.schema == SCHEMA)}) as server:
        assert complete(server, response_format=FORMAT).choices[0].message.content == '{"verdict": "True"}'
    with OpenAIServer(lambda _: {"other": 1}) as server, pytest.raises(APIStatusError, match="does not follow"):
        complete(server, response_format=FORMAT)
    with OpenAIServer(structured="refuse") as server, pytest.raises(APIStatusError, match="not supported"):
        complete(server, response_format=FORMAT)
    with OpenAIServer(lambda _: "prose", structured="ignore") as server:
        assert complete(server, response_format=FORMAT).choices[0].message.content == "prose"


def test_counts_calls_and_keeps_prompts():
    with OpenAIServer() as server:
        complete(server)
        complete(server)
        assert server.prompts == ["Say it.", "Say it."]
        assert server.in_flight == 0
        assert server.peak_in_flight == 1
