"""The nearest passage to a text that is no longer there."""

import pytest
from proctor.harness.analysis.support import PassageFinder
from proctor.knowledge.documents.document import Document

RETURNS = (
    "# Returns\n\nAny bike may be returned within 14 days and no reason has to be given.\n\n"
    "| Collection | 39 euros | free |\n\nHelmets stay with you, whatever they cost."
)
LONG = "The parcel weighs 3 kilos and is brought to your door by a courier who asks for your name and a signature."
FINDER = PassageFinder([Document("returns.md", RETURNS), Document("delivery.md", LONG)])


def test_a_reworded_sentence():
    near = FINDER.nearest("You can return any bike within 14 days, without giving a reason.", ["returns.md"])
    assert near.text == "Any bike may be returned within 14 days and no reason has to be given."
    assert RETURNS[near.start : near.end] == near.text
    assert 0.4 < near.similarity < 0.7
    assert near.figures == ()


def test_a_changed_number_is_named():
    near = FINDER.nearest("| Collection | 35 euros | free |")
    assert near.text == "| Collection | 39 euros | free |"
    assert near.figures == (("35", "39"),)
    assert near.similarity == pytest.approx(0.75)


def test_the_same_words_are_wholly_alike_whatever_stands_between_them():
    near = FINDER.nearest("helmets stay\n\nwith you - whatever they cost!")
    assert (near.document, near.similarity) == ("returns.md", 1.0)
    assert near.text == "Helmets stay with you, whatever they cost."


def test_a_small_part_of_a_sentence_is_shown_with_it():
    near = FINDER.nearest("weighs 5 kilos")
    assert near.text == LONG
    assert near.figures == (("5", "3"),)


def test_only_the_documents_that_are_named_are_looked_at():
    assert FINDER.nearest("brought to your door by a courier").document == "delivery.md"
    near = FINDER.nearest("brought to your door by a courier", ["returns.md"])
    assert near is None or near.document == "returns.md"
    assert FINDER.nearest("courier", ["no such document"]) is None


@pytest.mark.parametrize("text", ["", "  ", "...", "zyx wvu", "\ud800"])
def test_nothing_is_near(text):
    assert FINDER.nearest(text) is None


def test_no_documents_and_documents_without_words():
    assert PassageFinder([]).nearest("anything") is None
    assert PassageFinder([Document("a", ""), Document("b", "\ud800 !")]).nearest("anything") is None


def test_a_needle_in_a_long_document():
    hay = "The hay is dry and yellow today. " * 20_000
    finder = PassageFinder([Document("hay", f"{hay}The needle costs 12 euros in May. {hay}")])
    assert finder.nearest("The needle costs 11 euros in May.").text == "The needle costs 12 euros in May."


def test_the_first_of_equal_documents():
    twins = PassageFinder([Document("b", LONG), Document("a", LONG)])
    assert twins.nearest(LONG).document == "b"
