"""Models in the forms in which they were published: made ready once, equal to the original, never half."""

import json
import os
import pickle
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import published_models
import pytest
from proctor import InputError
from proctor.knowledge.models.finding import ModelChoice, fetch, find, look
from published_models import COMMIT, StockedHub
from typed import full_disk

HHEM, FLAN = "vectara/hallucination_evaluation_model", "google/flan-t5-base"
ALIGNSCORE, ROBERTA = "yzha/AlignScore", "FacebookAI/roberta-base"
TOKENS = [[7, 8, 9, 10, 1]]


@pytest.fixture(scope="module")
def tensorflow(tmp_path_factory):
    return published_models.tensorflow_folder(tmp_path_factory.mktemp("tensorflow") / "bias")


@pytest.fixture(scope="module")
def hhem(tmp_path_factory):
    return published_models.hhem_folder(tmp_path_factory.mktemp("hhem"))


@pytest.fixture(scope="module")
def alignscore(tmp_path_factory):
    return published_models.alignscore_folder(tmp_path_factory.mktemp("alignscore"))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PROCTOR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def logits(folder, kind, tokens=TOKENS, mask=None):
    import torch
    import transformers

    model = getattr(transformers, kind).from_pretrained(folder).eval()
    given = {} if mask is None else {"attention_mask": torch.tensor(mask)}
    with torch.no_grad():
        return model(input_ids=torch.tensor(tokens), **given).logits.numpy()


def made(cache):
    return sorted(path.name for path in (cache / "models").iterdir()) if (cache / "models").exists() else []


def test_tensorflow_weights_say_what_tensorflow_said(tensorflow):
    golden = json.loads(published_models.GOLDEN.read_text(encoding="utf-8"))
    found = find(ModelChoice(str(tensorflow)), "bias model")
    kind = "AutoModelForSequenceClassification"
    ours = logits(found.folder, kind, golden["input_ids"], golden["attention_mask"])
    np.testing.assert_allclose(ours, golden["logits"], atol=1e-5)
    assert np.ptp(golden["logits"]) > 1
    assert (found.folder / "tokenizer.json").read_bytes() == (tensorflow / "tokenizer.json").read_bytes()


def test_the_bias_model_has_the_labels_of_its_page(tensorflow):
    from transformers import AutoConfig

    hub = StockedHub({"d4data/bias-detection-model": tensorflow}, here={"d4data/bias-detection-model"})
    wanted = {"d4data/bias-detection-model": ["Non-biased", "Biased"], "other/model": ["LABEL_0", "LABEL_1"]}
    hub.there["other/model"] = tensorflow
    hub.here.add("other/model")
    for name, labels in wanted.items():
        config = AutoConfig.from_pretrained(find(ModelChoice(name), "bias model", hub).folder)
        assert list(config.id2label.values()) == labels


def test_hhem_is_the_classifier_that_its_own_code_wraps(hhem, cache):
    published, flan, plain = hhem
    hub = StockedHub({HHEM: published, FLAN: flan}, here={HHEM})
    messages = []
    found = find(ModelChoice(HHEM, COMMIT), "hallucination model", hub, notify=messages.append)
    assert (found.model_id, found.source, hub.downloads) == (f"{HHEM}@{COMMIT[:12]}", published, [FLAN])
    assert made(cache) == [f"vectara--hallucination_evaluation_model@{COMMIT}"]
    assert "once" in messages[0]
    kind = "AutoModelForTokenClassification"
    np.testing.assert_allclose(logits(found.folder, kind), logits(plain, kind), atol=1e-6)
    config = json.loads((found.folder / "config.json").read_text())
    assert "auto_map" not in config
    assert config["architectures"] == ["T5ForTokenClassification"]
    origin = json.loads((found.folder / "proctor.json").read_text())["made_from"]
    assert set(origin[f"{HHEM}@{COMMIT}"]) == {"model.safetensors"}
    assert "tokenizer.json" in origin[f"{FLAN}@7bcac572ce56db69c1ea7c8af255c5d7c9672fc2"]


