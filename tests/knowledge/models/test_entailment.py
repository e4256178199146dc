"""Entailment models: real architectures with random weights, saved and loaded as those of the hub are."""

import asyncio
import json
import threading

import numpy as np
import pytest
import tiny_entailment
from proctor import InputError
from proctor.knowledge.models.classifier import EntailmentModel, find_entailment, open_entailment
from proctor.knowledge.models.finding import ModelChoice
from proctor.knowledge.models.hub import HuggingFaceHub
from proctor.knowledge.models.loading import Place

NLI = ("entailment", "neutral", "contradiction")
PAIRS = [
    ("the refund period is 14 days", "refund is 14 days"),
    ("two cats sleep", "the refund period is two days"),
    ("a", "b"),
    ("", ""),
    ("two cats sleep", ""),
    ("the " * 800, "cats sleep"),
    ("cats sleep", "the " * 800),
    ("the " * 400, "cats " * 400),
]
TOO_LONG = [False] * 5 + [True] * 3
ARCHITECTURES = {
    "albert": tiny_entailment.albert_folder,
    "bert": tiny_entailment.bert_folder,
    "roberta": tiny_entailment.roberta_folder,
    "deberta": tiny_entailment.deberta_folder,
}


@pytest.fixture(scope="module")
def architectures(tmp_path_factory):
    root = tmp_path_factory.mktemp("architectures")
    return {name: made(root / name, labels=NLI) for name, made in ARCHITECTURES.items()}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """One set of weights under several names for its outputs, and models of two outputs and of one."""
    made = {
        "straight": ["entailment", "neutral", "contradiction"],
        "turned": ["CONTRADICTION", "ENTAILMENT", "NEUTRAL"],
        "two": ["not_entailment", "entailment"],
        "plain two": ["LABEL_0", "LABEL_1"],
        "one": ["score"],
        "unclear": ["LABEL_0", "LABEL_1", "LABEL_2"],
    }
    root = tmp_path_factory.mktemp("entailment")
    return {name: tiny_entailment.bert_folder(root / name.replace(" ", "_"), labels) for name, labels in made.items()}


def opener(folder):
    return lambda: open_entailment(Place("tiny", folder, "summac model", "cpu"))


def asked(folder, *rounds, **settings):
    model = EntailmentModel(opener(folder), "tiny", **settings)

    async def ask_all():
        return await asyncio.gather(*(model.entailed(pairs) for pairs in rounds))

    try:
        return asyncio.run(ask_all())
    finally:
        model.close()


