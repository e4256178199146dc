import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import tiny_models
from counting_encoder import vector_of
from proctor import InputError
from proctor.knowledge.models.embedding import (
    EmbedderSettings,
    LangChainEncoder,
    SentenceEncoder,
    open_encoder,
    resolve,
)
from proctor.knowledge.models.hub import HuggingFaceHub

PACKAGED = "sentence-transformers/all-MiniLM-L6-v2@c9745ed1d9f2 (packaged, onnx fp32)"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


class FakeHub:
    """A hub with what it is given; remembers what it was asked."""

    def __init__(self, cached=(), online=(), reachable=False):
        self.on_disk, self.online, self.is_reachable, self.asked = set(cached), set(online), reachable, []

    def cached(self, model, revision, files=()):
        self.asked.append(("cached", model, revision))
        return Path("cache", COMMIT) if model in self.on_disk else None

    def reachable(self):
        self.asked.append("reachable")
        return self.is_reachable

    def download(self, model, revision, files=()):
        self.asked.append(("download", model, revision))
        return Path("cache", COMMIT) if model in self.online else None


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory):
    return tiny_models.sentence_model_folder(tmp_path_factory.mktemp("tiny"))


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"model": "sentence-transformers/all-MiniLM-L6-v2"},
        {"revision": "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"},
        {"revision": "c9745ed"},
        {"strict": True},
    ],
)
def test_the_packaged_model_is_known_without_a_look_elsewhere(given):
    hub = FakeHub()
    found = resolve(EmbedderSettings(**given), hub)
    assert (found.model_id, found.embedded, found.warning, hub.asked) == (PACKAGED, True, "", [])


def test_another_revision_of_the_packaged_model_comes_from_the_hub():
    hub = FakeHub(cached={"sentence-transformers/all-MiniLM-L6-v2"})
    found = resolve(EmbedderSettings(revision="main"), hub)
    assert (found.model_id, found.source) == ("sentence-transformers/all-MiniLM-L6-v2@0123456789ab", "folder")


def test_int8_is_in_the_name():
    assert EmbedderSettings(precision="int8").model_id.endswith("(packaged, onnx int8)")


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"model": " "}, "name is empty"),
        ({"threads": 0}, "given 0 threads"),
        ({"model": "./all-MiniLM-L6-v2"}, "neither a folder nor a model id. Did you mean 'all-MiniLM-L6-v2'"),
        ({"model": "/no/such/folder"}, "neither a folder nor a model id"),
        ({"model": "a/b/c"}, "neither a folder nor a model id"),
        ({"model": "BAAI/bge-small-en", "precision": "int8"}, "can't run in int8: only the packaged"),
        ({"model": "BAAI/bge-smal-en", "strict": True}, "not on this machine .* Did you mean 'BAAI/bge-small-en'"),
    ],
)
def test_names_that_cannot_be_used(given, wanted):
    with pytest.raises(InputError, match=wanted):
        resolve(EmbedderSettings(**given), FakeHub())


def test_the_hub_is_asked_cache_first_then_the_network():
    model = "BAAI/bge-small-en"
    cached, asked = ("cached", model, "v1"), "reachable"
    download = ("download", model, "v1")
    for hub, given, calls, id_ in [
        (FakeHub(cached={model}), {}, [cached], f"{model}@0123456789ab"),
        (FakeHub(online={model}, reachable=True), {}, [cached, asked, download], f"{model}@0123456789ab"),
        (FakeHub(online={model}), {}, [cached, asked], PACKAGED),
        (FakeHub(online={model}), {"allow_download": True}, [cached, download], f"{model}@0123456789ab"),
        (FakeHub(reachable=True), {}, [cached, asked, download], PACKAGED),
    ]:
        found = resolve(EmbedderSettings(model, revision="v1", **given), hub)
        assert (found.model_id, hub.asked) == (id_, calls)
        assert ("can't be compared" in found.warning) == found.embedded


