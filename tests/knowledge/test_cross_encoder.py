"""Entailment models: real formats built in the test, without a download."""

import asyncio
import json

import numpy as np
import pytest
import tiny_models
from proctor import InputError
from proctor.knowledge.cross_encoder import CrossEncoderSettings, open_cross_encoder, resolve
from proctor.knowledge.model_hub import HuggingFaceHub

PAIRS = [
    ("the refund period is 14 days", "refund is 14 days"),
    ("two cats sleep", "the refund period is two days"),
    ("the " * 400, "cats " * 400),
    ("", ""),
]
WORDED = PAIRS[:3]  # transformers takes an empty second text for none


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
    return {
        name: tiny_models.cross_encoder_folder(root / name.replace(" ", "_"), labels) for name, labels in made.items()
    }


def asked(folder, *rounds):
    model = open_cross_encoder(CrossEncoderSettings(str(folder)))

    async def ask_all():
        return await asyncio.gather(*(model.probabilities(pairs) for pairs in rounds))

    try:
        return asyncio.run(ask_all())
    finally:
        model.close()


def logits(folder, pair):
    """What the model itself says of a pair, by transformers alone."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    encoded = tokenizer(*pair, truncation=True, return_tensors="pt")
    with torch.no_grad():
        return AutoModelForSequenceClassification.from_pretrained(folder).eval()(**encoded).logits[0].double().numpy()


def softmax(values):
    return np.exp(values) / np.exp(values).sum()


@pytest.mark.parametrize(("name", "order"), [("straight", [0, 1, 2]), ("turned", [1, 2, 0])])
def test_outputs_are_read_by_their_names(folders, name, order):
    (found,) = asked(folders[name], WORDED)
    for pair, row in zip(WORDED, found, strict=True):
        np.testing.assert_allclose(row, softmax(logits(folders[name], pair))[order], atol=1e-5)


@pytest.mark.parametrize("name", ["two", "plain two"])
def test_two_outputs_are_entailment_and_the_rest(folders, name):
    (found,) = asked(folders[name], WORDED)
    for pair, row in zip(WORDED, found, strict=True):
        likely = softmax(logits(folders[name], pair))
        np.testing.assert_allclose(row, [likely[1], likely[0], 0], atol=1e-5)


def test_one_output_is_the_probability_of_support(folders):
    (found,) = asked(folders["one"], WORDED)
    for pair, row in zip(WORDED, found, strict=True):
        supported = 1 / (1 + np.exp(-logits(folders["one"], pair)[0]))
        np.testing.assert_allclose(row, [supported, 1 - supported, 0], atol=1e-5)


def test_a_pair_gets_the_same_in_any_company(folders):
    together, *alone = asked(folders["straight"], PAIRS, *([pair] for pair in reversed(PAIRS)))
    np.testing.assert_allclose(together, np.concatenate(alone)[::-1], atol=1e-5)
    assert together.shape == (4, 3)
    np.testing.assert_allclose(together.sum(axis=1), 1, atol=1e-5)
    assert np.abs(together[0] - together[1]).max() > 1e-3  # or nothing above would be worth anything


def test_broken_text_and_no_pairs_are_taken(folders):
    broken, none = asked(folders["straight"], [("the \ud800 refund", 'a "quoted" \\ text')], [])
    assert broken.shape == (1, 3)
    assert none.shape == (0, 3)


def test_outputs_without_names_are_refused(folders):
    with pytest.raises(InputError, match="label_0, label_1, label_2: wanted entailment, neutral and contradiction"):
        asked(folders["unclear"], PAIRS)


def test_a_folder_without_a_model_is_refused(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({}))
    with pytest.raises(InputError, match="can't be loaded by sentence-transformers"):
        asked(tmp_path, PAIRS)


def test_a_folder_is_known_by_its_content(folders):
    first, second = (CrossEncoderSettings(str(folders[name])).model_id for name in ("straight", "turned"))
    assert first.startswith("straight@")
    assert first.endswith("(folder)")
    assert first.split("@")[1] != second.split("@")[1]


class Hub:
    """A hub that has one model, here or there."""

    def __init__(self, here=None, there=None):
        self.here, self.there, self.asked = here, there, []

    def cached(self, model, revision):
        self.asked.append((model, revision))
        return self.here

    def reachable(self):
        return self.there is not None

    def download(self, model, revision):
        return self.there


def test_the_hub_is_asked_for_names(tmp_path):
    commit = tmp_path / "0123456789abcdef"
    hub = Hub(here=commit)
    assert resolve(CrossEncoderSettings("nli-small", "main"), hub) == ("cross-encoder/nli-small@0123456789ab", commit)
    assert hub.asked == [("cross-encoder/nli-small", "main")]
    assert resolve(CrossEncoderSettings("owner/model"), Hub(there=commit)) == ("owner/model@0123456789ab", commit)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (CrossEncoderSettings("owner/model"), "can't be reached"),
        (CrossEncoderSettings(" "), "name is empty"),
        (CrossEncoderSettings("no such/folder here"), "neither a folder nor a model id"),
        (CrossEncoderSettings("owner/model", threads=0), "0 threads"),
    ],
)
def test_what_cannot_be_found_is_said(settings, message):
    with pytest.raises(InputError, match=message):
        resolve(settings, Hub())


def test_offline_no_download_is_tried(tmp_path):
    hub = HuggingFaceHub({"HF_HUB_OFFLINE": "1"}, tmp_path)
    with pytest.raises(InputError, match="can't be reached"):
        resolve(CrossEncoderSettings("owner/model"), hub)