def logits(folder, pair, window=500):
    """What the model itself says of a pair, by transformers alone, without padding."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    encoded = tokenizer([pair[0]], [pair[1]], truncation="longest_first", max_length=window, return_tensors="pt")
    with torch.no_grad():
        return AutoModelForSequenceClassification.from_pretrained(folder).eval()(**encoded).logits[0].double().numpy()


def softmax(values):
    return np.exp(values) / np.exp(values).sum()


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_values_are_those_of_transformers_alone(architectures, name):
    (said,) = asked(architectures[name], PAIRS)
    alone = [softmax(logits(architectures[name], pair)) for pair in PAIRS]
    np.testing.assert_allclose(said.probabilities, alone, atol=1e-5)
    assert said.truncated.tolist() == TOO_LONG
    assert (
        np.abs(said.probabilities[0] - said.probabilities[1]).max() > 1e-3
    )  # or nothing above would be worth anything


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_values_are_those_of_a_cross_encoder_of_sentence_transformers(architectures, name, tmp_path):
    """Saved by that library with a window of its own, which counts, and an activation, which does not."""
    import torch
    from sentence_transformers import CrossEncoder

    saved = CrossEncoder(
        str(architectures[name]), device="cpu", max_length=20, activation_fn=torch.nn.Sigmoid(), local_files_only=True
    )
    saved.save_pretrained(str(tmp_path))
    theirs = saved.predict(PAIRS, activation_fn=torch.nn.Identity(), show_progress_bar=False)
    (said,) = asked(tmp_path, PAIRS)
    np.testing.assert_allclose(said.probabilities, [softmax(row.astype(float)) for row in theirs], atol=1e-5)
    assert said.truncated.tolist() == TOO_LONG


def test_an_older_note_of_the_window_is_heeded(architectures, tmp_path):
    tiny_entailment.bert_folder(tmp_path, NLI)
    (tmp_path / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 9, "do_lower_case": False}))
    (said,) = asked(tmp_path, PAIRS[:2])
    alone = [softmax(logits(tmp_path, pair, window=9)) for pair in PAIRS[:2]]
    np.testing.assert_allclose(said.probabilities, alone, atol=1e-5)
    assert said.truncated.all()


@pytest.mark.parametrize(("name", "order"), [("straight", [0, 1, 2]), ("turned", [1, 2, 0])])
def test_outputs_are_read_by_their_names(folders, name, order):
    (said,) = asked(folders[name], PAIRS)
    for pair, row in zip(PAIRS, said.probabilities, strict=True):
        np.testing.assert_allclose(row, softmax(logits(folders[name], pair))[order], atol=1e-5)


@pytest.mark.parametrize("name", ["two", "plain two", "one"])
def test_two_outputs_are_entailment_and_the_rest_and_one_is_the_probability_of_support(folders, name):
    (said,) = asked(folders[name], PAIRS)
    for pair, row in zip(PAIRS, said.probabilities, strict=True):
        found = logits(folders[name], pair)
        supported = 1 / (1 + np.exp(-found[0])) if name == "one" else softmax(found)[1]
        np.testing.assert_allclose(row, [supported, 1 - supported, 0], atol=1e-5)


def test_broken_text_and_no_pairs_are_taken(folders):
    broken, none = asked(folders["straight"], [("the \ud800 refund", 'a "quoted" \\ text')], [])
    assert broken.probabilities.shape == (1, 3)
    assert none.probabilities.shape == (0, 3)
    assert none.truncated.shape == (0,)


def test_outputs_without_names_are_refused(folders):
    with pytest.raises(InputError, match="label_0, label_1, label_2: wanted entailment, neutral and contradiction"):
        asked(folders["unclear"], PAIRS)


_TRANSFORMER = {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.base.modules.transformer.Transformer"}


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        (
            "modules.json",
            [{**_TRANSFORMER, "type": "theirs.Model"}],
            "needs its own code .theirs.Model., which is never",
        ),
        ("modules.json", [_TRANSFORMER, {"type": "sentence_transformers.x.LogitScore"}], "more than .*LogitScore"),
        ("modules.json", {"modules": []}, "is not a list of sentence-transformers modules"),
        ("config_sentence_transformers.json", {"default_prompt_name": "query"}, "a prompt before the texts"),
        ("config_sentence_transformers.json", [], "is not what sentence-transformers saves"),
        ("sentence_bert_config.json", {"do_lower_case": True}, "lower case"),
    ],
)
def test_what_is_more_than_a_model_is_refused(tmp_path, file, content, message):
    tiny_entailment.bert_folder(tmp_path, NLI)
    (tmp_path / file).write_text(json.dumps(content))
    with pytest.raises(InputError, match=message):
        asked(tmp_path, PAIRS)


def test_a_model_that_is_found_is_asked(folders):
    model = find_entailment(ModelChoice(str(folders["straight"]), device="cpu"))
    before = threading.active_count()
    (said,) = asked(folders["straight"], PAIRS)
    assert threading.active_count() == before  # nothing is loaded before it is asked
    np.testing.assert_allclose(asyncio.run(model.probabilities(PAIRS)), said.probabilities, atol=1e-5)
    model.close()


class Hub:
    """A hub that has one model, here or there."""

    def __init__(self, here=None, there=None):
        self.here, self.there, self.asked = here, there, []

    def cached(self, model, revision, files=()):
        self.asked.append((model, revision))
        return self.here

    def reachable(self):
        return self.there is not None

    def download(self, model, revision, files=()):
        return self.there


def test_the_hub_is_asked_for_names(tmp_path):
    commit = tmp_path / "0123456789abcdef"
    hub = Hub(here=commit)
    assert find_entailment(ModelChoice("nli-small", "main"), hub).model_id == "cross-encoder/nli-small@0123456789ab"
    assert hub.asked == [("cross-encoder/nli-small", "main")]
    assert find_entailment(ModelChoice("owner/model"), Hub(there=commit)).model_id == "owner/model@0123456789ab"


def test_offline_no_download_is_tried(tmp_path):
    hub = HuggingFaceHub({"HF_HUB_OFFLINE": "1"}, tmp_path)
    with pytest.raises(InputError, match=r"'owner/model' is not on this machine .* Give the folder"):
        find_entailment(ModelChoice("owner/model"), hub)
