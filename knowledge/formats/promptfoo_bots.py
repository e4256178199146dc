"""Providers of promptfoo as bots of a suite: chat models and web addresses become HTTP bots, others are named."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from .format import Notes
from .promptfoo_templates import Prompt, Unrendered, names_in, rendered

Item = dict[str, Any]


class _Server(NamedTuple):
    """Where models of a kind are, and the environment variable with the key."""

    base_url: str
    key: str = ""


# Servers that speak OpenAI's protocol, by the first word of a provider's id.
_SERVERS: Final[Mapping[str, _Server]] = {
    "openai": _Server("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "ollama": _Server("http://localhost:11434/v1"),
    "openrouter": _Server("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "groq": _Server("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "mistral": _Server("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "deepseek": _Server("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "togetherai": _Server("https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    "xai": _Server("https://api.x.ai/v1", "XAI_API_KEY"),
    "cerebras": _Server("https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
    "vllm": _Server("http://localhost:8000/v1"),
    "localai": _Server("http://localhost:8080/v1"),
}
_PARAMETERS: Final = (
    "temperature", "max_tokens", "max_completion_tokens", "top_p", "frequency_penalty", "presence_penalty", "seed",
    "stop", "response_format", "reasoning_effort",
)  # fmt: skip
_MODEL_ID: Final = re.compile(r"(?P<kind>[a-z]+):(?:(?:chat|completion|messages|responses):)?(?P<model>.+)")
_QUESTION: Final = "{question}"


def bots_of(
    given: object, prompts: Sequence[Prompt], question: str, fixed: Mapping[str, str], notes: Notes
) -> dict[str, object]:
    """The bots of a suite by name: one for each provider and prompt.

    Args:
        given: `providers` of the config.
        prompts: all prompts.
        question: the variable that is the question.
        fixed: variables that are the same in all tests.
        notes: takes what has no bot of ours.
    """
    from .promptfoo import bot_name

    listed = given if isinstance(given, list) else [given] if given else []
    bots: dict[str, object] = {}
    for each in listed:
        id_, label, config = _provider(each)
        for prompt in prompts or [Prompt(f"{{{{{question}}}}}")]:
            name = bot_name(label or id_, prompt.label or prompt.text, len(prompts) > 1)
            try:
                bot = _bot(id_, config, _filled(prompt.text, question, fixed))
            except Unrendered as cause:
                notes.lose(f"the prompt {prompt.label or prompt.text[:40]!r}", str(cause))
                continue
            if isinstance(bot, str):
                notes.lose(f"the provider {id_ or each!r}", bot)
                break
            bots[_free(name, bots)] = bot
            _lose_config(id_, config, notes)
    return bots


def _free(name: str, taken: Mapping[str, object]) -> str:
    number = 2
    while name in taken and f"{name} {number}" in taken:
        number += 1
    return f"{name} {number}" if name in taken else name


def _provider(given: object) -> tuple[str, str, Item]:
    """Id, label and settings of an entry: a text, an object with ``id``, or an object with the id as its key."""
    if isinstance(given, str):
        return given, "", {}
    if not isinstance(given, dict):
        return str(given), "", {}
    plain = {key: value for key, value in given.items() if not key.startswith("\0")}
    if "id" not in plain and len(plain) == 1:
        (id_, inner), *_ = plain.items()
        plain = {"id": id_, **(inner if isinstance(inner, dict) else {})}
    config = plain.get("config")
    return str(plain.get("id", "")), str(plain.get("label") or ""), config if isinstance(config, dict) else {}


def _filled(template: str, question: str, fixed: Mapping[str, str]) -> str:
    """The prompt with our place for the question. Raises Unrendered where it has logic."""
    mark = "\0question\0"
    text = rendered(template, {**fixed, question: mark})
    if question not in names_in(template):
        text = f"{text}\n\n{mark}"
    return text.replace("{question}", "{ question }").replace(mark, _QUESTION)


def _bot(id_: str, config: Item, prompt: str) -> Item | str:
    """The bot, or why there is none."""
    if id_ == "echo":
        return "it answers with the prompt, and nothing is measured by that"
    if re.match(r"https?://", id_) or id_ in ("http", "https"):
        return _web(str(config.get("url") or id_), config, prompt)
    if re.search(r"\.(?:[cm]?[jt]s)(?::\w+)?$", id_) or id_.startswith("exec:"):
        return "it runs code that is not Python; put it behind HTTP"
    if id_.startswith("python:") or re.search(r"\.py(?::\w+)?$", id_):
        return "its function takes other arguments; write `def answer(question)` and name it as {type: python}"
    found = _MODEL_ID.fullmatch(id_)
    if found and found["kind"] == "anthropic":
        return _anthropic(found["model"], config, prompt)
    server = _SERVERS.get(found["kind"]) if found else None
    if found is None or server is None or found["model"].split(":")[0] in ("embedding", "assistant", "realtime"):
        return "no bot of ours speaks its protocol; put it behind HTTP, or use LangChain"
    base = str(config.get("apiBaseUrl") or server.base_url).rstrip("/")
    key = str(config.get("apiKeyEnvar") or server.key)
    return {
        "type": "http",
        "url": f"{base}/chat/completions",
        "headers": {"Authorization": f"Bearer ${key}"} if key else {},
        "body": {"model": found["model"], "messages": _messages(prompt), **_parameters(config)},
        "answer": "choices.0.message.content",
    }


def _anthropic(model: str, config: Item, prompt: str) -> Item:
    messages = _messages(prompt)
    system = "\n\n".join(each["content"] for each in messages if each["role"] == "system")
    body: Item = {"model": model, "max_tokens": 1024, **_parameters(config)}
    body |= {"system": system} if system else {}
    body["messages"] = [each for each in messages if each["role"] != "system"]
    headers = {"x-api-key": "$ANTHROPIC_API_KEY", "anthropic-version": "2023-06-01"}
    url = f"{str(config.get('apiBaseUrl') or 'https://api.anthropic.com').rstrip('/')}/v1/messages"
    return {"type": "http", "url": url, "headers": headers, "body": body, "answer": "content.0.text"}


def _parameters(config: Item) -> Item:
    return {key: config[key] for key in _PARAMETERS if isinstance(config.get(key), (str, int, float, list))}


def _messages(prompt: str) -> list[dict[str, str]]:
    """A prompt as chat messages: it may be a JSON list of these."""
    if prompt.lstrip().startswith("["):
        try:
            listed = json.loads(prompt)
        except (ValueError, RecursionError):
            listed = []
        if listed and all(isinstance(each, dict) and isinstance(each.get("content"), str) for each in listed):
            return [{"role": str(each.get("role", "user")), "content": each["content"]} for each in listed]
    return [{"role": "user", "content": prompt}]


def _web(url: str, config: Item, prompt: str) -> Item | str:
    method = str(config.get("method") or ("POST" if config.get("body") else "GET")).upper()
    if method not in ("GET", "POST", "PUT", "PATCH"):
        return f"the method {method} is not known to bots"
    if config.get("request"):
        return "it is a raw HTTP request; write url, headers and body"
    try:
        made: Item = {"type": "http", "url": _place(url, prompt), "method": method}
        if headers := _without_marks(config.get("headers")):
            made["headers"] = {str(key): _place(str(value), prompt) for key, value in headers.items()}
        if (body := _without_marks(config.get("body"))) is not None:
            made["body"] = _placed(body, prompt)
        answer = _path(config.get("transformResponse") or config.get("responseParser"))
    except Unrendered as cause:
        return str(cause)
    if answer is None:
        return "its `transformResponse` is code; say where the answer is under `answer`"
    if _QUESTION not in json.dumps([made["url"], made.get("body")]):
        return "neither url nor body has {{prompt}}, so that the bot would never see the question"
    return {**made, "answer": answer}


def _without_marks(value: Any) -> Any:  # noqa: ANN401 - whatever a config holds
    if isinstance(value, dict):
        return {key: _without_marks(each) for key, each in value.items() if not str(key).startswith("\0")}
    return [_without_marks(each) for each in value] if isinstance(value, list) else value


def _placed(value: Any, prompt: str) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {key: _placed(each, prompt) for key, each in value.items()}
    if isinstance(value, list):
        return [_placed(each, prompt) for each in value]
    return _place(value, prompt) if isinstance(value, str) else value


def _place(text: str, prompt: str) -> str:
    """A text with the prompt and the environment's variables in our notation."""
    named = re.sub(r"\{\{-?\s*env\.(\w+)\s*-?\}\}", r"$\1", text)
    return rendered(named, {"prompt": prompt})


def _path(given: object) -> str | None:
    """Where the answer is: ``json.choices[0].text`` as ``choices.0.text``; None for code."""
    if given is None:
        return ""
    if not isinstance(given, str) or not re.fullmatch(r"(?:json|data|text)(?:\??\.\w+|\[\d+\]|\['[\w-]+'\])*", given):
        return None
    steps = re.findall(r"\.(\w+)|\[(\d+)\]|\['([\w-]+)'\]", given)
    return ".".join(next(filter(None, step)) for step in steps)


def _lose_config(id_: str, config: Item, notes: Notes) -> None:
    known = {
        *_PARAMETERS, "url", "method", "headers", "body", "transformResponse", "responseParser", "apiBaseUrl",
        "apiKeyEnvar",
    }  # fmt: skip
    for key in config:
        if key not in known and not key.startswith("\0"):
            why = "keys are named by environment variables" if key == "apiKey" else "a bot of ours has none"
            notes.lose(f"`{key}` of the provider {id_}", why)
