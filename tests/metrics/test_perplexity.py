import asyncio
import json
import math
from pathlib import Path
from typing import Any

import pytest
import tiny_language_models as tiny
from proctor import InputError
from proctor.knowledge.models.finding import ModelChoice
from proctor.knowledge.models.language_models import Likelihood
from proctor.knowledge.models.pool import LocalModels
from proctor.metrics import Facts, Score, builtin_catalog
from stub_language_model import StubLanguageModel

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "lmppl.json").read_text("utf-8"))


def perplexity(facts: Facts, **options: object) -> Score:
    plan = builtin_catalog().plan(["perplexity"], {"answer_likelihood": options})
    (score,) = asyncio.run(plan.score(facts))
    return score


def test_it_is_the_exponential_of_the_mean() -> None:
    # Metric specification, section 8: token probabilities 0.2, 0.5 and 0.1.
    mean = -(math.log(0.2) + math.log(0.5) + math.log(0.1)) / 3
    model = StubLanguageModel([Likelihood(mean, 3)])
    score = perplexity({"answer": "Two days.", "perplexity_model": model})
    assert score.value == pytest.approx(4.6416, abs=1e-4)
    assert score.details == {"model": "stub@1", "tokens": 3, "mean_nll": mean}
    assert [(one.completion, one.before + one.source + one.after, one.stride) for one in model.asked] == [
        ("Two days.", "", None)
    ]


def test_a_model_of_chosen_probabilities_gives_the_worked_example(tmp_path: Path) -> None:
    tiny.unigram_folder(tmp_path, {"the": 0.2, " refund": 0.5, " period": 0.1})
    models = LocalModels({"perplexity": ModelChoice(str(tmp_path))})
    try:
        score = perplexity({"answer": "xthe refund period", "perplexity_model": models.tool("perplexity")})
    finally:
        models.close()
    assert score.value == pytest.approx(4.6416, abs=1e-4)
    assert score.details["model"] == models.found("perplexity").model_id


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model of the golden values."""
    return tiny.causal_folder(tmp_path_factory.mktemp("causal"))


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["text"][:12])
def test_values_are_those_of_lmppl(folder: Path, case: dict[str, Any]) -> None:
    models = LocalModels({"perplexity": ModelChoice(str(folder))})
    try:
        score = perplexity({"answer": case["text"], "perplexity_model": models.tool("perplexity")})
    finally:
        models.close()
    assert score.value == pytest.approx(case["perplexity"], rel=1e-5)


def test_what_is_beyond_all_numbers_is_no_value() -> None:
    # A server may say -9999 of a token that it gives next to no probability.
    score = perplexity({"answer": "Two.", "perplexity_model": StubLanguageModel([Likelihood(710.0, 14)])})
    assert (score.value, score.status, score.reason) == (None, "error", "not_finite")
    assert score.details["mean_nll"] == 710.0
    most = perplexity({"answer": "Two.", "perplexity_model": StubLanguageModel([Likelihood(709.0, 14)])})
    assert most.value == pytest.approx(math.exp(709))


def test_what_was_cut_is_said() -> None:
    score = perplexity({"answer": "long", "perplexity_model": StubLanguageModel([Likelihood(2.0, 1023, True)])})
    assert score.details["truncated"] is True


def test_the_stride_reaches_the_model_and_the_version() -> None:
    model = StubLanguageModel([Likelihood(2.0, 5)])
    score = perplexity({"answer": "Two days.", "perplexity_model": model}, stride=512)
    assert [one.stride for one in model.asked] == [512]
    assert score.version != perplexity({"answer": "Two days.", "perplexity_model": model}).version


@pytest.mark.parametrize("stride", [0, -1, 1.5, "all", True])
def test_a_stride_that_is_none_is_refused(stride: object) -> None:
    with pytest.raises(InputError, match=r"answer_likelihood\.stride is .*; a number of tokens, 1 or more is wanted"):
        perplexity({"answer": "Two days."}, stride=stride)


@pytest.mark.hub
def test_fluent_sentences_perplex_distilgpt2_less_than_their_words_shuffled() -> None:
    fluent = ["The refund is paid back within two weeks of the day on which you sent the parcel.", "Where do you live?"]
    shuffled = [
        "day parcel of sent back on weeks refund the two paid which within is the The.",
        "live you Where do?",
    ]
    models = LocalModels()
    try:
        if models.found("perplexity").folder is None:
            pytest.skip("the model is not on this machine: run 'proctor models fetch perplexity'")
        values = [
            perplexity({"answer": text, "perplexity_model": models.tool("perplexity")}).value
            for text in (*fluent, *shuffled)
        ]
    finally:
        models.close()
    assert all(value is not None and value > 1 for value in values)
    assert values[0] < values[2] / 3  # type: ignore[operator]
    assert values[1] < values[3] / 3  # type: ignore[operator]
    assert values[0] < 100  # type: ignore[operator]
