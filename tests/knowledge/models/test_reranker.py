"""Rerankers: a real architecture with random weights, saved and loaded as those of the hub are."""

import asyncio
import gc
import json
import shutil
import weakref

import numpy as np
import pytest
import tiny_reranker
from model_hub_server import COMMIT
from proctor import InputError
from proctor.knowledge.models.finding import ModelChoice
from proctor.knowledge.models.reranker import ROLE, Rerankers
from proctor.knowledge.retrieval.search import CANDIDATES, candidates, reordered

QUESTION = "when do the cats sleep"
PASSAGES = ("two cats sleep", "the refund period is two days", "", "the " * 800, "cats. \ud800 [SEP]", "two cats sleep")


class Hub:
    """A hub with some models in its cache, and no network."""

    def __init__(self, **cached):
        self.models = {name.replace("__", "/").replace("_", "-"): folder for name, folder in cached.items()}
        self.asked = []

    def cached(self, model, revision=None, files=()):
        self.asked.append((model, revision))
        return self.models.get(model)

    def reachable(self):
        return False

    def download(self, model, revision=None, files=()):
        raise AssertionError("nothing is to be downloaded")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_reranker.reranker_folder(tmp_path_factory.mktemp("rerankers") / COMMIT)


def opened(model, hub=None):
    return Rerankers(model, hub=hub).named(ROLE.name).take()


def scores(reranker, question=QUESTION, passages=PASSAGES):
    try:
        return asyncio.run(reranker.scores(question, passages))
    finally:
        reranker.close()


def test_scores_are_the_outputs_of_the_model(folder):
    found = scores(opened(ModelChoice(str(folder), device="cpu")))
    assert found.dtype == np.float32
    for passage, score in zip(PASSAGES[:4], found, strict=False):
        assert score == pytest.approx(tiny_reranker.score_of(folder, QUESTION, passage), abs=1e-5)
    assert found[0] == pytest.approx(found[5], abs=1e-6)
    assert len(set(found[:5].tolist())) == 5


def test_they_are_those_of_sentence_transformers(folder):
    from sentence_transformers import CrossEncoder

    theirs = CrossEncoder(str(folder), device="cpu")
    given = theirs.predict([(QUESTION, passage) for passage in PASSAGES[:4]], convert_to_numpy=True)
    ours = scores(opened(ModelChoice(str(folder), device="cpu")), passages=PASSAGES[:4])
    assert np.allclose(1 / (1 + np.exp(-ours)), given, atol=1e-5)  # the library adds a sigmoid of its own
    assert np.argsort(-ours).tolist() == np.argsort(-given).tolist()


def test_the_second_of_two_outputs_without_names_is_the_one_that_fits(tmp_path):
    two = tiny_reranker.reranker_folder(tmp_path / "two", ("LABEL_0", "LABEL_1"))
    found = scores(opened(ModelChoice(str(two), device="cpu")), passages=PASSAGES[:2])
    assert found == pytest.approx([tiny_reranker.score_of(two, QUESTION, each) for each in PASSAGES[:2]], abs=1e-5)


@pytest.mark.parametrize("labels", [("entailment", "neutral", "contradiction"), ("toxic", "fine"), ("a", "b", "c")])
def test_a_model_for_something_else_is_refused(tmp_path, labels):
    other = tiny_reranker.reranker_folder(tmp_path / "other", labels)
    with pytest.raises(InputError, match=f"has the outputs {', '.join(labels)}: a reranker has one"):
        scores(opened(ModelChoice(str(other), device="cpu")))


def test_code_of_the_model_itself_is_refused(tmp_path, folder):
    """As all that ``load_cross_encoder`` refuses, which entailment models are tested with."""
    other = shutil.copytree(folder, tmp_path / "foreign")
    (other / "modules.json").write_text(json.dumps([{"type": "mine.Model", "path": ""}]))
    (other / "mine.py").write_text("raise SystemExit('this must not run')")
    with pytest.raises(InputError, match=r"needs its own code \(mine.Model\), which is never run"):
        scores(opened(ModelChoice(str(other), device="cpu")))


def test_no_passages_cost_nothing(folder):
    reranker = opened(ModelChoice(str(folder)))
    assert scores(reranker, passages=()).shape == (0,)


async def test_nothing_is_remembered_so_that_time_is_told_as_it_is(folder):
    reranker = opened(ModelChoice(str(folder), device="cpu"))
    loaded = await reranker.load()
    batches = []
    ran = loaded.run
    loaded.run = lambda items: batches.append(list(items)) or ran(items)
    for _ in range(2):
        await reranker.scores(QUESTION, PASSAGES[:2])
    reranker.close()
    assert batches == [[(QUESTION, PASSAGES[0]), (QUESTION, PASSAGES[1])]] * 2


def test_what_is_missing_is_said_with_what_to_do():
    with pytest.raises(InputError, match=r"'cross-encoder/ms-marco-MiniLM-L6-v2' is not on this machine .*"
                       r"'proctor models fetch rerank' once"):  # fmt: skip
        Rerankers(hub=Hub()).named("rerank")
    with pytest.raises(InputError, match="'proctor models fetch rerank --local-model rerank=cross-encoder/tiny'"):
        Rerankers(hub=Hub()).named("tiny")
    with pytest.raises(InputError, match="neither a folder nor a model id"):
        Rerankers(hub=Hub()).named("./not here")


def test_a_name_without_an_owner_is_of_the_usual_one_and_the_revision_belongs_to_the_role(folder):
    hub = Hub(cross_encoder__tiny=folder, mine__model=folder)
    rerankers = Rerankers(ModelChoice("mine/model", "v2"), hub=hub)
    assert rerankers.named("tiny").model_id == f"cross-encoder/tiny@{COMMIT[:12]}"
    assert rerankers.named("rerank").model_id == rerankers.named("mine/model").model_id == f"mine/model@{COMMIT[:12]}"
    assert set(hub.asked) == {("cross-encoder/tiny", None), ("mine/model", "v2")}


def test_a_folder_is_looked_for_beside_the_suite(folder):
    named = Rerankers(base=folder.parent, hub=Hub()).named(folder.name)
    assert named.model_id.startswith(f"{COMMIT}@") and named.model_id.endswith(" (folder)")


def test_each_is_loaded_once_while_somebody_holds_it(folder):
    rerankers = Rerankers(ModelChoice(str(folder)), hub=Hub())
    first, second = rerankers.named("rerank").take(), rerankers.named(str(folder)).take()
    assert first is second
    gone = weakref.ref(first)
    del first, second
    gc.collect()
    assert gone() is None
    assert rerankers.named("rerank").take().model_id == rerankers.named("rerank").model_id


def test_the_role_is_known_to_those_who_fetch_models():
    assert (ROLE.name, ROLE.kind, ROLE.revision) == ("rerank", "reranker", None)


def test_what_is_found_is_put_in_order_and_equal_ones_stay_as_they_stood():
    assert reordered(["a", "b", "c", "d"], [1.0, 3.0, 1.0, 3.0]) == [("b", 3.0), ("d", 3.0), ("a", 1.0), ("c", 1.0)]
    assert [each for each, _ in reordered(["a", "b", "c"], [float("nan"), -9.0, float("nan")])] == ["b", "a", "c"]
    assert reordered([], []) == []
    with pytest.raises(ValueError, match="zip"):
        reordered(["a"], [])


def test_more_are_looked_at_than_are_wanted():
    assert (candidates(1), candidates(4), candidates(200)) == (CANDIDATES, CANDIDATES, 200)
