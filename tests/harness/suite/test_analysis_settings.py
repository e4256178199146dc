"""The suite's key ``analysis`` and ``--grid``: what they say, and every mistake in them."""

import pytest
from proctor import InputError
from proctor.harness.suite.settings import RANKED_BY, AnalysisSettings, GridSettings, overridden_grid
from proctor.harness.suite.suite_file import load_suite
from tables import in_one_test

SUITE = "questions: questions.csv\nbots:\n  it: {type: python, target: 'bot.py:answer'}\n"


@pytest.fixture
def loaded(tmp_path):
    (tmp_path / "questions.csv").write_text("question,answer\nWhy?,Because.\n")
    (tmp_path / "bot.py").write_text("def answer(question): return question\n")

    def load(analysis):
        (tmp_path / "suite.yaml").write_text(f"{SUITE}{analysis}\n")
        return load_suite(tmp_path / "suite.yaml").suite.analysis

    return load


def test_a_suite_without_the_key_has_the_defaults(loaded):
    assert loaded("") == AnalysisSettings()
    assert (AnalysisSettings().rank_by, AnalysisSettings().most_calls, AnalysisSettings().best) == (
        "evidence_recall",
        500,
        3,
    )
    assert AnalysisSettings().rank_by in RANKED_BY


def test_every_key_is_read_a_value_or_a_list(loaded):
    settings = loaded(
        "analysis:\n  metric: rouge_l\n  most_calls: 0\n  max_tokens: 900\n  best: 1\n  rank_by: ndcg\n"
        "  grid: {splitter: fixed, chunk_size: [300, 500], chunk_overlap: 0, retriever: [bm25, 'own.py:made'],\n"
        "         reranker: [none, cross-encoder/one], embedder: some/model, top_k: 3}"
    )
    assert settings == AnalysisSettings(
        metric="rouge_l", most_calls=0, max_tokens=900, best=1, rank_by="ndcg",
        grid=GridSettings(
            splitter=("fixed",), chunk_size=(300, 500), chunk_overlap=(0,), retriever=("bm25", "own.py:made"),
            reranker=("", "cross-encoder/one"), embedder=("some/model",), top_k=(3,),
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("analysis", "says"),
    [
        ("analysis: {grid: {top_k: [0]}}", "4:27: analysis.grid.top_k.0: got 0, wanted"),
        ("analysis: {grid: {top_k: []}}", "4:19: analysis.grid.top_k: got an empty list"),
        ("analysis: {grid: {chunk_size: [300, '5']}}", "4:37: analysis.grid.chunk_size.1: got "),
        ("analysis: {grid: {chunk_size: 5}}", "analysis.grid.chunk_size"),
        ("analysis: {grid: {retriever: dens}}", "analysis.grid.retriever: 'dens' is no retriever; did you mean dense?"),
        ("analysis: {grid: {retriever: [bm25, dens]}}", "4:37: analysis.grid.retriever.1: 'dens' is no retriever"),
        ("analysis: {grid: {splitter: [recursiv]}}", "did you mean recursive?"),
        (
            "analysis: {grid: {chunksize: 3}}",
            "4:19: analysis.grid.chunksize: there is no such key; did you mean chunk_",
        ),
        ("analysis: {rank_by: recall}", "4:12: analysis.rank_by: got 'recall', wanted one of evidence_recall"),
        ("analysis: {best: -1}", "4:12: analysis.best: got -1"),
        ("analysis: {max_tokens: 0}", "4:12: analysis.max_tokens: got 0"),
        ("analysis: {metric: ''}", "4:12: analysis.metric"),
        ("analysis: [grid]", "4:1: analysis: got a list"),
    ],
)
def test_a_mistake_is_told_with_its_line(loaded, analysis, says):
    with pytest.raises(InputError) as refused:
        loaded(analysis)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("survey: {best: 1}", "suite.yaml:4:1: survey: this key is called analysis since Proctor 0.2"),
        (
            "  f: {type: faq, entries: questions.csv, decline: No.}",
            "4:42: bots.f.decline: this key is called abstain since Proctor 0.2",
        ),
    ],
)
def test_a_key_of_version_0_1_gets_its_new_name(loaded, lines, says):
    with pytest.raises(InputError) as refused:
        loaded(lines)
    assert str(refused.value).endswith(says)


def test_the_editor_is_told_what_every_key_means():
    for model in (AnalysisSettings, GridSettings):
        assert all(len(each["description"]) > 20 for each in model.model_json_schema()["properties"].values())


def test_lists_of_the_grid_are_replaced_from_the_command_line():
    given = ["chunk_size=300, 600,", "top_k=3", "reranker=none,a/b", "top_k=5"]
    made = overridden_grid(GridSettings(embedder="x"), given)
    assert (made.chunk_size, made.top_k, made.reranker, made.embedder) == ((300, 600), (5,), ("", "a/b"), ("x",))
    assert made.splitter == GridSettings().splitter
    assert overridden_grid(GridSettings(), []) == GridSettings()


@in_one_test(
    ("given", "says"),
    [
        ("chunk_siz=3", "--grid chunk_siz=3: there is no key chunk_siz; did you mean chunk_size?"),
        ("chunk_size", "--grid chunk_size: wanted KEY=VALUE,VALUE such as chunk_size=300,600."),
        ("chunk_size=", "chunk_size has no value; wanted such as chunk_size=300,600."),
        ("embedder= ,", "embedder has no value; wanted such as embedder=MODEL."),
        ("chunk_size=abc", "--grid chunk_size=abc: got 'abc'"),
        ("chunk_size=300,5", "--grid chunk_size=300,5: got '5'"),
        ("retriever=dens", "'dens' is no retriever; did you mean dense?"),
        ("splitter=foo", "input should be 'recursive'"),
        ("top_k=0", "--grid top_k=0: got '0'"),
    ],
)
def test_a_mistake_on_the_command_line_is_told(given, says):
    with pytest.raises(InputError) as refused:
        overridden_grid(GridSettings(), [given])
    assert says in str(refused.value)
