"""ModelChoice and open_chat_model: what a suite may say of a model, and what it gets."""

import asyncio
from pathlib import Path

import pytest
from openai_server import OpenAIServer
from proctor import InputError
from proctor.bots.bot import BotMisconfigured
from proctor.bots.chat.model import ChatRequest
from proctor.bots.chat.models import ChatModelSettings, open_chat_model, parse_model
from proctor.bots.chat.openai import Endpoints
from pydantic import ValidationError
from tables import in_one_test

KEY = "sk-very-secret-4711"
LOCAL = "http://127.0.0.1:9/v1"


class NoEmbedder:
    """Stands where an embedder is needed and none is used."""

    model_id = "none"

    async def embed(self, texts):
        raise AssertionError("nothing is to be embedded here")

    embed_fresh = embed

    async def load(self):
        pass


def opened(environ=None, endpoints=None, **settings):
    return open_chat_model(ChatModelSettings(**settings), NoEmbedder(), Path(), environ or {}, endpoints)


def mistake(**settings):
    with pytest.raises(ValidationError) as raised:
        ChatModelSettings(**settings)
    return str(raised.value)


def test_the_default_is_extractive():
    chat = opened()
    assert (chat.name, chat.embedded, chat.context_tokens) == ("extractive", True, None)


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("opanai:gpt-5-mini", "did you mean 'openai:gpt-5-mini'?"),
        ("gpt-5-mini", "did you mean 'openai:gpt-5-mini'?"),
        ("extractiv", "did you mean 'extractive'?"),
        ("lanchain:bot.py:model", "did you mean 'langchain:bot.py:model'?"),
        ("openai:", "is not complete"),
        ("extractive:fast", "stands alone"),
        ("", "a model is 'extractive', 'openai:NAME' or"),
    ],
)
def test_a_misspelt_model_names_the_nearest(written, hint):
    assert hint in mistake(model=written)
    with pytest.raises(InputError) as raised:
        parse_model(written)
    assert hint in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("stream", [True, False])
def test_answers_are_streamed_when_that_is_set(stream):
    async def run(server):
        chat = opened(model="openai:test-model", base_url=server.url, stream=stream)
        completion = await chat.complete(ChatRequest("Hello?"))
        await chat.close()
        return completion.text, dict(chat.settings)

    with OpenAIServer() as server:
        text, settings = asyncio.run(run(server))
    assert text == "You said: Hello?"
    assert server.calls[0].body.get("stream", False) == stream
    assert "stream" not in settings  # it changes no answer


def test_a_model_in_place():
    assert parse_model("openai:qwen3:8b").target == "qwen3:8b"


@in_one_test(
    ("settings", "said"),
    [
        ({"temprature": 0}, "temprature"),
        ({"model": "openai:m", "base_url": "localhost:8000"}, "must begin with http"),
        ({"model": "openai:m", "base_url": "http://me:word@host/v1"}, "api_key_env"),
        ({"model": "openai:m", "base_url": "http://host/v1?key=word"}, "api_key_env"),
        ({"model": "openai:m", "price_in": 1.0}, "price_in and price_out belong together"),
        ({"model": "extractive", "temperature": 0}, "temperature means nothing to the model 'extractive'"),
        ({"model": "langchain:a:b", "base_url": LOCAL}, "set it where the model is made"),
        ({"model": "langchain:a:b", "stream": True}, "stream means nothing to the model 'langchain:a:b'"),
        ({"model": "openai:m", "max_attempts": 0}, "max_attempts"),
    ],
)
def test_mistakes_are_told(settings, said):
    message = mistake(**settings)
    assert said in message
    if "word" in str(settings):
        assert "base_url must be the bare address" in message


def test_openai_parameters_are_sent_only_when_set():
    plain = opened(model="openai:m", base_url=LOCAL)
    assert plain.settings == {"model": "openai:m", "base_url": LOCAL, "context_tokens": 128_000}
    full = opened(
        model="openai:m",
        base_url=LOCAL + "/",
        temperature=0,
        top_p=0.5,
        max_tokens=100,
        seed=3,
        reasoning_effort="low",
        extra={"min_p": 0.1},
        context_tokens=4096,
    )
    assert full.settings == {
        "model": "openai:m",
        "base_url": LOCAL,
        "context_tokens": 4096,
        "temperature": 0,
        "top_p": 0.5,
        "max_tokens": 100,
        "seed": 3,
        "reasoning_effort": "low",
        "min_p": 0.1,
    }


def test_openai_itself_is_told_max_completion_tokens():
    chat = opened({"OPENAI_API_KEY": KEY}, model="openai:m", max_tokens=9)
    assert chat.settings["max_completion_tokens"] == 9
    assert "max_tokens" not in chat.settings


def test_settings_that_change_no_answer_are_not_in_the_identity():
    one = opened(
        {"A": KEY}, model="openai:m", base_url=LOCAL, api_key_env="A", timeout=1, concurrency=2, max_attempts=1
    )
    other = opened(model="openai:m", base_url=LOCAL, price_in=1, price_out=2)
    assert one.settings == other.settings
    assert KEY not in repr(one.settings)


def test_openai_without_a_key_is_told_before_the_first_question():
    chat = opened(model="openai:m", api_key_env="MY_KEY")
    assert chat.settings["model"] == "openai:m"  # a run whose answers are all kept needs no key
    with pytest.raises(BotMisconfigured, match="set the environment variable MY_KEY"):
        asyncio.run(chat.prepare())


@pytest.mark.parametrize("environ", [{}, {"MY_KEY": " "}])
def test_a_variable_that_is_named_and_not_set_is_told_before_the_first_question_whatever_the_address(environ):
    chat = opened(environ, model="openai:m", base_url=LOCAL, api_key_env="MY_KEY")
    with pytest.raises(BotMisconfigured, match=r"its key in MY_KEY \(api_key_env\), and this environment variable is"):
        chat.check_setup()
    opened({"MY_KEY": KEY}, model="openai:m", base_url=LOCAL, api_key_env="MY_KEY").check_setup()
    opened(environ, model="openai:m", base_url=LOCAL, api_key_env="").check_setup()
    opened(environ, model="openai:m", base_url=LOCAL).check_setup()  # many servers of one's own want none


def test_the_address_may_come_from_the_environment():
    chat = opened({"OPENAI_BASE_URL": LOCAL + "/"}, model="openai:m")
    assert chat.settings["base_url"] == LOCAL


def test_models_of_one_suite_share_their_endpoints():
    endpoints = Endpoints()
    for name in ("a", "a", "b"):
        opened(endpoints=endpoints, model=f"openai:{name}", base_url=LOCAL)
    users = [endpoints.get(LOCAL, name, key=None, key_name="", concurrency=9).users for name in "ab"]
    assert users == [3, 2]
