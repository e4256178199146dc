"""Likelihoods from servers: equal to those of the same weights here, in every protocol."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
import tiny_language_models as tiny
from likelihood_asking import mean_nll, numbers, said, with_model
from logprob_server import LogprobServer
from openai_asking import KEY
from openai_server import status
from proctor import InputError
from proctor.bots.chat.likelihood import open_server_language_model
from proctor.bots.chat.models import ChatModelSettings
from proctor.bots.chat.openai import Endpoints
from proctor.knowledge.models.language_models import Continuation, LanguageModel, Likelihood, open_language_model
from proctor.knowledge.models.loading import Place
from proctor.metrics.catalog import builtin_catalog
from proctor.metrics.score import ModelUnavailable, Score
from proctor.metrics.tools import LanguageModel as Protocol

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
    Continuation(LONG, "", "the refund", ""),
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


def assert_same(found: Sequence[Likelihood], wanted: Sequence[Likelihood]) -> None:
    assert [(one.tokens, one.truncated) for one in found] == [(one.tokens, one.truncated) for one in wanted]
    assert [one.mean_nll for one in found] == pytest.approx([one.mean_nll for one in wanted], abs=1e-5, nan_ok=True)


def test_perplexity_and_gptscore_of_a_row_are_those_of_the_model_here(tmp_path):
    wide = tiny.causal_folder(tmp_path, window=2048)
    catalog = builtin_catalog()
    ids = ["perplexity", *(id for id in catalog.metrics if id.startswith("gptscore_"))]
    plan = catalog.plan(ids)
    texts = {
        "question": "How long is the refund period?",
        "answer": "the period is two days",
        "expected_answers": ["two days"],
    }

    async def scores(model: Protocol) -> list[Score]:
        return await plan.score({**texts, "perplexity_model": model, "gptscore_model": model})

    local = LanguageModel(lambda: open_language_model(Place("tiny@1", wide, "tiny model")), "tiny@1")
    with LogprobServer(wide, "vllm", window=2049) as server:
        found, wanted = with_model(server, scores), asyncio.run(scores(local))
    local.close()
    assert len(ids) == 25
    assert [score.value for score in found] == pytest.approx([score.value for score in wanted], rel=1e-5)
    assert found[0].details["model"] == f"openai:test-model at {server.url}"
    # For perplexity one, for nine metrics of two directions two each, for fifteen others one.
    assert len(server.scored) == 1 + 2 * 9 + 15
    tokenized = [call.body["prompt"] for call in server.calls if "echo" not in call.body]
    assert len(tokenized) == len(set(tokenized))


@pytest.mark.parametrize("mode", ["vllm", "llama.cpp echo"])
def test_a_server_that_takes_tokens_gives_the_values_of_the_model_here(mode, folder, here):
    with LogprobServer(folder, mode, begins=True) as server:
        found = said(server, TEXTS)
    assert_same(found, here)
    assert [one.truncated for one in found].count(True) == 5
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


def test_a_text_that_holds_the_token_that_begins_texts_stops_nothing(folder):
    with LogprobServer(folder, "llama-cpp-python", begins=True) as server:
        found, _ = said(server, [Continuation("the order </s> is back"), TEXTS[0]])
    tokens = [1, *numbers("the order </s> is back")]
    assert tokens.count(1) == 2
    assert found.tokens == len(tokens) - 3


def test_a_refused_prompt_does_not_change_how_others_are_asked(folder, here):
    refused = status(400, "this prompt is not to our taste")
    with LogprobServer(
        folder, "plain", begins=True, faults=lambda call: refused if "tea" in call.body["prompt"] else None
    ) as server:

        async def use(model):
            with pytest.raises(ModelUnavailable, match="not to our taste"):
                await model.likelihoods([Continuation("some tea")])
            return await model.likelihoods(TEXTS[:1])

        assert_same(with_model(server, use), here[:1])
    assert all("add_special_tokens" in call.body for call in server.scored if "tea" not in call.body["prompt"])


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

        async def use(model):
            return [(await model.likelihoods([TEXTS[place]]))[0] for place in (0, 1, 7)]

        assert_same(with_model(server, use), [here[place] for place in (0, 1, 7)])
    assert sum("add_special_tokens" in call.body for call in server.scored) == 1


def test_a_token_that_a_server_puts_before_a_text_and_tells_is_not_scored(folder):
    with LogprobServer(folder, "plain", begins=True, strict=True) as server:
        alone, after = said(server, [TEXTS[0], PREFIXED])
    tokens = [1, *numbers(TEXTS[0].completion)]
    assert alone.tokens == len(tokens) - 2
    assert alone.mean_nll == pytest.approx(mean_nll(folder, tokens, 2), abs=1e-5)
    assert after.tokens == len(numbers(PREFIXED.completion))


def test_the_model_is_named_without_secrets():
    given = {"base_url": "http://127.0.0.1:1/v1", "extra": {"priority": 1, "api_key": "hunter"}, "context_tokens": 99}
    model = open_server_language_model(
        ChatModelSettings(model="openai:qwen", **given), {"OPENAI_API_KEY": KEY}, Endpoints()
    )
    message = '{"context_tokens": 99, "extra": {"api_key": "***", "priority": 1}}'
    assert model.model_id == f"openai:qwen at http://127.0.0.1:1/v1 {message}"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"model": "extractive"}, "'extractive' can't say how likely"),
        ({"model": "openai:x", "temperature": 0.5}, "temperature means nothing"),
        ({"model": "openai:x", "stream": True}, "stream means nothing"),
    ],
)
def test_settings_of_other_models_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        open_server_language_model(ChatModelSettings(**given), {})
