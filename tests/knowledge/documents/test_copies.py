"""Copies: what documents share, with the places of it."""

import random

import pytest
from proctor.knowledge.documents.copies import CopyFinder, PassageFingerprints
from proctor.knowledge.documents.document import Document

WORDS = ["w" + "".join("abcdefghij"[int(digit)] for digit in str(number)) for number in range(4_000)]


def text(seed: int, words: int = 120) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=words))


def find(*texts: str, **ignored):
    documents = [Document(f"{place}.txt", each) for place, each in enumerate(texts)]
    return CopyFinder(documents, ignored.get("ignored")).find()


def test_documents_with_the_same_words_are_told_and_later_ones_are_paired_with_the_first() -> None:
    found = find(text(1), text(2), text(1).upper() + " ", text(1))
    assert [(one.first, one.second, one.same, one.share) for one in found] == [
        ("0.txt", "2.txt", True, 1.0),
        ("0.txt", "3.txt", True, 1.0),
    ]


def test_a_document_that_stands_in_a_longer_one_has_a_share_of_the_shorter() -> None:
    short = text(1, 60)
    (one,) = find(short, f"{text(2, 100)} {short} {text(3, 40)}")
    assert (one.share, one.words, one.same) == (1.0, 60, False)
    assert one.of_longer == pytest.approx(60 / 200)
    (stretch,) = one.stretches
    longer = f"{text(2, 100)} {short} {text(3, 40)}"
    assert short[stretch.start : stretch.end] == longer[stretch.other_start : stretch.other_end] == short


def test_a_word_in_twenty_may_differ() -> None:
    words = text(1).split()
    words[10::20] = ["changed"] * len(words[10::20])
    (one,) = find(text(1), " ".join(words))
    assert one.share > 0.9
    assert one.same is False


def test_texts_about_other_things_share_nothing() -> None:
    assert find(*(text(seed) for seed in range(30))) == ()


def test_a_form_of_words_that_many_documents_have_is_no_copy() -> None:
    """Thirty documents begin with the same sentence; two of them share a paragraph besides."""
    form = text(99, 40)
    texts = [f"{form} {text(seed)}" for seed in range(30)]
    texts[7] = f"{form} {text(3)}"
    found = find(*texts)
    assert [(one.first, one.second) for one in found] == [("3.txt", "7.txt")]
    assert find(*texts[:3], f"{form} {text(50)} {text(51)}") != ()  # among four it is a copy


def test_ignored_spans_are_not_compared() -> None:
    texts = [f"{text(9, 50)} {text(seed, 50)}" for seed in range(2)]
    head = len(text(9, 50))
    assert len(find(*texts)) == 1
    assert find(*texts, ignored={"0.txt": [(0, head)]}) == ()


def test_a_passage_that_stands_twice_in_one_document() -> None:
    twice = f"{text(1, 40)} {text(2, 100)} {text(1, 40)}"
    (one,) = find(twice, text(3))
    (stretch,) = one.stretches
    assert (one.first, one.second) == ("0.txt", "0.txt")
    assert twice[stretch.start : stretch.end] == twice[stretch.other_start : stretch.other_end] == text(1, 40)
    assert stretch.end <= stretch.other_start


@pytest.mark.parametrize("texts", [[], [""], ["", "", "one two"], ["\ud800 \ud800", "\ud800 \ud800"], ["a" * 9, "a"]])
def test_next_to_nothing_is_no_copy(texts: list[str]) -> None:
    assert find(*texts) == ()


def test_one_long_line_and_one_word_again_and_again() -> None:
    line = "x" * 1_000_000
    assert [one.same for one in find(line, line)] == [True]
    assert find("again " * 3_000) == ()


def test_the_order_of_documents_decides_the_order_of_pairs() -> None:
    texts = [text(1), text(2), f"{text(2, 60)} {text(5)}", f"{text(1, 60)} {text(6)}"]
    assert [(one.first, one.second) for one in find(*texts)] == [("0.txt", "3.txt"), ("1.txt", "2.txt")]


def test_passages_are_copies_where_most_of_the_shorter_stands_in_the_other() -> None:
    prints = PassageFingerprints()
    assert prints.are_copies(text(1, 50), f"{text(2, 30)} {text(1, 50)}")
    assert not prints.are_copies(text(1, 50), f"{text(1, 25)} {text(2, 50)}")
    assert not prints.are_copies("too short", "too short")
