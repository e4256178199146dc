"""Asking a LogprobServer through the language model under test."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import tiny_language_models as tiny
from logprob_server import LogprobServer
from openai_asking import AT_ONCE, KEY
from proctor.bots.chat.likelihood import ServerLanguageModel, open_server_language_model
from proctor.bots.chat.models import ChatModelSettings
from proctor.knowledge.models.language_models import Continuation, Likelihood
from proctor.metrics.tools import LanguageModel as Protocol


def _settings(server: LogprobServer, **given: Any) -> ChatModelSettings:
    return ChatModelSettings(**{"model": "openai:test-model", "base_url": server.url, "timeout": 60.0} | given)


def with_model(
    server: LogprobServer, use: Callable[[ServerLanguageModel], Any], redact: Callable[[str], str] = str, **given: Any
) -> Any:
    """What an async function gives that is handed a model of the server; the model is closed afterwards."""

    async def run() -> Any:
        environ = {"OPENAI_API_KEY": KEY}
        model = open_server_language_model(_settings(server, **given), environ, backoff=AT_ONCE, redact=redact)
        try:
            return await use(model)
        finally:
            await model.close()

    return asyncio.run(run())


def said(server: LogprobServer, texts: Sequence[Continuation], **given: Any) -> Sequence[Likelihood]:
    async def use(model: Protocol) -> Sequence[Likelihood]:
        return await model.likelihoods(texts)

    return with_model(server, use, **given)


def numbers(text: str) -> list[int]:
    return tiny.byte_tokenizer()(text, add_special_tokens=False)["input_ids"]


def mean_nll(folder: Path, tokens: list[int], scored: int) -> float:
    """Upstream: the loss of a sequence, of which only tokens from ``scored`` on have labels."""
    import torch
    from transformers import AutoModelForCausalLM

    labels = torch.tensor([[-100] * scored + tokens[scored:]])
    with torch.no_grad():
        return float(AutoModelForCausalLM.from_pretrained(folder)(torch.tensor([tokens]), labels=labels).loss)
