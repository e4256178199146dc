"""Classifiers: real architectures built in the test, saved and loaded as a run does it, against transformers alone."""

import asyncio
import json
from functools import cache

import numpy as np
import pytest
from proctor.knowledge.models.finding import ModelChoice
from proctor.knowledge.models.pool import LocalModels
from proctor.knowledge.models.running import window_of
from proctor.metrics.tools import Classifier as AskedByMetrics
from tiny_classifier import ARCHITECTURES, TOXIC_BERT, WINDOW, classifier_folder

TEXTS = {
    "one": ["The refund is two days."],
    "padded batch": ["cats sleep", "the refund period is two days. " * 4, "a", "two cats. Two days!"],
    "longer than the window": ["the cats sleep " * 200, "the refund"],
    "one token": ["the"],
    "empty": ["", "the cats"],
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("classifiers")
    return {name: classifier_folder(root / name, name) for name in ARCHITECTURES}


def asked(folder, *rounds):
    """What the toxicity model says of each of some lists of texts, asked at once."""
    models = LocalModels({"toxicity": ModelChoice(str(folder), device="cpu")})
    model: AskedByMetrics = models.tool("toxicity")

    async def ask_all():
        return await asyncio.gather(*(model.classify(texts) for texts in rounds))

    try:
        return asyncio.run(ask_all())
    finally:
        models.close()


@cache
def by_transformers(folder):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    return model, AutoTokenizer.from_pretrained(folder)


def upstream(folder, text):
    """The logits by transformers alone: one text, no padding."""
    import torch

    model, tokenizer = by_transformers(folder)
    encoded = tokenizer(text, truncation=True, max_length=WINDOW, return_tensors="pt")
    if model.config.model_type == "distilbert":
        encoded.pop("token_type_ids")
    with torch.no_grad():
        return model(**encoded).logits[0].numpy()


@pytest.fixture(scope="module")
def answers(folders):
    """By architecture what our model says of each list of texts, asked one list after the other."""

    async def ask_all(model: AskedByMetrics):
        return {name: await model.classify(texts) for name, texts in TEXTS.items()}

    made = {}
    for architecture, folder in folders.items():
        models = LocalModels({"toxicity": ModelChoice(str(folder), device="cpu")})
        made[architecture] = asyncio.run(ask_all(models.tool("toxicity")))
        models.close()
    return made


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_logits_are_those_of_transformers(folders, answers, architecture, name):
    texts, found = TEXTS[name], answers[architecture][name]
    assert found.labels == TOXIC_BERT
    assert found.logits.shape == (len(texts), 6) and found.logits.dtype == np.float32
    for text, row in zip(texts, found.logits, strict=True):
        np.testing.assert_allclose(row, upstream(folders[architecture], text), atol=1e-5)
    assert found.truncated.tolist() == [len(text) > 1000 for text in texts]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_texts_differ_so_that_the_comparison_means_something(answers, architecture):
    logits = answers[architecture]["padded batch"].logits
    assert np.abs(logits[0] - logits[1]).max() > 0.05


def test_no_texts_give_an_empty_table(folders):
    first, second = asked(folders["bert"], ["the"], [])
    assert first.logits.shape == (1, 6)
    assert len(second.logits) == len(second.truncated) == 0


def test_a_text_of_exactly_the_window_is_whole(folders):
    whole, cut = " ".join(["the"] * (WINDOW - 2)), " ".join(["the"] * (WINDOW - 1))
    (found,) = asked(folders["bert"], [whole, cut])
    assert found.truncated.tolist() == [False, True]
    np.testing.assert_allclose(found.logits[0], found.logits[1], atol=1e-5)


@pytest.mark.parametrize("text", ["\ud800 the \udfff", "\x00the\x00", "\u200b", "the " * 3 + "\U0001f642"])
def test_any_string_can_be_asked(folders, text):
    (found,) = asked(folders["bert"], [text, "the"])
    assert np.isfinite(found.logits).all()


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_window_is_that_of_the_positions_or_the_tokenizer(folders, architecture):
    from transformers import AutoTokenizer

    model, tokenizer = by_transformers(folders[architecture])[0], AutoTokenizer.from_pretrained(folders[architecture])
    assert window_of(model, tokenizer) == WINDOW
    tokenizer.model_max_length = 10
    assert window_of(model, tokenizer) == 10


def test_labels_come_in_the_order_of_the_outputs(tmp_path):
    labels = [f"label {place:02}" for place in range(12)]
    (found,) = asked(classifier_folder(tmp_path / "many", labels=labels), ["the"])
    assert found.labels == tuple(labels)


def test_a_model_without_names_says_so_itself(tmp_path):
    folder = classifier_folder(tmp_path / "plain")
    config = json.loads((folder / "config.json").read_text())
    config["num_labels"] = len(config.pop("id2label"))
    del config["label2id"]
    (folder / "config.json").write_text(json.dumps(config))
    (found,) = asked(folder, ["the"])
    assert found.labels == tuple(f"LABEL_{place}" for place in range(6))
