"""Answers that are expected in a language that no document has are not called unsupported."""

import pytest
from corpus_folders import corpus_of
from proctor.harness.analysis.gaps import find_gaps
from proctor.harness.analysis.support import with_supports

GERMAN = (
    "# Rückgabe\n\nSie können jedes Fahrrad innerhalb von vierzehn Tagen nach der Lieferung zurückgeben. Die Abholung "
    "kostet fünfunddreißig Euro, und getragene Helme nehmen wir aus hygienischen Gründen nicht zurück."
)
ENGLISH = (
    "# Plans\n\nThe rolling plan costs twenty-nine euros a month, and you can pause it twice a year over the winter "
    "for as long as you like. Nothing is charged while your plan is paused, and all repairs are included."
)
ASKED = [
    {"id": "en", "question": "How long do I have to send back a bicycle that I bought from your shop?",
     "expected_answer": "You have fourteen days after it was delivered, and worn helmets can't be sent back."},
    {"id": "brief", "question": "After how many days can a bicycle that I bought not be sent back any more?",
     "expected_answer": "Fourteen days"},
    {"id": "de", "question": "Wie lange kann ich ein Fahrrad zurückgeben?",
     "expected_answer": "Sie können jedes Fahrrad innerhalb von vierzehn Tagen nach der Lieferung zurückgeben."},
    {"id": "short", "question": "Moon?", "expected_answer": "Larkspoke"},
]  # fmt: skip


def expanded(folder, documents, *keys):
    asked = [one for one in ASKED if one["id"] in keys]
    return with_supports(corpus_of(folder, asked, documents)[0])


def test_an_answer_in_a_language_that_no_document_has_is_not_known_and_not_missing(tmp_path):
    corpus = expanded(tmp_path, {"zurueck.md": GERMAN}, "en", "brief", "de", "short")
    assert {key: gold.kind for key, gold in corpus.gold.items()} == {
        "en": "none", "brief": "none", "de": "support", "short": "unsupported",
    }  # fmt: skip
    (warning,) = corpus.warnings
    assert warning.startswith(
        "2 questions expect their answers in a language that no document has (en, brief), and words"
    )
    assert [one.questions for one in find_gaps(corpus, None).findings] == [("short",)]


def test_documents_that_no_answer_could_be_found_in_are_told(tmp_path):
    corpus = expanded(tmp_path, {"plan.md": ENGLISH, "zurueck.md": GERMAN}, "en")
    assert corpus.gold["en"].kind == "unsupported"
    (warning,) = corpus.warnings
    assert warning.startswith("1 document is in another language than the expected answers that no document supports")
    assert "(zurueck.md): what stands in it alone counts as unsupported." in warning


@pytest.mark.parametrize("documents", [{"plan.md": ENGLISH}, {"short.md": "Ja, nein."}])
def test_of_one_language_or_none_that_is_told_nothing_is_said(tmp_path, documents):
    corpus = expanded(tmp_path, documents, "en")
    assert corpus.gold["en"].kind == "unsupported"
    assert corpus.warnings == ()