def test_alignscore_is_taken_out_of_its_checkpoint(alignscore):
    published, roberta, plain = alignscore
    hub = StockedHub({ALIGNSCORE: published, ROBERTA: roberta})
    settings = ModelChoice(ALIGNSCORE, COMMIT, file="AlignScore-base.ckpt")
    found = find(settings, "alignscore model", hub)
    assert found.model_id == f"{ALIGNSCORE}@{COMMIT[:12]} (AlignScore-base.ckpt)"
    assert hub.asked[2] == ("download", ALIGNSCORE, COMMIT, ("AlignScore-base.ckpt",))
    kind = "AutoModelForSequenceClassification"
    np.testing.assert_allclose(logits(found.folder, kind), logits(plain, kind), atol=1e-6)
    assert json.loads((found.folder / "config.json").read_text())["architectures"] == ["AlignScore"]


def test_a_folder_of_the_users_is_made_ready_too(alignscore, tmp_path):
    published, roberta, _ = alignscore
    hub = StockedHub({ROBERTA: roberta}, here={ROBERTA})
    found = find(ModelChoice(str(published)), "alignscore model", hub)
    assert found.model_id.endswith("(folder)")
    assert found.folder != published
    assert (found.folder / "tokenizer.json").is_file()


def test_it_is_made_once_and_again_when_it_is_not_whole(hhem):
    published, flan, _ = hhem
    hub = StockedHub({HHEM: published, FLAN: flan}, here={HHEM, FLAN})
    messages = []
    first = find(ModelChoice(HHEM, COMMIT), "model", hub, notify=messages.append)
    assert find(ModelChoice(HHEM, COMMIT), "model", hub, notify=messages.append) == first
    assert len(messages) == 1
    (first.folder / "proctor.json").write_text('{"version": 0}')
    (first.folder / "stray").touch()
    assert find(ModelChoice(HHEM, COMMIT), "model", hub, notify=messages.append) == first
    assert len(messages) == 2
    assert not (first.folder / "stray").exists()


def test_what_was_made_is_enough(hhem):
    published, flan, _ = hhem
    hub = StockedHub({HHEM: published, FLAN: flan}, here={HHEM, FLAN})
    first = find(ModelChoice(HHEM, COMMIT), "model", hub)
    bare = StockedHub()
    again = find(ModelChoice(HHEM, COMMIT), "model", bare)
    assert (again.model_id, again.folder, again.source) == (first.model_id, first.folder, None)
    assert look(ModelChoice(HHEM, COMMIT), "model", bare) == again
    assert fetch(ModelChoice(HHEM, COMMIT), "model", bare) == again
    assert bare.downloads == []


def test_without_its_tokenizer_it_is_not_ready(hhem, cache):
    published, flan, _ = hhem
    hub = StockedHub({HHEM: published, FLAN: flan}, here={HHEM}, is_reachable=False)
    found = find(ModelChoice(HHEM, COMMIT), "hallucination model", hub)
    assert found.folder is None
    assert f"config.json and tokenizer.json of '{FLAN}'" in found.trouble
    assert "proctor models fetch" in found.trouble
    assert made(cache) == []
    assert find(ModelChoice(HHEM, COMMIT, allow_download=True), "hallucination model", hub).folder is not None


def test_to_look_makes_nothing(hhem, cache):
    published, flan, _ = hhem
    hub = StockedHub({HHEM: published, FLAN: flan}, here={HHEM, FLAN})
    found = look(ModelChoice(HHEM, COMMIT), "hallucination model", hub)
    assert (found.folder, found.source) == (None, published)
    assert "not prepared" in found.trouble
    assert made(cache) == []


class Evil:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_code_in_a_checkpoint_is_not_run(tmp_path, cache):
    import torch

    folder = tmp_path / "evil"
    folder.mkdir()
    torch.save({"state_dict": {}, "callbacks": Evil(tmp_path / "was run")}, folder / "AlignScore-base.ckpt")
    hub = StockedHub({ROBERTA: tmp_path}, here={ROBERTA})
    found = find(ModelChoice(str(folder)), "alignscore model", hub)
    assert "what else a pickle holds is never run" in found.trouble
    assert not (tmp_path / "was run").exists()
    assert made(cache) == []


@pytest.mark.parametrize("content", [b"", b"no checkpoint", pickle.dumps([1, 2])])
def test_what_is_no_checkpoint_is_said(tmp_path, content):
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "model.ckpt").write_bytes(content)
    found = find(ModelChoice(str(folder)), "alignscore model", StockedHub({ROBERTA: tmp_path}, here={ROBERTA}))
    assert found.folder is None
    assert "model.ckpt" in found.trouble


