"""The support of expected answers: where it is found, when it is not, and what can't be looked for."""

from dataclasses import replace

import pytest
from corpus_folders import corpus_of
from proctor.harness.analysis.corpus import QuestionGold, SentenceBook, Stretch
from proctor.harness.analysis.support import THRESHOLD, SupportFinder, expected_claims, with_supports
from proctor.knowledge.documents.document import Document
from proctor.knowledge.questions.question import Question
from tables import in_one_test
from word_encoder import word_embedder

RETURNS = (
    "# Returns\n\nYou can return any bike within 14 days of delivery. Bring it to a workshop, which is free. "
    "If we collect it, that costs 35 euros.\n\nHelmets that have been worn stay with you."
)
DELIVERY = (
    "# Delivery\n\nA courier brings the bike to your door within 5 working days. Delivery to the islands costs "
    "60 euros. Somebody has to be at home and sign for it."
)
PLAN = "# Rolling Plan\n\nThe Rolling Plan costs 29 euros a month. You can pause it twice a year over the winter."
DOCUMENTS = {"delivery.md": DELIVERY, "plan.md": PLAN, "returns.md": RETURNS}


def asked(expected: object, question: str = "How long do I have to return a bike?", **other: object) -> dict:
    return {"id": "q", "question": question, "expected_answer": expected, **other}


def gold_of(folder, *questions, documents=DOCUMENTS):
    corpus, _ = corpus_of(folder, questions, documents)
    found = with_supports(corpus)
    for gold in found.gold.values():
        for group in gold.groups:
            for place in group:
                assert found.by_id[place.document].text[place.start : place.end] == place.quote
    return found


def test_the_sentence_that_says_it_is_found(tmp_path):
    gold = gold_of(tmp_path, asked("Within 14 days of delivery.")).gold["q"]
    assert gold.kind == "support"
    assert gold.score >= THRESHOLD
    assert [[place.quote for place in group] for group in gold.groups] == [
        ["You can return any bike within 14 days of delivery."]
    ]
    assert gold.documents == {"returns.md"}


def test_another_number_is_no_support(tmp_path):
    gold = gold_of(tmp_path, asked("Within 21 days of delivery.")).gold["q"]
    assert (gold.kind, gold.groups) == ("unsupported", ())
    assert 0 < gold.score < THRESHOLD


def test_nothing_supports_what_is_not_there(tmp_path):
    gold = gold_of(tmp_path, asked("Our insurance against theft pays for it.", "Is my bike insured?")).gold["q"]
    assert gold.kind == "unsupported"


def test_every_document_that_says_it_as_well_is_in_the_group(tmp_path):
    twice = {**DOCUMENTS, "copy.md": RETURNS.replace("# Returns", "# Old returns")}
    gold = gold_of(tmp_path, asked("Within 14 days of delivery."), documents=twice).gold["q"]
    assert [place.document for place in gold.groups[0]] == ["copy.md", "returns.md"]
    assert gold.needed_documents == frozenset()


def test_claims_that_stand_apart_are_groups_of_their_own(tmp_path):
    answer = "You can return any bike within 14 days of delivery. The Rolling Plan costs 29 euros a month."
    gold = gold_of(tmp_path, asked(answer, "How long can I return a bike, and what is the Rolling Plan?")).gold["q"]
    assert [group[0].document for group in gold.groups] == ["returns.md", "plan.md"]
    assert gold.needed_documents == {"returns.md", "plan.md"}


def test_the_accepted_answer_that_stands_there_counts(tmp_path):
    question = {
        "id": "q",
        "question": "How long can I return it?",
        "expected_answers": ["A fortnight", "14 days of delivery"],
    }
    gold = gold_of(tmp_path, question).gold["q"]
    assert gold.kind == "support"
    assert "14 days" in gold.groups[0][0].quote


def test_what_no_wording_can_support_stays_unknown_and_is_told(tmp_path):
    found = gold_of(
        tmp_path,
        {"id": "yes", "question": "May I return it?", "expected_answer": "Yes."},
        {"id": "unknown", "question": "Who won?", "expected_answer": "I don't know. Please ask our support."},
        {"id": "marked", "question": "Who?", "expected_answer": "14 days of delivery", "answerable": False},
        {"id": "bare", "question": "Who?"},
    )
    assert {gold.kind for gold in found.gold.values()} == {"none"}
    (warning,) = [one for one in found.warnings if "no wording can" in one]
    assert warning.startswith("2 questions")
    assert "yes, unknown" in warning


