"""Passages are found by meaning, by words, or by both, over the same cuts."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from proctor.knowledge.documents.document import Document, Passage
from proctor.knowledge.retrieval.search import (
    K1,
    RETRIEVERS,
    B,
    Bm25Index,
    PassageSearch,
    reciprocal_rank_fusion,
    words,
)
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


# BM25 equals its formula, and words of any script count

PASSAGES = st.lists(st.lists(st.sampled_from("abcd"), max_size=6), min_size=1, max_size=8)


def index_of(*texts: str) -> Bm25Index:
    return Bm25Index([Passage("a.md", 0, len(text), text) for text in texts])


def by_formula(passages: list[list[str]], asked: list[str]) -> list[float]:
    """Lucene's BM25: ln(1 + (N - n + 0.5) / (n + 0.5)) tf / (tf + k1 (1 - b + b length / mean length))."""
    mean = sum(map(len, passages)) / len(passages)
    scores = []
    for passage in passages:
        score = 0.0
        for word in asked:
            held, count = sum(word in each for each in passages), passage.count(word)
            if count:
                idf = math.log(1 + (len(passages) - held + 0.5) / (held + 0.5))
                score += idf * count / (count + K1 * (1 - B + B * len(passage) / mean))
        scores.append(score)
    return scores


@given(passages=PASSAGES, asked=st.lists(st.sampled_from("abcde"), min_size=1, max_size=4))
def test_scores_are_those_of_the_formula(passages, asked):
    found = index_of(*map(" ".join, passages)).search(" ".join(asked), len(passages))
    wanted = {place: score for place, score in enumerate(by_formula(passages, asked)) if score > 0}
    assert dict(found) == pytest.approx(wanted, rel=1e-5)
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)


def test_a_rare_word_weighs_more_than_a_common_one():
    index = index_of("the bike is red", "the bike is blue", "the lock is red", "the bell is loud")
    assert index.search("which bike is blue", 1)[0][0] == 1


def test_equal_passages_stand_in_their_order_and_k_bounds_them():
    index = index_of(*["same words"] * 9, "other")
    assert [place for place, _ in index.search("words", 4)] == [0, 1, 2, 3]
    assert index.search("words", 0) == []


@pytest.mark.parametrize("question", ["", "?!", "zebra"])
def test_a_question_without_a_known_word_finds_nothing(question):
    assert index_of("red bike").search(question, 3) == []
    assert index_of().search(question, 3) == []
    assert index_of("", "...").search("bike", 3) == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Don't PANIC, e-mail!", ["don", "t", "panic", "e", "mail"]),
        ("STRASSE Stra\u00dfe \uff21\uff22 \ufb01t", ["strasse", "strasse", "ab", "fit"]),
        ("\u81ea\u8f6c\u8f66 v2", ["\u81ea\u8f6c", "\u8f6c\u8f66", "v2"]),
        ("\u8f66", ["\u8f66"]),
        ("snake_case 3.5", ["snake", "case", "3", "5"]),
    ],
)
def test_words(text, wanted):
    assert words(text) == wanted
