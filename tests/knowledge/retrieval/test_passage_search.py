"""Passages are found by meaning, by words, or by both, over the same cuts."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from proctor.knowledge.documents.document import Document
from proctor.knowledge.retrieval.search import RETRIEVERS, PassageSearch, reciprocal_rank_fusion
from proctor.knowledge.retrieval.splitting import Splitting
from word_encoder import word_embedder

DOCUMENTS = (
    Document("hours.md", "The shop opens at nine.\n\nThe shop closes at six on Saturdays."),
    Document("returns.md", "Send parcels back within thirty days."),
    Document("codes.md", "Error E-4711 means that the battery is empty."),
)
SPLITTING = Splitting(chunk_size=50, chunk_overlap=0)


def opened(retriever, documents=DOCUMENTS, folder=None):
    embedder, encoder = word_embedder()
    return PassageSearch.open(retriever, documents, SPLITTING, embedder, folder), embedder, encoder


def find(search, embedder, question, k=2):
    vector = embedder.embed_now([question]).vectors[0] if search.needs_vector else None
    return [(passage.text, score) for passage, score in search.find(question, vector, k)]


@pytest.mark.parametrize("retriever", RETRIEVERS)
def test_each_finds_the_passage_that_says_it(retriever):
    search, embedder, _ = opened(retriever)
    found = find(search, embedder, "When does the shop close on Saturdays?")
    assert search.size == 4
    assert found[0][0] == "The shop closes at six on Saturdays."
    assert found[0][1] > found[1][1]


def test_words_alone_embed_nothing(tmp_path: Path):
    search, embedder, encoder = opened("bm25", folder=tmp_path)
    assert find(search, embedder, "error 4711")[0][0] == DOCUMENTS[2].text
    assert (search.needs_vector, encoder.texts, list(tmp_path.iterdir())) == (False, [], [])


def test_both_are_fused_by_their_ranks():
    search, embedder, _ = opened("hybrid")
    question = "shop parcels"
    vector = embedder.embed_now([question]).vectors[0]
    dense, lexical = opened("dense")[0], opened("bm25")[0]
    rankings = [[each for each, _ in one.find(question, vector, 50)] for one in (dense, lexical)]
    sums = {
        passage: sum(1 / (60 + ranking.index(passage) + 1) for ranking in rankings if passage in ranking)
        for ranking in rankings
        for passage in ranking
    }
    found = search.find(question, vector, 4)
    assert dict(found) == pytest.approx(sums)
    assert [score for _, score in found] == sorted(sums.values(), reverse=True)


@pytest.mark.parametrize("retriever", RETRIEVERS)
def test_no_passages_are_no_fault(retriever):
    search, embedder, _ = opened(retriever, (Document("blank.md", " \n"),))
    assert (search.size, search.needs_vector, find(search, embedder, "shop")) == (0, False, [])


def test_the_vectors_of_passages_are_kept(tmp_path: Path):
    opened("hybrid", folder=tmp_path)
    _, _, encoder = opened("dense", folder=tmp_path)
    assert encoder.texts == []


RANKINGS = st.lists(st.lists(st.integers(0, 9), unique=True, max_size=8), max_size=4)


@given(rankings=RANKINGS)
def test_fusion_is_the_sum_of_reciprocal_ranks(rankings):
    fused = reciprocal_rank_fusion(rankings)
    assert {item for item, _ in fused} == {item for ranking in rankings for item in ranking}
    assert [score for _, score in fused] == sorted((score for _, score in fused), reverse=True)
    for item, score in fused:
        assert score == pytest.approx(sum(1 / (61 + ranking.index(item)) for ranking in rankings if item in ranking))


def test_an_item_that_both_rank_second_goes_before_one_that_one_ranks_first():
    """1/62 + 1/62 = 0.0323 against 1/61 = 0.0164."""
    assert reciprocal_rank_fusion([[1, 2], [3, 2]])[0] == (2, pytest.approx(2 / 62))
    assert np.allclose(reciprocal_rank_fusion([[1]])[0][1], 1 / 61)
