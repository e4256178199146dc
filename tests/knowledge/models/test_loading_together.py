"""Models that are loaded by several threads at once are the models that they are when loaded alone.

While it loads, transformers patches itself for the whole process: two loads that overlap can leave it so for good, and
then tied weights are no longer tied, in models that are loaded much later as well.
"""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import tiny_language_models
import tiny_models
from proctor import InputError
from proctor.knowledge.models.embedding import SentenceEncoder
from proctor.knowledge.models.finding import ModelChoice
from proctor.knowledge.models.loading import Place, load_model
from proctor.knowledge.models.pool import LocalModels
from proctor.metrics.tools import Continuation
from published_models import StockedHub

TEXT = Continuation("two cats sleep", "the cats ")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("together")
    return {
        "causal": tiny_language_models.causal_folder(root / "causal"),
        "encoder_decoder": tiny_language_models.encoder_decoder_folder(root / "encoder_decoder"),
        "sentences": tiny_models.sentence_model_folder(root),
    }


def likelihood(folder):
    models = LocalModels({"gptscore": ModelChoice(str(folder), device="cpu")}, StockedHub())
    try:
        (found,) = asyncio.run(models.tool("gptscore").likelihoods([TEXT]))
    finally:
        models.close()
    return found.mean_nll


def test_values_do_not_depend_on_what_is_loaded_at_the_same_time(folders):
    from transformers import PreTrainedModel

    alone = {name: likelihood(folders[name]) for name in ("causal", "encoder_decoder")}
    ties = PreTrainedModel.tie_weights
    begin = threading.Barrier(6)

    def loaded(number):
        begin.wait(60)
        if number % 3 == 2:
            return [SentenceEncoder(folders["sentences"], "sentences").dimensions for _ in range(6)]
        name = ("causal", "encoder_decoder")[number % 3]
        return [likelihood(folders[name]) - alone[name] for _ in range(6)]

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(loaded, range(6)))
    assert [max(map(abs, each)) for number, each in enumerate(found) if number % 3 < 2] == [0, 0, 0, 0]
    assert PreTrainedModel.tie_weights is ties
    assert likelihood(folders["causal"]) == alone["causal"]


def test_a_model_whose_tied_weights_came_apart_is_refused(folders, monkeypatch):
    """As it is where something else in the process loads at the same time; here transformers is left so by hand."""
    from transformers import PreTrainedModel

    monkeypatch.setattr(PreTrainedModel, "tie_weights", lambda *_, **__: None)
    place = Place("causal", folders["causal"], "gptscore model", "cpu")
    with pytest.raises(InputError, match="while something else in this process loaded a model"):
        load_model(place, "AutoModelForCausalLM")