def test_gold_evidence_and_stale_gold_stay_what_they_are(tmp_path):
    found = gold_of(
        tmp_path,
        asked("Within 14 days of delivery.", evidence=[{"document": "returns.md", "quote": "14 days"}]),
        {**asked("Within 14 days of delivery."), "id": "old",
         "evidence": [{"document": "returns.md", "quote": "28 days"}]},
    )  # fmt: skip
    assert (found.gold["q"].kind, found.gold["q"].groups[0][0].quote) == ("evidence", "14 days")
    assert (found.gold["old"].kind, found.gold["old"].groups) == ("stale", ())


def test_a_ground_without_open_questions_is_handed_back_unread(tmp_path):
    corpus, encoder = corpus_of(tmp_path, [asked("14 days", answerable=False)], DOCUMENTS)
    assert with_supports(corpus) is corpus
    assert encoder.texts == []


def test_it_says_what_it_does_and_is_the_same_again(tmp_path):
    corpus, _ = corpus_of(tmp_path, [asked("Within 14 days of delivery."), {**asked("60 euros"), "id": "p"}], DOCUMENTS)
    messages = []
    first, second = with_supports(corpus, messages.append), with_supports(corpus)
    assert messages == ["Looking for the expected answers of 2 questions without evidence"]
    assert first.gold == second.gold


@pytest.mark.parametrize("documents", [{"only.md": "..."}, {"only.md": "Hm."}, {"a.md": " \n", "b.md": "###"}])
def test_documents_that_say_nothing(tmp_path, documents):
    gold = gold_of(tmp_path, asked("Within 14 days of delivery."), documents=documents).gold["q"]
    assert gold == QuestionGold("unsupported", score=0.0)


def test_half_characters_and_texts_without_an_end():
    endless = "word " * 40_000 + "the parcel \ud800 weighs 731 grams " + "word " * 40_000
    finder = SupportFinder(SentenceBook([Document("a", endless), Document("b", "x" * 90_000)]), word_embedder()[0])
    question = Question("q", "What does the parcel weigh?", ("It weighs 731 grams",))
    found = finder.find([question])["q"]
    assert "731 grams" in finder.book.text(found.best.places[0].stretch)
    assert found.score >= THRESHOLD


def test_a_document_left_out_supports_nothing():
    documents = [Document(name, text) for name, text in DOCUMENTS.items()]
    finder = SupportFinder(SentenceBook(documents), word_embedder()[0])
    question = Question("q", "How long do I have to return a bike?", ("Within 14 days of delivery.",))
    assert finder.find([question])["q"].score >= THRESHOLD
    without = finder.find([question], {"q": {"returns.md"}})["q"]
    assert without.score < THRESHOLD
    assert all(finder.book.document(place.stretch.first).id != "returns.md" for place in without.claims[0].places)


@in_one_test(
    ("expected", "claims"),
    [
        ("Yes.", ()),
        ("No", ()),
        ("I do not have specific information about that.", ()),
        ("Not mentioned.", ()),
        ("Which partner are you referring to?", ()),
        ("The spare part is not available.", ("The spare part is not available.",)),
        ("Such as: 1) Quail, 2) Ducks", ("Such as: Quail, Ducks",)),
        ("1. Open the box.\n2. Press the button.", ("Open the box.", "Press the button.")),
        ("Yes. It takes 2 days.", ("It takes 2 days.",)),
        ("7", ("7",)),
        ("  ", ()),
    ],
)
def test_what_can_be_looked_for(expected, claims):
    assert expected_claims(Question("q", "?", (expected,))) == ((claims,) if claims else ())


def test_stretches_stay_within_their_document():
    book = SentenceBook([Document("a", "One is here. Two is here."), Document("b", "Three is here.")])
    assert list(book.around(1)) == [Stretch(1, 1), Stretch(0, 1)]
    assert list(book.around(2)) == [Stretch(2, 2)]
    assert book.text(Stretch(0, 1)) == "One is here. Two is here."


def test_supports_need_no_gold_of_their_own(tmp_path):
    corpus, _ = corpus_of(tmp_path, [asked("Within 14 days of delivery.")], DOCUMENTS)
    assert with_supports(replace(corpus, gold={})).gold["q"].kind == "support"
