"""Likelihoods from servers: equal to those of the same weights here; faults, refusals and how many requests come."""

import asyncio
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import tiny_language_models as tiny
from logprob_server import LogprobServer
from openai_asking import AT_ONCE, KEY
from openai_server import BROKEN_JSON, DROP, DROP_IN_BODY, ERROR_BODY, HANG, NOT_JSON, Fault, status, throttle
from proctor import InputError
from proctor.bots.models import ModelSettings
from proctor.bots.openai_endpoint import Endpoints
from proctor.bots.server_likelihood import ServerLanguageModel, open_server_language_model
from proctor.knowledge.local_models.language_model import LanguageModel, open_language_model
from proctor.knowledge.local_models.loading import Place
from proctor.metrics.local_tools import Continuation, Likelihood
from proctor.metrics.local_tools import LanguageModel as Protocol
from proctor.metrics.score import ModelUnavailable

LONG = "the order is back within two days and the cats sleep " * 12
PREFIXED = Continuation("two days", "Say: ", "the refund period is two days.", "\nAgain:\n")
TEXTS = [
    Continuation("the refund period is two days"),
    Continuation("Größe: 14 €, 漢字 😀"),
    Continuation("a lone \ud800 surrogate"),
    Continuation("t"),
    Continuation(""),
    Continuation(LONG),
    Continuation(LONG, stride=16),
    PREFIXED,
    Continuation("Größe 漢字", "Say: ", "", " Again: "),
    Continuation("t", "x"),
    Continuation("", "Say: ", "it", ""),
    Continuation("two days", "Say: ", LONG, "\nAgain:\n"),
    Continuation("the cats sleep", LONG, "source", LONG),
    Continuation(LONG, "Say: ", "the refund", "\nAgain:\n"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.causal_folder(tmp_path_factory.mktemp("causal"))


@pytest.fixture(scope="module")
def here(folder: Path) -> Sequence[Likelihood]:
    """What the same weights say on this machine."""
    model = LanguageModel(lambda: open_language_model(Place("tiny@1", folder, "tiny model")), "tiny@1")
    try:
        return asyncio.run(model.likelihoods(TEXTS))
    finally:
        model.close()


def settings(server: LogprobServer, **given: Any) -> ModelSettings:
    return ModelSettings(**{"model": "openai:test-model", "base_url": server.url, "timeout": 5.0} | given)


def with_model(
    server: LogprobServer, use: Callable[[ServerLanguageModel], Any], redact: Callable[[str], str] = str, **given: Any
) -> Any:
    """What an async function gives that is handed a model of the server; the model is closed afterwards."""

    async def run() -> Any:
        environ = {"OPENAI_API_KEY": KEY}
        model = open_server_language_model(settings(server, **given), environ, backoff=AT_ONCE, redact=redact)
        try:
            return await use(model)
        finally:
            await model.close()

    return asyncio.run(run())


def said(server: LogprobServer, texts: Sequence[Continuation], **given: Any) -> Sequence[Likelihood]:
    async def use(model: Protocol) -> Sequence[Likelihood]:
        return await model.likelihoods(texts)

    return with_model(server, use, **given)


def assert_same(found: Sequence[Likelihood], wanted: Sequence[Likelihood]) -> None:
    assert [(one.tokens, one.truncated) for one in found] == [(one.tokens, one.truncated) for one in wanted]
    assert [one.mean_nll for one in found] == pytest.approx([one.mean_nll for one in wanted], abs=1e-5, nan_ok=True)


def mean_nll(folder: Path, tokens: list[int], scored: int) -> float:
    """Upstream: the loss of a sequence, of which only tokens from ``scored`` on have labels."""
    import torch
    from transformers import AutoModelForCausalLM

    labels = torch.tensor([[-100] * scored + tokens[scored:]])
    with torch.no_grad():
        return float(AutoModelForCausalLM.from_pretrained(folder)(torch.tensor([tokens]), labels=labels).loss)


def numbers(text: str) -> list[int]:
    return tiny.byte_tokenizer()(text, add_special_tokens=False)["input_ids"]


@pytest.mark.parametrize("mode", ["vllm", "llama.cpp echo"])
def test_a_server_that_takes_tokens_gives_the_values_of_the_model_here(mode, folder, here):
    with LogprobServer(folder, mode, begins=True) as server:
        found = said(server, TEXTS)
    assert_same(found, here)
    assert [one.truncated for one in found].count(True) == 4
    assert found[0].mean_nll != pytest.approx(found[1].mean_nll, abs=1e-2)
    assert all(isinstance(call.body["prompt"], list) for call in server.scored)
    assert all(call.body["max_tokens"] == 1 for call in server.scored)


def test_the_window_may_be_given_and_the_smaller_one_holds(folder, here):
    with LogprobServer(folder, "vllm", window=500) as server:
        assert_same(said(server, TEXTS, context_tokens=65), here)


@pytest.mark.parametrize("text", [*TEXTS[:2], PREFIXED, TEXTS[9]])
def test_a_server_that_takes_text_puts_its_token_before_it(text, folder):
    with LogprobServer(folder, "llama-cpp-python", begins=True) as server:
        (found,) = said(server, [text])
    prefix = text.before + text.source + text.after
    tokens = [1, *numbers(prefix + text.completion)]
    before = 1 + max(1, len(numbers(prefix)))
    assert found.tokens == len(tokens) - before
    assert found.mean_nll == pytest.approx(mean_nll(folder, tokens, before), abs=1e-5)
    assert not found.truncated


def test_a_server_of_completions_alone_gives_the_values_where_tokens_end_with_the_prefix(folder, here):
    chosen = [0, 1, 2, 3, 4, 7, 8]
    with LogprobServer(folder, "plain", begins=True) as server:
        assert_same(said(server, [TEXTS[place] for place in chosen]), [here[place] for place in chosen])


def test_a_token_of_prefix_and_completion_is_scored(folder):
    assert len(numbers("the ref")) > len(numbers("the refund")) == 2
    for mode in ("llama-cpp-python", "plain"):
        with LogprobServer(folder, mode, begins=mode != "plain") as server:
            (found,) = said(server, [Continuation("und", "the ref")])
        tokens = [1] * (mode != "plain") + numbers("the refund")
        assert found.tokens == 1
        assert found.mean_nll == pytest.approx(mean_nll(folder, tokens, len(tokens) - 1), abs=1e-5)


@pytest.mark.parametrize("mode", ["llama-cpp-python", "plain"])
def test_text_is_cut_once_a_refusal_tells_the_window(mode, folder):
    texts = [Continuation(LONG), Continuation("two days", "Say: ", LONG, "\nAgain:\n")]
    with LogprobServer(folder, mode, begins=mode != "plain") as server:
        alone, after = said(server, texts)
    room = 64 if mode == "plain" else 63
    assert alone.truncated
    assert after.truncated
    assert alone.tokens == len(numbers(LONG)[:room]) - 1
    assert after.tokens == len(numbers("two days"))
    read = max(len(call.body["prompt"]) for call in server.scored if call.body["prompt"].endswith("two days"))
    assert read > 0.6 * max(len(call.body["prompt"]) for call in server.scored if not call.body["prompt"].endswith(" "))


def test_a_server_that_names_no_window_refuses_only_the_text(folder):
    too_long = status(400, "The prompt is too long: maximum context length exceeded")
    with LogprobServer(
        folder, "plain", faults=lambda call: too_long if len(call.body["prompt"]) > 99 else None
    ) as server:

        async def use(model):
            with pytest.raises(ModelUnavailable, match=r"too long .*set context_tokens"):
                await model.likelihoods([Continuation(LONG)])
            return await model.likelihoods(TEXTS[:1])

        assert with_model(server, use)[0].tokens > 1


def test_fields_that_a_server_does_not_know_are_left_out(folder, here):
    with LogprobServer(folder, "plain", strict=True) as server:
        assert_same(said(server, [TEXTS[0], PREFIXED]), [here[0], here[7]])
    assert sum("add_special_tokens" in call.body for call in server.scored) <= 4


REFUSALS = [
    ("openai", {}, "Setting 'echo' and 'logprobs'"),
    ("llama.cpp", {}, "Only no echo is supported"),
    ("llama.cpp silent", {}, "it told 1 log-prob"),
    ("llama-cpp-python", {}, "one token off"),
]


@pytest.mark.parametrize(("mode", "options", "told"), REFUSALS)
def test_a_server_without_prompt_logprobs_is_named_and_left_alone(mode, options, told, folder):
    with LogprobServer(folder, mode, **options) as server:

        async def use(model):
            for _ in range(30):
                with pytest.raises(InputError, match=f"can't say how likely a given text is .*{told}.* vLLM"):
                    await model.likelihoods([PREFIXED])
            return model.problem

        assert "vLLM" in with_model(server, use)
    assert len(server.calls) <= 5


def test_values_that_are_missing_or_none_are_not_taken_for_values(folder):
    def answer(values):
        logprobs = {"tokens": ["a"] * len(values), "token_logprobs": values}
        return Fault(
            "raw", body=f'{{"choices": [{{"logprobs": {logprobs}}}]}}'.replace("'", '"').replace("None", "null")
        )

    count = len(numbers("the refund period"))
    for values, error, told in [
        ([None] * count, InputError, "without their log-probabilities"),
        ([None, *[float("nan")] * (count - 1)], ModelUnavailable, "log-probabilities that are none"),
        ([None, *[0.5] * (count - 1)], ModelUnavailable, "log-probabilities that are none"),
    ]:
        body = answer(values)
        fault = Fault("raw", body=body.body.replace("nan", "NaN"))
        with (
            LogprobServer(folder, faults=lambda call, fault=fault: fault if "echo" in call.body else None) as server,
            pytest.raises(error, match=told),
        ):
            said(server, [Continuation("the refund period")])


@pytest.mark.parametrize(
    "fault",
    [status(500, "boom"), throttle(), DROP, DROP_IN_BODY, BROKEN_JSON, NOT_JSON, ERROR_BODY, status(503, "<html>")],
)
def test_what_may_pass_is_tried_again(fault, folder, here):
    failed = []

    def once(call):
        if "echo" not in call.body or failed:
            return None
        failed.append(call)
        return fault

    with LogprobServer(folder, faults=once) as server:
        assert_same(said(server, TEXTS[:1]), here[:1])
    assert len(server.scored) == 2


def test_a_slow_server_runs_into_the_time_limit(folder):
    with (
        LogprobServer(folder, faults=lambda call: HANG if "echo" in call.body else None) as server,
        pytest.raises(ModelUnavailable, match=r"2 attempts: no answer within 0\.2 s"),
    ):
        said(server, TEXTS[:1], timeout=0.2, max_attempts=2)
    assert len(server.scored) == 2


def test_a_wrong_key_is_told_once_without_it(folder):
    with LogprobServer(folder, key="another-key") as server:

        async def use(model):
            messages = set()
            for text in TEXTS:
                with pytest.raises(InputError) as raised:
                    await model.likelihoods([text])
                messages.add(str(raised.value))
            return messages

        (message,) = with_model(server, use)
    assert "OPENAI_API_KEY" in message
    assert KEY not in message
    assert len(server.calls) == 1


def test_an_unknown_model_is_named_with_the_nearest(folder):
    with LogprobServer(folder) as server, pytest.raises(InputError, match="did you mean 'test-model'"):
        said(server, TEXTS[:1], model="openai:test-modl")
    assert len(server.calls) <= 3


def test_nobody_there_is_found_out_once(folder):
    with LogprobServer(folder) as gone:
        pass

    async def use(model):
        with pytest.raises(ModelUnavailable, match="gave no answer in 2 attempts"):
            await model.likelihoods(TEXTS)
        with pytest.raises(InputError, match="gave no answer in 2 attempts"):
            await model.likelihoods(TEXTS)

    with_model(gone, use, max_attempts=2)


def test_a_server_that_dies_is_asked_no_more_after_some_requests(folder):
    with LogprobServer(folder, faults=lambda call: status(500, "dead") if "echo" in call.body else None) as server:

        async def use(model):
            for number in range(60):
                with pytest.raises((ModelUnavailable, InputError)):
                    await model.likelihoods([Continuation(f"the order {number}")])
            return model.problem

        problem = with_model(server, use, max_attempts=1, concurrency=2)
    assert problem.startswith("20 requests in a row got no answer")
    assert len(server.scored) == 20


def test_what_a_server_quotes_is_cleaned(folder):
    fault = status(500, f"bad key {KEY} and password hunter-2222")
    with LogprobServer(folder, faults=lambda call: fault if "echo" in call.body else None) as server:

        async def use(model):
            with pytest.raises(ModelUnavailable) as raised:
                await model.likelihoods(TEXTS[:1])
            return str(raised.value)

        told = with_model(server, use, redact=lambda said: said.replace("hunter-2222", "$PASSWORD"), max_attempts=1)
    assert KEY not in told
    assert "password $PASSWORD" in told


def test_equal_texts_in_flight_are_asked_about_once_and_no_more_than_so_many_at_once(folder):
    different = [Continuation(f"the order {number}", "Say: ", "cats", "\n") for number in range(12)]
    with LogprobServer(folder, delay=0.02) as server:

        async def use(model):
            rows = await asyncio.gather(*(model.likelihoods(different) for _ in range(5)))
            assert all(row == rows[0] for row in rows)

        with_model(server, use, concurrency=3)
    assert len(server.scored) == 12
    assert len(server.calls) == 1 + 12 + 12 + 1  # what it offers, completions, their values, one prefix
    assert server.peak_in_flight == 3


def test_a_cancelled_caller_leaves_the_answer_to_others(folder):
    with LogprobServer(folder, delay=0.05) as server:

        async def use(model):
            one = asyncio.create_task(model.likelihoods(TEXTS[:1]))
            other = asyncio.create_task(model.likelihoods(TEXTS[:1]))
            await asyncio.sleep(0.02)
            one.cancel()
            return (await other)[0]

        assert math.isfinite(with_model(server, use).mean_nll)
    assert len(server.scored) == 1


def test_closing_gives_up_what_goes_on(folder):
    with LogprobServer(folder, delay=5.0) as server:

        async def use(model):
            asked = asyncio.create_task(model.likelihoods(TEXTS[:1]))
            await asyncio.sleep(0.05)
            await model.close()
            with pytest.raises(asyncio.CancelledError):
                await asked

        with_model(server, use)


def test_the_model_is_named_without_secrets():
    given = {"base_url": "http://127.0.0.1:1/v1", "extra": {"priority": 1, "api_key": "hunter"}, "context_tokens": 99}
    model = open_server_language_model(
        ModelSettings(model="openai:qwen", **given), {"OPENAI_API_KEY": KEY}, Endpoints()
    )
    told = '{"context_tokens": 99, "extra": {"api_key": "***", "priority": 1}}'
    assert model.model_id == f"openai:qwen at http://127.0.0.1:1/v1 {told}"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"model": "extractive"}, "'extractive' can't say how likely"),
        ({"model": "openai:x", "temperature": 0.5}, "temperature means nothing"),
        ({"model": "openai:x", "stream": True}, "stream means nothing"),
    ],
)
def test_settings_of_other_models_are_refused(given, told):
    with pytest.raises(InputError, match=told):
        open_server_language_model(ModelSettings(**given), {})
