"""BM25 equals its formula, and words of any script count."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from proctor.knowledge.documents.document import Passage
from proctor.knowledge.retrieval.search import K1, B, Bm25Index, words

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