def test_weights_of_another_shape_are_refused(tmp_path, cache):
    folder = published_models.tensorflow_folder(tmp_path / "bias", left_out="q_lin")
    found = find(ModelChoice(str(folder)), "bias model")
    assert "its weights are not those of DistilBertForSequenceClassification" in found.trouble
    assert "attention.q_lin.bias" in found.trouble
    assert made(cache) == []


def test_tensorflow_weights_of_other_models_are_refused(tensorflow, tmp_path):
    folder = tmp_path / "bert"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "bert"}')
    (folder / "tf_model.h5").write_bytes((tensorflow / "tf_model.h5").read_bytes())
    assert "of the type bert: only DistilBERT is converted" in find(ModelChoice(str(folder)), "model").trouble
    (folder / "config.json").write_text('{"model_type": "distilbert"}')
    (folder / "tf_model.h5").write_bytes(b"nothing")
    assert "can't be read as weights of Keras" in find(ModelChoice(str(folder)), "model").trouble


def test_a_cache_that_cannot_be_written_is_said(tensorflow, cache):
    cache.write_text("a file")
    found = find(ModelChoice(str(tensorflow)), "bias model")
    assert found.folder is None
    assert "can't be written to" in found.trouble
    with pytest.raises(InputError, match="can't be written to"):
        fetch(ModelChoice(str(tensorflow)), "bias model")


def test_a_full_disk_leaves_nothing_half_written(tensorflow, tmp_path, cache):
    bare = tmp_path / "bare"  # without a tokenizer, so that the weights are what is too large
    bare.mkdir()
    for name in ("config.json", "tf_model.h5"):
        (bare / name).write_bytes((tensorflow / name).read_bytes())
    with full_disk(5000):
        trouble = find(ModelChoice(str(bare)), "bias model").trouble
    assert "can't be written to" in trouble
    assert "too large" in trouble
    assert made(cache) == []


def test_a_configuration_that_makes_no_model_is_said(tensorflow, tmp_path):
    folder = tmp_path / "bias"
    folder.mkdir()
    (folder / "tf_model.h5").write_bytes((tensorflow / "tf_model.h5").read_bytes())
    config = json.loads((tensorflow / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "n_heads": 3}))
    assert "its config.json makes no model" in find(ModelChoice(str(folder)), "bias model").trouble


def test_what_was_never_finished_is_cleared_away(tensorflow, cache):
    ready = find(ModelChoice(str(tensorflow)), "bias model").folder
    old, young = (cache / "models" / f".{ready.name}.{name}" for name in ("old", "young"))
    for left in (old, young):
        left.mkdir()
    os.utime(old, (time.time() - 7200,) * 2)
    (ready / "proctor.json").unlink()
    find(ModelChoice(str(tensorflow)), "bias model")
    assert made(cache) == [young.name, ready.name]


def test_without_h5py_it_is_said_what_to_install(tensorflow, cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    assert "pip install 'proctor[convert]'" in find(ModelChoice(str(tensorflow)), "bias model").trouble


def test_what_loads_as_it_is_stays_where_it_is(tmp_path, cache):
    import tiny_models

    folder = tiny_models.cross_encoder_folder(tmp_path / "plain", ["a", "b"])
    (folder / "tf_model.h5").write_bytes(b"a duplicate")
    (folder / "old.ckpt").write_bytes(b"left from training")
    assert find(ModelChoice(str(folder)), "model").folder == folder
    assert made(cache) == []


def test_two_that_prepare_at_once_make_one(hhem, cache):
    published, flan, _ = hhem
    hub = StockedHub({HHEM: published, FLAN: flan}, here={HHEM, FLAN})
    both_began = threading.Barrier(2)  # each is past the look for what was made before

    def prepare(_):
        return find(ModelChoice(HHEM, COMMIT), "model", hub, notify=lambda _: both_began.wait(60)).folder

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(prepare, range(2))
    assert first == second
    assert made(cache) == [first.name]
    assert logits(first, "AutoModelForTokenClassification").shape == (1, 5, 2)
