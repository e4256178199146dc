"""What a setting of a grid retrieves is what a rag bot retrieves that is set so, at the least cost."""

import asyncio
from contextlib import closing

import pytest
from corpus_folders import corpus_of, question
from proctor import InputError
from proctor.bots.building import BotResources, build_bot
from proctor.harness.analysis.grid_retrieval import Retrieving, expand_grid, searches
from proctor.harness.suite.settings import GridSettings
from proctor.knowledge.documents.reading import read_knowledge
from proctor.knowledge.retrieval.splitting import Splitting
from proctor.reports.analysis.findings import Configuration
from word_encoder import word_embedder

OWN = """
from types import SimpleNamespace

class Own:
    def __init__(self, passages):
        self.passages = passages

    def invoke(self, question):
        asked = set(question.lower().split())
        return sorted(self.passages, key=lambda one: -len(asked & set(one.page_content.lower().split())))

def made(passages, k):
    return Own(passages)

class Broken:
    def invoke(self, question):
        raise RuntimeError("the line is cut")

broken = Broken()
"""
GRID = GridSettings(
    splitter=["recursive", "sentences"], chunk_size=[80, 160], chunk_overlap=[0, 30],
    retriever=["dense", "bm25", "hybrid"], top_k=[1, 3, 7, 60],
)  # fmt: skip


def retrieved(corpus, grid):
    """By setting, what was found for each question; and who found it."""
    laid = expand_grid(corpus, grid)
    messages = []
    retrieving = Retrieving(corpus, [one.text for one in corpus.questions], laid.embedders, messages.append)

    async def work():
        return [one async for one in retrieving.made(laid.configurations)]

    found = {}
    for one in asyncio.run(work()):
        assert all(took > 0 for took in one.ms)
        for place in one.configurations:
            setting = laid.configurations[place]
            found[setting] = [contexts[: setting.top_k] for contexts in one.found]
    assert list(found) != []
    assert set(found) == set(laid.configurations)
    return found, retrieving, messages


def of_bot(corpus, setting, questions):
    """What a rag bot that is set so hands to its model, with an index of its own."""
    values = {
        "type": "rag", "retriever": setting.retriever, "top_k": setting.top_k, "min_score": setting.min_score,
    }  # fmt: skip
    if setting.splitter:
        values |= {
            "splitter": setting.splitter, "chunk_size": setting.chunk_size, "chunk_overlap": setting.chunk_overlap,
        }  # fmt: skip
    settings = type(corpus.current).model_validate(values)
    embedder, _ = word_embedder()
    knowledge = read_knowledge([corpus.loaded.base / "documents"])
    bot = build_bot("rag", settings, BotResources(corpus.loaded.base, lambda: knowledge, embedder))

    async def work():
        await bot.prepare()
        try:
            return [(await bot.reply(one.text)).contexts for one in questions]
        finally:
            await bot.close()

    with closing(embedder):
        return asyncio.run(work())


def test_every_setting_retrieves_what_a_bot_retrieves_that_is_set_so(tmp_path):
    corpus, _ = corpus_of(
        tmp_path, [question("boats", "price"), question("maps", "origin"), question("kites", "weight")]
    )
    found, _, _ = retrieved(corpus, GRID.model_copy(update={"chunk_size": (80,)}))
    assert len(found) == 49
    for setting, contexts in found.items():
        assert contexts == of_bot(corpus, setting, corpus.questions), setting.name
        assert any(contexts)


def test_a_score_that_passages_must_reach_counts(tmp_path):
    bot = {"type": "rag", "retriever": "dense", "chunk_size": 160, "chunk_overlap": 0, "top_k": 9, "min_score": 0.55}
    corpus, _ = corpus_of(tmp_path, [question("boats", "price")], bots={"rag": bot})
    found, _, _ = retrieved(corpus, GridSettings(chunk_size=160, chunk_overlap=0, top_k=9))
    (bounded,) = [setting for setting in found if setting.min_score is not None]
    assert found[bounded] == of_bot(corpus, bounded, corpus.questions)
    assert 0 < len(found[bounded][0]) < 9


def test_a_retriever_of_the_users_own_is_asked_as_a_bot_asks_it(tmp_path):
    corpus, _ = corpus_of(tmp_path, [question("boats", "price"), question("maps", "origin")])
    (tmp_path / "own.py").write_text(OWN)
    grid = GridSettings(
        splitter="recursive", chunk_size=[80, 160], chunk_overlap=0, retriever="own.py:made", top_k=[2, 5]
    )
    found, _, _ = retrieved(corpus, grid)
    own = [setting for setting in found if setting.retriever == "own.py:made"]
    assert len(own) == 4
    for setting in own:
        assert found[setting] == of_bot(corpus, setting, corpus.questions)
        assert all(len(contexts) == setting.top_k for contexts in found[setting])
        assert all(context.start is not None for context in found[setting][0])


