import pytest
from bare_questions import answers, ask, embedder
from knowledge_suites import write_knowledge_suite
from proctor.bots.faq import FaqEntry
from proctor.harness.analysis.dataset_quality import (
    built_in_prompts,
    faq_entries,
    faq_leaks,
    prompt_leaks,
    prompts_of,
    self_answered,
)
from proctor.harness.suite.suite_file import load_suite, sample_suite

SHOTS = """You help customers of a bicycle shop.

Q: How long do I have to return a bike?
A: You can return it within 14 days of delivery.

Passages: {context}
Question: {question}
"""


def leaks(question, prompt=SHOTS, *others):
    return prompt_leaks([question, *others], {"rag": prompt}, embedder())


def test_an_example_that_is_a_question_of_the_set_is_a_leak():
    (one,) = leaks(ask("days", "How long do I have to return a bike?", "14 days"))
    assert (one.kind, one.severity, one.questions, one.score) == ("leaked_prompt", "high", ("days",), 1.0)
    assert one.details["bots"] == ["rag"]
    assert "return a bike" in one.details["excerpt"]


def test_nearly_the_same_words_are_a_leak():
    (one,) = leaks(ask("days", "So how long do I have to return a bike?", "14 days"))
    assert one.details["leaked"] == "question"
    assert 0.8 <= one.score < 1


def test_the_same_in_other_words_is_a_leak():
    prompt = "Here is an example. How can I reset my PIN?\nIn the app.\n{context} {question}"
    (one,) = leaks(ask("pin", "How do I reset my PIN?", "In the app."), prompt)
    assert one.severity == "medium"
    assert one.details["leaked"] == "perturbed"


def test_an_expected_answer_is_a_leak():
    (one,) = leaks(ask("days", "What is your policy?", "You can return it within 14 days of delivery."))
    assert (one.details["leaked"], one.severity) == ("answer", "medium")


def test_bots_with_one_prompt_are_named_together():
    found = prompt_leaks(
        [ask("days", "How long do I have to return a bike?")], {"a": SHOTS, "b": SHOTS, "c": "Be kind."}, embedder()
    )
    assert [one.details["bots"] for one in found] == [["a", "b"]]


@pytest.mark.parametrize(
    "question",
    [
        ask("other", "How much does a tandem cost?", "90 euros"),
        ask("short", "a bike", "14 days"),  # a phrase that any prompt may hold
        ask("short-answer", "For how many days is it?", "within 14 days"),
        ask("days", "Where do I have to return a bike?", "Galway"),
    ],
)
def test_what_any_prompt_may_hold_is_no_leak(question):
    assert leaks(question) == ()


def test_a_refusal_and_a_common_answer_are_no_leak():
    prompt = (
        "If you do not know, say: I don't know. Please ask our support team. Labels: the customer wants money back now"
    )
    label = "the customer wants money back now"
    questions = [ask(f"q{place}", f"Ticket number {place} says what?", label) for place in range(3)]
    refusal = ask("no", "Is it raining in Galway today?", "I don't know. Please ask our support team.")
    assert prompt_leaks([refusal, *questions], {"rag": prompt}, embedder()) == ()


def test_what_ships_with_the_package_is_no_leak():
    text = built_in_prompts()[0]
    assert prompt_leaks([ask("q", text.split("\n")[0], text.split("\n")[0])], {"rag": text}, embedder()) == ()


@pytest.mark.parametrize("prompt", ["", "\ud800", "?" * 1000, "word " * 50_000])
def test_odd_prompts_are_no_trouble(prompt):
    assert leaks(ask("days", "How long do I have to return a bike?"), prompt) == ()


def test_a_faq_bot_is_asked_its_own_entries():
    questions = [ask("a", "Is it open?", "yes"), ask("b", "Where is it?", "here"), ask("c", "Who is it?", "me")]
    said = answers({"faq": {"a": "+yes", "b": "there", "c": "+me"}})
    (one,) = faq_leaks(questions, {"faq": [FaqEntry("is it OPEN", "yes"), FaqEntry("Why?", "so")]}, said)
    assert (one.kind, one.severity, one.questions) == ("leaked_answer", "medium", ("a",))
    assert one.details["share"] == pytest.approx(1 / 3)
    assert (one.details["right"], one.details["right_elsewhere"]) == (1.0, 0.5)


def test_other_entries_are_no_leak():
    assert not list(faq_leaks([ask("a", "Is it open?", "yes")], {"faq": [FaqEntry("Is it closed?", "no")]}, None))


def test_a_question_that_holds_its_answer():
    (one,) = self_answered([ask("a", "In which novel does Cornelia Blimber appear?", "Cornelia Blimber")])
    assert (one.kind, one.questions) == ("leaked_answer", ("a",))


@pytest.mark.parametrize(
    "question",
    [
        ask("choice", "Is the logo blue or green?", "blue"),
        ask("particle", "Is there no bike left?", "no"),
        ask("other", "Where is the shop?", "Galway"),
        ask("unanswerable", "Is Mars red?", "Mars", answerable=False),
        ask("part", "Which sunflower is tallest?", "sun"),
        ask("none", "Where is the shop?"),
    ],
)
def test_questions_that_do_not_give_themselves_away(question):
    assert not list(self_answered([question]))


def test_labels_that_stand_in_questions_are_no_leak():
    assert not list(self_answered([ask(f"q{place}", "Is this spam mail", "spam") for place in range(3)]))


def test_prompts_and_entries_come_from_the_suite():
    loaded = load_suite(sample_suite())
    assert set(prompts_of(loaded)) == {"full_context", "rag", "rag_no_history"}
    assert "Larkspoke" in prompts_of(loaded)["rag"]
    assert set(faq_entries(loaded)) == {"faq"}


def test_prompts_stand_in_bodies_and_options_too(tmp_path):
    bots = {
        "web": {"type": "http", "url": "http://127.0.0.1/", "body": {"messages": [{"content": "Be kind. {question}"}]}},
        "mine": {"type": "python", "target": "bot.py:answer", "options": {"system": "Be brief."}},
        "rag": {"type": "rag"},
    }
    found = prompts_of(load_suite(write_knowledge_suite(tmp_path, bots=bots)))
    assert found == {"web": "Be kind. {question}", "mine": "Be brief.", "rag": built_in_prompts()[0]}
