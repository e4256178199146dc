"""What an answer was made from: which documents are tried, and which of them it may have been taken from."""

from proctor.bots.bot import Context
from proctor.harness.analysis.attribution import CANDIDATES, candidates, is_copy, led_to, variant_name
from proctor.harness.analysis.corpus import Answer
from proctor.knowledge.documents.document import Document
from proctor.knowledge.questions.question import Question

QUESTION = Question("q", "What is the fee?", ("5 euros",))


def answer(text: str, *contexts: tuple[str, str], abstained: bool = False) -> Answer:
    read = tuple(Context(said, document) for document, said in contexts)
    return Answer("rag", "q", text, read, 0.0, False, abstained)


def test_all_that_was_retrieved_is_tried_in_its_order():
    given = answer("x", ("b", "1"), ("a", "2"), ("b", "3"), ("gone", "4"))
    assert candidates(given, {"a", "b", "c"}, set(), []) == ("b", "a")


def test_of_everything_those_of_the_gold_and_those_that_share_words_are_tried():
    documents = [Document(f"d{place}", f"common words and word{place}") for place in range(40)]
    given = answer("common word33 and word7", *((one.id, one.text) for one in documents))
    found = candidates(given, {one.id for one in documents}, {"d20"}, documents)
    assert found[0] == "d20"
    assert set(found[1:3]) == {"d33", "d7"}
    assert len(found) == CANDIDATES


def test_gold_never_leaves_no_place_for_a_culprit():
    documents = [Document(f"d{place}", f"word{place}") for place in range(40)]
    given = answer("word39", *((one.id, one.text) for one in documents))
    found = candidates(given, {one.id for one in documents}, {f"d{place}" for place in range(10)}, documents)
    assert "d39" in found


def test_an_answer_comes_from_where_its_wrong_words_stand():
    given = answer("The fee is 7 euros.", ("gold", "The fee is 5 euros."), ("old", "The fee is 7 euros."), ("x", "is"))
    assert led_to(given, QUESTION) == {"old"}


def test_an_answer_in_words_of_the_question_comes_from_nowhere():
    assert led_to(answer("The fee", ("old", "The fee")), QUESTION) is None
    assert led_to(answer("", ("old", "The fee")), QUESTION) is None
    assert led_to(answer("I don't know.", ("old", "I don't know"), abstained=True), QUESTION) is None
    assert led_to(answer("seven", ("old", "The fee")), QUESTION) is None


def test_a_copy_holds_nearly_the_same_words():
    text = "The fee is 5 euros for everybody who comes to the hall"
    assert is_copy(text.replace("5", "7"), text)
    assert is_copy("The fee is 5 euros", text)
    assert not is_copy("The hall has a roof of red tiles", text)
    assert not is_copy("", text)


def test_variants_are_named_by_what_is_missing_or_left():
    of_all = [f"{letter}.md" for letter in "abcdef"]
    assert variant_name("rag", frozenset(["a.md"]), of_all) == "rag without a.md"
    assert variant_name("rag", frozenset(of_all[1:]), of_all) == "rag only a.md"
    two = variant_name("rag", frozenset(of_all[:2]), of_all)
    assert two.startswith("rag without a.md and b.md #")
    assert two != variant_name("rag", frozenset(["a.md and b.md"]), [*of_all, "a.md and b.md"])
    assert variant_name("rag", frozenset(of_all[:3]), of_all).startswith("rag without 3 documents #")
    variant_name("rag", frozenset(["\udce4.md"]), ["\udce4.md", "b"]).encode()