def test_a_retriever_that_fails_is_told_with_the_question(tmp_path):
    corpus, _ = corpus_of(tmp_path, [question("boats", "price")])
    (tmp_path / "own.py").write_text(OWN)
    with pytest.raises(InputError, match=r"own\.py:broken failed on the question 'What .*: RuntimeError: the line"):
        retrieved(corpus, GridSettings(retriever="own.py:broken"))


def test_each_passage_and_each_question_is_embedded_once(tmp_path):
    corpus, encoder = corpus_of(tmp_path)
    _, retrieving, messages = retrieved(corpus, GRID)
    cuts = {
        Splitting(splitter, size, overlap)
        for splitter in ("recursive", "sentences") for size in (80, 160) for overlap in (0, 30)
    } | {Splitting("recursive", 120, 0)}  # fmt: skip
    texts = {passage.text for cut in cuts for each in corpus.documents for passage in cut.cut(each)}
    asked = {one.text for one in corpus.questions}
    bm25_only = {one.text for each in corpus.documents for one in Splitting("recursive", 120, 0).cut(each)}
    embedded = [text for text in encoder.texts if text not in asked]
    assert len(embedded) == len(set(embedded))
    assert texts - bm25_only <= set(embedded) <= texts
    assert retrieving.distinct_passages == len(texts)
    # The first question warms the model up.
    assert sorted(text for text in encoder.texts if text in asked) == sorted([*asked, corpus.questions[0].text])
    assert messages.count("Embedding 40 questions") == 1


def test_indexes_are_those_that_bots_open(tmp_path):
    corpus, _ = corpus_of(tmp_path)
    retrieved(corpus, GridSettings(splitter="recursive", chunk_size=80, chunk_overlap=0, retriever="dense"))
    kept = list((tmp_path / "cache" / "indexes").rglob("passages-*.zip"))
    assert len(kept) == 1
    embedder, encoder = word_embedder()
    knowledge = read_knowledge([tmp_path / "documents"])
    settings = type(corpus.current)(type="rag", chunk_size=80, chunk_overlap=0)
    bot = build_bot("rag", settings, BotResources(corpus.loaded.base, lambda: knowledge, embedder, cache=corpus.cache))

    async def work():
        await bot.prepare()
        reply = await bot.reply("What is the price of boats?")
        await bot.close()
        return reply

    with closing(embedder):
        assert asyncio.run(work()).contexts
    # The extractive model embeds sentences; no passage of the index is among them.
    index = {one.text for each in corpus.documents for one in Splitting("recursive", 80, 0).cut(each)}
    assert len(set(encoder.texts) & index) < len(index)


@pytest.mark.parametrize(
    ("retriever", "reranker", "ks", "expected"),
    [
        ("dense", "", (1, 4, 80), {80: (0, 1, 2)}),
        ("bm25", "", (4, 90), {90: (0, 1)}),
        ("hybrid", "", (1, 4, 50), {50: (0, 1, 2)}),
        ("hybrid", "", (4, 51, 8), {8: (0, 2), 51: (1,)}),
        ("dense", "cross", (4, 50, 60), {50: (0, 1), 60: (2,)}),
        ("own.py:made", "", (4, 8), {4: (0,), 8: (1,)}),
    ],
)
def test_one_search_serves_all_k_whose_candidates_are_the_same(retriever, reranker, ks, expected):
    settings = [Configuration("recursive", 100, 0, retriever, k, "m", reranker) for k in ks]
    assert {search.top_k: places for search, places in searches(settings).items()} == expected


def test_documents_without_a_word_are_searched_without_a_fault(tmp_path):
    documents = {"blank.md": "  \n", "boats.md": "The price of our boats is 3."}
    corpus, _ = corpus_of(tmp_path, [{"id": "q", "question": "?", "expected_answer": "3"}], documents)
    found, _, _ = retrieved(corpus, GridSettings(chunk_size=80, chunk_overlap=0))
    assert {len(contexts[0]) for setting, contexts in found.items() if setting.retriever == "bm25"} == {0}
    assert {len(contexts[0]) for setting, contexts in found.items() if setting.retriever == "dense"} == {1}