def test_a_name_without_an_owner_is_one_of_sentence_transformers():
    hub = FakeHub(cached={"sentence-transformers/multi-qa"})
    assert resolve(EmbedderSettings("multi-qa"), hub).model_id == "sentence-transformers/multi-qa@0123456789ab"


def test_the_resolution_is_looked_for_once(tiny_folder, tmp_path):
    copy = shutil.copytree(tiny_folder, tmp_path / "copy")
    settings = EmbedderSettings(str(copy))
    first = settings.model_id
    (copy / "config.json").write_text("{}")
    assert settings.model_id == first
    assert EmbedderSettings(str(copy)).model_id != first


def test_a_folder_is_known_by_its_content_not_its_place(tiny_folder, tmp_path):
    copy = shutil.copytree(tiny_folder, tmp_path / "elsewhere" / tiny_folder.name)
    assert EmbedderSettings(str(copy)).model_id == EmbedderSettings(str(tiny_folder)).model_id
    assert EmbedderSettings(str(copy)).model_id.startswith("tiny-sentences@")


def test_a_folder_is_loaded_by_sentence_transformers(tiny_folder):
    from sentence_transformers import SentenceTransformer

    encoder = open_encoder(EmbedderSettings(str(tiny_folder)))
    texts = ["two cats", "", "the refund period is two days.", "\ud800", "cats sleep " * 50]
    found = encoder.encode(texts)
    plain = SentenceTransformer(str(tiny_folder), device="cpu")
    wanted = plain.encode([*texts[:3], "\ufffd", texts[4]], normalize_embeddings=True, show_progress_bar=False)
    np.testing.assert_allclose(found.vectors, wanted, atol=1e-5)
    assert found.truncated.tolist() == [False, False, False, False, True]
    assert (encoder.dimensions, encoder.window, encoder.embedded) == (32, 16, False)
    assert encoder.encode([]).vectors.shape == (0, 32)
    assert np.abs(found.vectors[0] - found.vectors[2]).max() > 0.01


def test_truncation_is_told_at_the_very_token(tiny_folder):
    encoder = SentenceEncoder(tiny_folder, "tiny")
    assert encoder.encode(["is " * 14, "is " * 15]).truncated.tolist() == [False, True]


def test_code_that_comes_with_a_model_is_not_run(tiny_folder, tmp_path):
    copy = shutil.copytree(tiny_folder, tmp_path / "evil")
    modules = json.loads((copy / "modules.json").read_text())
    modules[1]["type"] = "evil_pooling.Pooling"
    (copy / "modules.json").write_text(json.dumps(modules))
    (copy / "evil_pooling.py").write_text(f"open({str(tmp_path / 'was run')!r}, 'w')")
    with pytest.raises(InputError, match=r"needs its own code \(evil_pooling.Pooling\)"):
        SentenceEncoder(copy, "evil")
    assert not (tmp_path / "was run").exists()


def test_a_folder_without_a_model_is_a_sentence(tmp_path):
    with pytest.raises(InputError, match=r"is no model: the folder has neither config.json nor modules.json"):
        open_encoder(EmbedderSettings(str(tmp_path)))
    (tmp_path / "modules.json").write_text("[1]")
    with pytest.raises(InputError, match="not a list of sentence-transformers modules"):
        open_encoder(EmbedderSettings(str(tmp_path)))


def hub_cache(folder, source, model="tests/tiny"):
    """A cache as the hub's library lays it out."""
    place = folder / f"models--{model.replace('/', '--')}"
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text(COMMIT)
    shutil.copytree(source, place / "snapshots" / COMMIT)
    return place / "snapshots" / COMMIT


