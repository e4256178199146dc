import pytest
from proctor.harness.analysis.dataset_quality import WordRuns

LONG = "One two three four five. Six seven eight nine ten; eleven twelve."


def test_a_text_is_found_with_its_place():
    found = WordRuns(LONG).find("FIVE six, seven eight")
    assert LONG[found.start : found.end] == "five. Six seven eight"
    assert found.share == 1


@pytest.mark.parametrize("text", ["one two", "two one three", "alpha beta gamma", "", "one two three x y z a b c"])
def test_a_text_that_is_not_there(text):
    assert WordRuns(LONG).find(text) is None


def test_pieces_far_apart_are_not_the_text():
    apart = "one two three four " + "x " * 200 + "four five six seven"
    assert WordRuns(apart).find("one two three four five six seven") is None


def test_what_is_ignored_is_not_there():
    assert WordRuns(LONG, ["six seven eight nine ten"]).find("six seven eight nine ten") is None
    assert WordRuns(LONG, ["six seven eight nine ten"]).find("one two three four five") is not None


def test_the_densest_place_counts():
    text = "one two three " + "x " * 50 + "one two three four five six"
    found = WordRuns(text).find("one two three four five six")
    assert text[found.start : found.end] == "one two three four five six"
