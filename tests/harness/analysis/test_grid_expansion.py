"""From the suite to the settings that are compared."""

from dataclasses import replace

import pytest
from corpus_folders import corpus_of
from proctor import InputError
from proctor.harness.analysis.grid_retrieval import combinations, current_configurations, expand_grid
from proctor.harness.suite.settings import GridSettings
from proctor.reports.analysis.findings import Configuration

OWN = """
class Own:
    def invoke(self, question):
        return []

finished = Own()

def from_passages(passages, k):
    return Own()
"""


def test_the_grid_of_a_suite_that_says_nothing_has_48_settings():
    made = combinations(GridSettings(), ["mini"])
    assert len(made) == len(set(made)) == 48
    assert {configuration.embedder for configuration in made if configuration.retriever == "bm25"} == {""}
    assert {configuration.embedder for configuration in made if configuration.retriever != "bm25"} == {"mini"}
    assert {configuration.reranker for configuration in made} == {""}


def test_settings_stand_in_the_order_of_the_keys_with_k_changing_fastest():
    made = combinations(GridSettings(splitter="fixed", chunk_size=[50, 40], chunk_overlap=0, retriever="bm25"), ["m"])
    assert [(configuration.chunk_size, configuration.top_k) for configuration in made] == [
        (50, 4),
        (50, 8),
        (40, 4),
        (40, 8),
    ]


def test_an_embedder_multiplies_only_what_embeds():
    grid = GridSettings(splitter="fixed", chunk_size=100, chunk_overlap=0, top_k=3)
    made = combinations(grid, ["one", "two"])
    assert [(configuration.retriever, configuration.embedder) for configuration in made] == [
        ("dense", "one"), ("dense", "two"), ("bm25", ""), ("hybrid", "one"), ("hybrid", "two"),
    ]  # fmt: skip


def test_the_settings_of_the_bots_come_first_and_each_once(tmp_path):
    bots = {
        "first": {"type": "rag", "retriever": "dense", "chunk_size": 300, "chunk_overlap": 0, "min_score": 0.2},
        "faq": {"type": "python", "target": "bot.py:answer"},
        "second": {"type": "rag", "retriever": "bm25", "chunk_size": 300, "chunk_overlap": 0, "top_k": 8},
        "third": {"type": "rag", "retriever": "bm25", "chunk_size": 300, "chunk_overlap": 0, "top_k": 8},
    }
    (tmp_path / "bot.py").write_text("def answer(question): return question")
    corpus, _ = corpus_of(tmp_path, bots=bots)
    expanded = expand_grid(corpus, GridSettings())
    first, second = expanded.configurations[:2]
    assert first == Configuration("recursive", 300, 0, "dense", 4, "words@1", min_score=0.2)
    assert second == Configuration("recursive", 300, 0, "bm25", 8)
    assert expanded.bots == {first: ("first",), second: ("second", "third")}
    assert len(expanded.configurations) == 49  # the second is one of the 48
    assert not expanded.warnings


def test_a_suite_without_such_a_bot_is_compared_with_the_defaults(tmp_path):
    (tmp_path / "bot.py").write_text("def answer(question): return question")
    corpus, _ = corpus_of(tmp_path, bots={"mine": {"type": "python", "target": "bot.py:answer"}})
    assert current_configurations(corpus) == {Configuration("recursive", 600, 80, "dense", 4, "words@1"): ()}


def test_an_overlap_that_does_not_fit_is_left_out_and_told(tmp_path):
    corpus, _ = corpus_of(tmp_path)
    expanded = expand_grid(corpus, GridSettings(chunk_size=[60, 200], chunk_overlap=[0, 60, 80]))
    cuts = {(configuration.chunk_size, configuration.chunk_overlap) for configuration in expanded.configurations}
    assert (60, 60) not in cuts
    assert (60, 80) not in cuts
    assert {(60, 0), (200, 60), (200, 80)} <= cuts
    assert expanded.warnings == (
        "Passages can't overlap by 60 of 60, 80 of 60 characters; the grid does without these configurations.",
    )


def test_an_absurd_grid_is_refused_with_its_size(tmp_path):
    corpus, _ = corpus_of(tmp_path)
    grid = GridSettings(chunk_size=list(range(100, 400)), top_k=[1, 2])
    with pytest.raises(InputError, match=r"has 7,200 configurations \(2 splitter x 300 chunk_size x .*1,000 at"):
        expand_grid(corpus, grid)


def test_a_finished_retriever_does_not_care_how_documents_are_cut(tmp_path):
    corpus, _ = corpus_of(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    finished = expand_grid(corpus, GridSettings(retriever="own.py:finished")).configurations[1:]
    assert [(configuration.splitter, configuration.chunk_size, configuration.top_k) for configuration in finished] == [
        ("", None, 4),
        ("", None, 8),
    ]
    made = expand_grid(corpus, GridSettings(retriever="own.py:from_passages")).configurations[1:]
    assert len(made) == 16
    assert {configuration.embedder for configuration in made} == {""}


def test_a_retriever_that_is_not_there_is_told(tmp_path):
    corpus, _ = corpus_of(tmp_path)
    with pytest.raises(InputError, match=r"own\.py"):
        expand_grid(corpus, GridSettings(retriever="own.py:finished"))


def test_another_embedder_is_opened_like_that_of_the_suite(tmp_path):
    corpus, _ = corpus_of(tmp_path, embedder={"model": "langchain:nowhere:model", "precision": "fp32"})
    grid = GridSettings(embedder=["langchain:nowhere:model", "langchain:elsewhere:model"], retriever="dense")
    expanded = expand_grid(corpus, grid)
    assert list(expanded.embedders) == ["words@1", "langchain:elsewhere:model"]
    assert {configuration.embedder for configuration in expanded.configurations[1:]} == set(expanded.embedders)


def test_an_unknown_embedder_stops_or_is_replaced_as_the_suite_says(tmp_path):
    corpus, _ = corpus_of(tmp_path, embedder={"model": "embedded", "strict": True})
    with pytest.raises(InputError, match="no-such-model"):
        expand_grid(corpus, GridSettings(embedder="no-such-model"))
    loaded = replace(
        corpus.loaded,
        suite=corpus.loaded.suite.model_copy(
            update={"embedder": corpus.loaded.suite.embedder.model_copy(update={"strict": False})}
        ),
    )
    expanded = expand_grid(replace(corpus, loaded=loaded), GridSettings(embedder="no-such-model"))
    assert any("no-such-model" in warning for warning in expanded.warnings)
    assert "no-such-model" not in expanded.embedders
