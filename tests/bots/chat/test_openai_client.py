"""What goes over the wire, and how answers that are no answers are told."""

import asyncio
import datetime
import json
import subprocess
import sys
import types
from collections.abc import Mapping

import pytest
from aiohttp import web
from openai import AsyncOpenAI
from openai_asking import KEY, ask
from openai_server import Fault, OpenAIServer, status
from proctor.bots.bot import BotRefused
from proctor.bots.chat.limits import EndpointFailed
from proctor.bots.chat.openai_client import Client, StatusError


def complete(server, body, key=KEY):
    async def run():
        client = Client(server.url, key)
        try:
            return await client.complete({"model": "test-model", "messages": [{"role": "user", "content": "x"}]} | body)
        finally:
            await client.close()

    return asyncio.run(run())


class Listening(OpenAIServer):
    """Keeps the headers of the last request."""

    headers: Mapping[str, str]

    async def _complete(self, request):
        self.headers = request.headers
        return await super()._complete(request)


def test_sends_the_headers_that_openais_own_client_would(monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Team: evaluation: A\n\nX-Route:b")
    with Listening() as server:
        complete(server, {})
        library = AsyncOpenAI(api_key=KEY, base_url=server.url)
    headers = {**library.default_headers, **library.auth_headers}
    wanted = {name: value for name, value in headers.items() if isinstance(value, str) and "Stainless" not in name}
    assert wanted.keys() > {"Authorization", "OpenAI-Organization", "OpenAI-Project", "X-Team", "X-Route"}
    assert wanted.pop("User-Agent").startswith("AsyncOpenAI")
    assert {name: server.headers.get(name) for name in wanted} == wanted
    assert server.headers["User-Agent"].startswith("Proctor/")
    assert not [name for name in server.headers if "Stainless" in name]  # no words about this machine


def test_the_library_is_never_imported():
    program = """if True:
        import asyncio, sys
        from proctor.bots.chat.openai_client import Client, StatusError
        async def ask(url):
            client = Client(url, None)
            await client.complete({"model": "test-model", "messages": [{"role": "user", "content": "x"}]})
            try:
                await client.get("nowhere")
            except StatusError:
                print("openai" in sys.modules)
            await client.close()
        asyncio.run(ask(sys.argv[1]))
    """
    with OpenAIServer() as server:
        done = subprocess.run([sys.executable, "-c", program, server.url], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


def test_settings_that_are_no_json_are_written_as_text():
    body = {"seen": types.MappingProxyType({"day": datetime.date(2026, 1, 2)}), "text": "ü\u2028"}
    with OpenAIServer() as server:
        complete(server, body)
    assert server.calls[0].body["seen"] == {"day": "2026-01-02"}
    assert server.calls[0].body["text"] == "ü\u2028"


def test_an_error_has_its_message_and_the_whole_of_what_was_told():
    fault = status(418, "teapot", code="short", param="stout")
    with OpenAIServer(faults=[fault]) as server, pytest.raises(StatusError) as raised:
        complete(server, {})
    error = raised.value
    assert (error.status, error.message, error.code, error.param) == (418, "teapot", "short", "stout")
    assert error.body["message"] == "teapot"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("plainly broken", "HTTP 500: plainly broken"),
        ("<html><body>gateway</body></html>", "HTTP 500"),
        ('{"message": "of another form"}', "HTTP 500: of another form"),
        ('{"error": "a text"}', "HTTP 500: a text"),
        ("[1, 2]", "HTTP 500"),
        ("", "HTTP 500"),
    ],
)
def test_errors_of_any_form_are_told(body, said):
    fault = Fault("status", 500, body)
    with OpenAIServer(faults=lambda _: fault) as server, pytest.raises(EndpointFailed) as raised:
        ask(server, max_attempts=1)
    assert str(raised.value).endswith(f"in 1 attempt: {said}.")


def test_details_without_a_message_still_tell_what_is_about_the_prompt():
    detail = json.dumps({"detail": [{"loc": ["body", "messages"], "msg": "maximum context length is 8"}]})
    fault = Fault("status", 422, detail)
    with OpenAIServer(faults=lambda _: fault) as server, pytest.raises(BotRefused, match="too long"):
        ask(server)


@pytest.mark.parametrize("number", [200, 400])
def test_answers_that_come_packed_are_unpacked_once(number):
    class Packing(OpenAIServer):
        async def _complete(self, request):
            answer = web.json_response({"error": {"message": "packed"}}, status=number)
            answer.enable_compression(web.ContentCoding.gzip)
            return answer

    with Packing() as server:
        if number == 200:
            assert complete(server, {}) == {"error": {"message": "packed"}}
            return
        with pytest.raises(StatusError) as raised:
            complete(server, {})
    assert (raised.value.status, raised.value.message) == (400, "packed")


def test_an_endpoint_that_moved_is_followed_with_the_request_as_it_was():
    class Moved(OpenAIServer):
        async def _complete(self, request):
            if "moved" in request.query:
                return await super()._complete(request)
            raise web.HTTPTemporaryRedirect(f"{request.path}?moved=1")

    with Moved() as server:
        complete(server, {})
    assert server.calls[0].body["model"] == "test-model"
    assert server.calls[0].bearer == KEY
