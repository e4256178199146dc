"""A search without some documents finds what one that never had them finds."""

import gc
from collections.abc import Collection

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from proctor.knowledge.documents.document import Document, Passage
from proctor.knowledge.retrieval.index import PassageIndex
from proctor.knowledge.retrieval.search import RETRIEVERS, DocumentPlaces, PassageSearch, reciprocal_rank_fusion
from proctor.knowledge.retrieval.splitting import Splitting
from word_encoder import word_embedder

WORDS = ("shop", "opens", "nine", "parcels", "return", "battery", "error", "code")
SPLITTING = Splitting("fixed", 20, 0)
CORPORA = st.lists(st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join), max_size=9)
QUESTIONS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)


def opened(retriever: str, documents: Collection[Document]) -> PassageSearch:
    return PassageSearch.open(retriever, tuple(documents), SPLITTING, word_embedder()[0], None)


def asked(search: PassageSearch, question: str, k: int, without: Collection[str] = ()) -> list[tuple[Passage, float]]:
    vector = word_embedder()[0].embed_now([question]).vectors[0]
    return search.find(question, vector if search.needs_vector else None, k, without)


@settings(max_examples=60)
@given(texts=CORPORA, question=QUESTIONS, gone=st.sets(st.integers(0, 8)), k=st.sampled_from([1, 2, 5, 60]))
def test_by_meaning_it_is_that_of_an_index_without_them(texts, question, gone, k):
    documents = [Document(f"{number}.md", text) for number, text in enumerate(texts)]
    without = {f"{number}.md" for number in gone}
    smaller = opened("dense", [each for each in documents if each.id not in without])
    assert asked(opened("dense", documents), question, k, without) == asked(smaller, question, k)


@pytest.mark.parametrize("k", [1, 7, 99, 100, 150, 1999, 5000])
def test_equal_passages_keep_their_order_in_long_lists_and_short_ones(k):
    """FAISS has other ways for long lists than for short ones."""
    passages = [Passage(f"{number % 10}.md", number, number + 1, "x") for number in range(3000)]
    vectors = np.tile(np.eye(8, dtype=np.float32)[0], (3000, 1))
    vectors[::3] = np.eye(8, dtype=np.float32)[1]
    search = PassageSearch(passages, "dense", PassageIndex(passages, vectors))
    left = [place for place, each in enumerate(passages) if each.document not in {"1.md", "4.md"}]
    smaller = [passages[place] for place in left]
    expected = PassageIndex(smaller, vectors[left]).search(vectors[1], k)
    found = search.find("x", vectors[1], k, {"1.md", "4.md"})
    gc.collect()
    assert found == expected == search.find("x", vectors[1], k, {"4.md", "1.md", "unknown.md"})
    assert [each.start for each, score in found if score] == sorted(each.start for each, score in found if score)


def test_cosines_are_the_same_to_the_last_bit():
    draw = np.random.default_rng(1)
    vectors = draw.standard_normal((4000, 384), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    passages = [Passage(f"{number % 40}.md", number, number + 1, "x") for number in range(4000)]
    search = PassageSearch(passages, "dense", PassageIndex(passages, vectors))
    for count in (1, 20, 39):
        without = {f"{number}.md" for number in range(count)}
        left = [place for place, each in enumerate(passages) if each.document not in without]
        smaller = PassageIndex([passages[place] for place in left], vectors[left])
        for query in draw.standard_normal((10, 384), dtype=np.float32):
            assert search.find("", query, 10, without) == smaller.search(query, 10)


@pytest.mark.parametrize("retriever", RETRIEVERS)
@settings(max_examples=40)
@given(texts=CORPORA, question=QUESTIONS, gone=st.sets(st.integers(0, 8)))
def test_each_retriever_leaves_out_just_the_passages_of_those_documents(retriever, texts, question, gone):
    documents = [Document(f"{number}.md", text) for number, text in enumerate(texts)]
    without = {f"{number}.md" for number in gone}
    search = opened(retriever, documents)
    found = asked(search, question, 100, without)
    every = asked(search, question, 100)
    assert [each for each, _ in found] == [each for each, _ in every if each.document not in without] or (
        retriever == "hybrid"  # ranks move up, so that sums and with them the order may change
        and {each for each, _ in found} == {each for each, _ in every if each.document not in without}
    )


def test_rankings_are_fused_after_the_documents_are_taken_out():
    documents = [Document("a.md", "shop shop shop"), Document("b.md", "shop parcels"), Document("c.md", "parcels")]
    rankings = [
        [each for each, _ in asked(opened(one, documents), "shop parcels", 50, {"a.md"})] for one in ("dense", "bm25")
    ]
    assert all(len(ranking) == 2 for ranking in rankings)
    places = {passage: place for place, passage in enumerate(rankings[0])}
    sums = reciprocal_rank_fusion([[places[passage] for passage in ranking] for ranking in rankings])
    found = asked(opened("hybrid", documents), "shop parcels", 50, {"a.md"})
    assert [(places[passage], score) for passage, score in found] == sums


def test_how_rare_a_word_is_stays_that_of_all_documents():
    documents = [Document("a.md", "shop"), Document("b.md", "shop parcels"), Document("c.md", "parcels nine")]
    search = opened("bm25", documents)
    with_all = dict(asked(search, "shop parcels", 9))
    without = asked(search, "shop parcels", 9, {"a.md"})
    assert without == [(passage, with_all[passage]) for passage, _ in without]
    rebuilt = dict(asked(opened("bm25", documents[1:]), "shop parcels", 9))
    assert dict(without) != rebuilt


@pytest.mark.parametrize("retriever", RETRIEVERS)
def test_without_all_there_is_nothing_and_without_all_but_one_there_is_that_one(retriever):
    documents = [Document(f"{number}.md", "shop opens") for number in range(30)]
    search = opened(retriever, documents)
    names = {each.id for each in documents}
    assert asked(search, "shop", 4, names) == []
    assert [each.document for each, _ in asked(search, "shop", 4, names - {"17.md"})] == ["17.md"]
    assert len(asked(search, "shop", 4, {"none.md"})) == 4
    assert asked(opened(retriever, ()), "shop", 4, {"a.md"}) == []


def test_a_document_whose_passages_stand_apart_is_taken_out_whole():
    passages = [Passage("a.md", 0, 1, "x"), Passage("b.md", 0, 1, "x"), Passage("a.md", 1, 2, "x")]
    places = DocumentPlaces(passages)
    assert places.mask({"a.md"}).tolist() == [False, True, False]
    assert places.mask(()) is None
    assert places.mask({"other"}) is None
    assert places.mask({"a.md", "b.md"}).tolist() == [False] * 3
    with pytest.raises(ValueError, match="read-only"):
        places.mask({"a.md"})[0] = True
