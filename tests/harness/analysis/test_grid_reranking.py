"""A grid puts passages in order with the very models that the suite's bots load."""

import asyncio
import threading

import pytest
from corpus_folders import corpus_of, question
from proctor import InputError
from proctor.harness.analysis.configurations import measure_grid
from proctor.harness.analysis.grid_expansion import expand_grid
from proctor.harness.analysis.grid_retrieval import Retrieving
from proctor.harness.run.suite_run import build_bots
from proctor.harness.suite.settings import AnalysisSettings, GridSettings
from tiny_reranker import reranker_folder, score_of

OWN = """
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

class Words(BaseRetriever):
    passages: list
    k: int

    def _get_relevant_documents(self, query, *, run_manager):
        asked = set(query.lower().strip("?").split())
        ranked = sorted(self.passages, key=lambda one: -len(asked & set(one.page_content.lower().split())))
        return ranked[: self.k]

def made(passages, k):
    return Words(passages=passages, k=k)
"""
CUT = {"splitter": "recursive", "chunk_size": 120, "chunk_overlap": 0}
ASKED = [question("boats", "price"), question("maps", "origin")]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    return reranker_folder(folder / "one"), reranker_folder(folder / "two", ("LABEL_0", "LABEL_1"))


def found_by(corpus, grid, local_models=()):
    """By setting, what is found for each question."""
    expanded = expand_grid(corpus, grid)
    retrieving = Retrieving(corpus, [one.text for one in corpus.questions], expanded.embedders, None, local_models)

    async def work():
        return [one async for one in retrieving.made(expanded.configurations)]

    try:
        made = asyncio.run(work())
    finally:
        retrieving.close()
    return {expanded.configurations[place]: one.found for one in made for place in one.configurations}


def of_suites_bot(corpus, local_models=()):
    """What the suite's bot hands to its model, built as for a run."""
    (bot,) = build_bots(corpus.loaded, ["rag"], corpus.embedder, corpus.environ, local_models=local_models)

    async def work():
        await bot.prepare()
        try:
            return tuple([(await bot.reply(one.text)).contexts for one in corpus.questions])
        finally:
            await bot.close()

    return asyncio.run(work())


def suite(model, reranker="rerank", retriever="bm25"):
    bot = {"type": "rag", "retriever": retriever, "reranker": reranker, "top_k": 3, **CUT}
    return {"bots": {"rag": bot}, "local_models": {"rerank": str(model)}}


def test_the_model_of_the_suites_role_puts_passages_in_order(tmp_path, models):
    corpus, _ = corpus_of(tmp_path, ASKED, **suite(models[0]))
    found = found_by(corpus, GridSettings(**CUT, retriever="bm25", reranker=["none", "rerank"], top_k=3))
    by_name = {configuration.name: contexts for configuration, contexts in found.items()}
    assert set(by_name) == {"recursive 120/0, bm25, k 3", "recursive 120/0, bm25, re-ranked, k 3"}
    ranked = by_name["recursive 120/0, bm25, re-ranked, k 3"]
    assert ranked == of_suites_bot(corpus)
    for asked, contexts in zip(corpus.questions, ranked, strict=True):
        for context in contexts:
            assert context.score == pytest.approx(score_of(models[0], asked.text, context.text), abs=1e-4)
        assert [one.score for one in contexts] == sorted((one.score for one in contexts), reverse=True)
    assert ranked != by_name["recursive 120/0, bm25, k 3"]


def test_another_model_of_the_command_line_takes_the_role(tmp_path, models):
    corpus, _ = corpus_of(tmp_path, ASKED, **suite(models[0]))
    grid = GridSettings(**CUT, retriever="bm25", reranker="rerank", top_k=3)
    other = [f"rerank={models[1]}"]
    ((changed,), (plain,)) = (found_by(corpus, grid, given).values() for given in (other, ()))
    assert changed == of_suites_bot(corpus, other)
    assert [one.score for one in changed[0]] != [one.score for one in plain[0]]


def test_two_models_are_two_settings_whose_names_tell_them_apart(tmp_path, models):
    corpus, _ = corpus_of(tmp_path, ASKED, **suite(models[0]))
    settings = AnalysisSettings(grid=GridSettings(**CUT, retriever="bm25", reranker=[*map(str, models)], top_k=3))
    grid = measure_grid(corpus, settings)
    assert [result.configuration.reranker for result in grid.configurations] == ["rerank", *map(str, models)]
    same, other = grid.configurations[1:]
    assert same.by_question == grid.configurations[0].by_question
    assert same.by_question != other.by_question
    assert [name.partition(", k 3, ")[2] for name in grid.names] == ["rerank", *map(str, models)]


def test_a_langchain_retriever_is_measured_and_put_in_order(tmp_path, models):
    (tmp_path / "own.py").write_text(OWN)
    corpus, _ = corpus_of(tmp_path, ASKED, **suite(models[0], retriever="own.py:made"))
    found = found_by(corpus, GridSettings(**CUT, retriever="own.py:made", reranker=["none", "rerank"], top_k=3))
    plain, ranked = (next(one for configuration, one in found.items() if bool(configuration.reranker) is is_so)
                     for is_so in (False, True))  # fmt: skip
    assert ranked == of_suites_bot(corpus)
    assert all(len(contexts) == 3 for contexts in (*plain, *ranked))
    assert all("price" in contexts[0].text and "boats" in contexts[0].text for contexts in plain[:1])
    grid = measure_grid(corpus, AnalysisSettings(grid=GridSettings(**CUT, retriever="own.py:made", top_k=3)))
    assert grid.configurations[1].configuration.retriever == "own.py:made"
    assert grid.configurations[1].by_question["evidence_recall"] == (1.0, 1.0)
    assert grid.configurations[1].passages is None


def test_a_model_that_cannot_be_had_is_told_before_anything_is_embedded(tmp_path, models):
    corpus, encoder = corpus_of(tmp_path, ASKED, **suite(models[0]))
    grid = GridSettings(**CUT, retriever="dense", reranker=str(tmp_path / "nowhere"), top_k=3)
    with pytest.raises(InputError, match="nowhere"):
        measure_grid(corpus, AnalysisSettings(grid=grid))
    assert encoder.texts == []


def test_the_models_of_a_grid_are_dropped_and_the_suites_embedder_is_not(tmp_path, models):
    corpus, encoder = corpus_of(tmp_path, ASKED, **suite(models[0]))
    before = threading.active_count()
    grid = GridSettings(**CUT, retriever="bm25", reranker=[*map(str, models)], top_k=3)
    assert measure_grid(corpus, AnalysisSettings(grid=grid)) is not None
    assert threading.active_count() <= before
    assert corpus.embedder.embed_now(["still open"]).vectors.shape[0] == 1
    assert encoder.texts == ["still open"]