def test_the_real_cache_of_the_hub_is_read(tiny_folder, tmp_path):
    snapshot = hub_cache(tmp_path, tiny_folder)
    hub = HuggingFaceHub({}, tmp_path)
    assert hub.cached("tests/tiny", None) == hub.cached("tests/tiny", COMMIT) == snapshot
    assert hub.cached("tests/tiny", "v2") is None
    assert hub.cached("tests/absent", None) is None
    settings = EmbedderSettings("tests/tiny")
    found = resolve(settings, hub)
    assert (found.model_id, found.place) == ("tests/tiny@0123456789ab", str(snapshot))
    assert len(SentenceEncoder(Path(found.place), found.model_id).encode(["two cats"]).vectors) == 1
    (snapshot / "model.safetensors").unlink()
    assert hub.cached("tests/tiny", None) is None


def test_the_probe_says_whether_the_hub_answers(unused_port, listening_port):
    assert not HuggingFaceHub({"HF_ENDPOINT": f"http://127.0.0.1:{unused_port}"}).reachable()
    open_endpoint = {"HF_ENDPOINT": f"http://127.0.0.1:{listening_port}"}
    assert HuggingFaceHub(open_endpoint).reachable()
    assert not HuggingFaceHub({**open_endpoint, "HF_HUB_OFFLINE": "1"}).reachable()


@pytest.fixture
def listening_port():
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def unused_port():
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def test_a_download_that_cannot_be_made_is_none(tmp_path):
    assert HuggingFaceHub({}, tmp_path).download("tests/tiny", None) is None


class HashEmbeddings:
    def embed_documents(self, texts):
        assert "" not in texts
        return [(5 * vector_of(text)).tolist() for text in texts]


def test_langchain_embeddings_become_an_encoder():
    from langchain_core.embeddings import DeterministicFakeEmbedding

    encoder = LangChainEncoder(DeterministicFakeEmbedding(size=12), "fake")
    found = encoder.encode(["a", "b", "a"])
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-6)
    np.testing.assert_array_equal(found.vectors[0], found.vectors[2])
    assert found.vectors.dtype == np.float32 and encoder.dimensions == 12
    assert encoder.encode([]).vectors.shape == (0, 12)


def test_blank_and_broken_texts_reach_langchain_as_text():
    found = LangChainEncoder(HashEmbeddings(), "hash").encode(["", "\ud800", "one"])
    np.testing.assert_allclose(found.vectors, [vector_of(" "), vector_of("\ufffd"), vector_of("one")], atol=1e-6)
    assert found.truncated.tolist() == [False] * 3


@pytest.mark.parametrize("given", [[[1.0, 2.0]], [[1.0], [2.0]], [[1.0, float("nan")]] * 2])
def test_langchain_embeddings_that_give_nonsense_are_an_error(given):
    class Nonsense:
        def embed_documents(self, texts):
            return given if len(texts) == 2 else [[1.0, 0.0]]

    with pytest.raises(ValueError, match="nonsense"):
        LangChainEncoder(Nonsense(), "nonsense").encode(["a", "b"])


def test_a_langchain_target_is_loaded(tmp_path):
    (tmp_path / "my_embedders.py").write_text(
        "from langchain_core.embeddings import DeterministicFakeEmbedding\n"
        "ready = DeterministicFakeEmbedding(size=4)\n"
        "class Class(DeterministicFakeEmbedding):\n    size: int = 5\n"
        "def function():\n    return DeterministicFakeEmbedding(size=6)\n"
        "number = 7\n"
    )
    sys.path.insert(0, str(tmp_path))
    try:
        for name, dimensions in (("ready", 4), ("Class", 5), ("function", 6)):
            settings = EmbedderSettings(f"langchain:my_embedders:{name}")
            assert settings.model_id == f"langchain:my_embedders:{name}"
            assert open_encoder(settings).dimensions == dimensions
        for target, wanted in (
            ("langchain:my_embedders", "names no object"),
            ("langchain:my_embedders:absent", "can't be loaded"),
            ("langchain:no_such_module:x", "can't be loaded"),
            ("langchain:my_embedders:number", "is of type int, which has no embed_documents"),
        ):
            with pytest.raises(InputError, match=wanted):
                open_encoder(EmbedderSettings(target))
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("my_embedders", None)
