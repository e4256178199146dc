import asyncio

from bare_questions import embedder
from proctor.harness.analysis.duplicate_questions import AnswerPair, relate
from tables import in_one_test


def relation(question, first, second):
    (found,) = asyncio.run(relate([AnswerPair(question, first, second)], embedder()))
    return found


@in_one_test(
    ("question", "first", "second", "wanted"),
    [
        ("Who wrote it?", "Mark Twain", "mark twain.", "same"),
        ("How long is it?", "14 days", "It is 14 days.", "same"),
        ("How long is it?", "14 days", "It is 30 days.", "contradicts"),
        ("When was it?", "1839 - 1906", "1697 - 1768", "contradicts"),
        ("Is it open?", "The shop is open.", "The shop is not open.", "contradicts"),
        ("What colour is it?", "blue", "green", "differs"),
        ("Where is it?", "I don't know.", "I am not sure, sorry.", "same"),
        ("Where is it?", "I don't know.", "In Galway.", "differs"),
        ("Where is it?", "", "In Galway.", "differs"),
        ("Where is it?", "???", "!!!", "differs"),
        ("Where is it?", "\ud800", "\ud800", "same"),
    ],
)
def test_relations(question, first, second, wanted):
    assert relation(question, first, second) == wanted
    assert relation(question, second, first) == wanted


def test_pairs_keep_their_order_and_none_is_no_trouble():
    pairs = [AnswerPair("Who?", "Ann", "Ann"), AnswerPair("Who?", "Ann", "Bob"), AnswerPair("Who?", "Ann", "Ann")]
    found = asyncio.run(relate(pairs, embedder()))
    assert found[0] == found[2] == "same"
    assert found[1] != "same"
    assert asyncio.run(relate([], embedder())) == []
