import asyncio

from bare_questions import ask, embedder
from proctor.harness.analysis.duplicate_questions import alike_questions, find_duplicates, shortened
from proctor.knowledge.questions.question import PERTURBS


def found(*questions):
    return asyncio.run(find_duplicates(questions, alike_questions(questions, embedder()), embedder()))


def test_equal_questions_with_one_answer_are_duplicates():
    (one,) = found(
        ask("a", "How long can I return a bike?", "14 days", source_document="x.md"),
        ask("b", "how long can I return a bike", "14 days", source_document="y.md"),
        ask("c", "Where is the shop?", "Galway"),
    )
    assert (one.kind, one.severity, one.questions, one.score) == ("duplicate_question", "low", ("a", "b"), None)
    assert "different clusters" in one.what
    assert one.details["same_cluster"] is False


def test_duplicates_of_one_source_are_allowed_for():
    (one,) = found(
        ask("a", "How can I reset my PIN?", "In the app.", source_document="x.md"),
        ask("b", "How do I reset my PIN?", "In the app.", source_document="x.md"),
    )
    assert one.details["same_cluster"] is True
    assert "intervals allow for it" in one.what
    assert one.score is not None


def test_all_that_ask_the_same_are_one_finding():
    (one,) = found(*(ask(f"q{place}", "Is it open on Monday?", "no") for place in range(4)))
    assert one.questions == ("q0", "q1", "q2", "q3")
    assert "counts 4 times" in one.what


def test_equal_questions_with_other_answers_are_in_conflict():
    (one,) = found(ask("a", "What colour is the logo?", "blue"), ask("b", "What colour is the logo?", "green"))
    assert (one.kind, one.severity, one.questions) == ("conflicting_gold", "high", ("a", "b"))
    assert '"blue"' in one.what
    assert '"green"' in one.what


def test_other_words_with_the_same_answer_ask_the_same():
    (one,) = found(
        ask("a", "In what country can most of the Amazon rainforest be found?", "Brazil"),
        ask("b", "Which nation contains the majority of the Amazon forest?", "In Brazil"),
        ask("c", "Which country exports the most coffee?", "Brazil"),
    )
    assert (one.kind, one.questions) == ("duplicate_question", ("a", "b"))


def test_other_words_with_another_answer_or_a_bare_yes_are_other_questions():
    asked = "Can I bring my dog into the shop?", "Are pets welcome inside the store?"
    assert found(ask("a", asked[0], "Yes"), ask("b", asked[1], "Yes")) == ()
    assert found(ask("a", asked[0], "Small dogs only"), ask("b", asked[1], "Cats are kept out")) == ()


def test_near_questions_are_in_conflict_only_where_the_answers_contradict():
    texts = "How can I reset my PIN?", "How do I reset my PIN?"
    (one,) = found(ask("a", texts[0], "It takes 3 days."), ask("b", texts[1], "It takes 5 days."))
    assert one.kind == "conflicting_gold"
    assert one.score is not None


def test_a_question_that_says_more_and_wants_another_answer_is_another_question():
    asked = (
        ask("a", "How much does a delivery cost?", "29 euros"),
        ask("b", "How much does a delivery of a cargo bike cost?", "89 euros"),
    )
    assert found(*asked) == ()


def test_one_answerable_and_one_not_are_in_conflict():
    (one,) = found(
        ask("a", "Is there a shop on Mars?", "Yes, one.", answerable=True),
        ask("b", "Is there a shop on Mars?", answerable=False),
    )
    assert one.kind == "conflicting_gold"
    assert "can't be answered" in one.what


def test_any_accepted_answer_that_both_share_will_do():
    (one,) = found(
        ask("a", "Who wrote it?", "Samuel Clemens", "Mark Twain"), ask("b", "Who wrote it?", "Twain", "Mark Twain")
    )
    assert one.kind == "duplicate_question"


def test_rewordings_made_on_purpose_are_none():
    assert not found(
        ask("a", "How can I reset my PIN?", "In the app."),
        ask("a-1", "how can i reset my pin", "In the app.", extra={PERTURBS: {"of": "a", "kind": "typo"}}),
    )


def test_long_texts_are_cut():
    assert shortened("word " * 100).endswith("…")
    assert shortened(" a\n b ") == "a b"
