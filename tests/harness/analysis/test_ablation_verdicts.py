"""Verdicts: small differences that are all that is wrong, and copies that stand in the place of the gold."""

from collections.abc import Callable
from pathlib import Path

import pytest
from attributed_suites import AttributedSuite, only
from openai_server import Call, OpenAIServer
from proctor.reports.analysis.findings import AblatedAnswer

GOLD = "The entry fee is 5 euros for everybody."
FEE = {
    "id": "fee",
    "question": "What is the entry fee?",
    "expected_answer": "5",
    "evidence": [{"document": "fees.md", "quote": GOLD}],
}


def attributed(folder: Path, script: Callable[[Call], str], documents, question=FEE, **suite) -> AblatedAnswer:
    """What is said of the wrong answer of a bot that answers by a script of its prompt."""
    with OpenAIServer(script, models=["scripted"]) as server:
        made = AttributedSuite(folder, server.url, documents, [question], **suite)
        try:
            return only(made.attribution())
        finally:
            made.store.close()


@pytest.mark.parametrize(
    ("threshold", "misread", "fixed", "documents"),
    [
        (1.0, "the 7 old doors", "the 5 old doors", ("old.md",)),  # the one word that is wrong
        (0.85, "a few", "a few doors", ()),  # another wording, which happens to pass
    ],
)
def test_one_wrong_word_of_a_long_answer_counts_where_it_is_all_that_is_wrong(
    tmp_path, threshold, misread, fixed, documents
):
    said = "On Sundays everybody who comes before noon may enter our beautiful garden and see {} without any fee."
    known = {"fees.md": GOLD, "old.md": "Formerly the entry fee was 7 euros.", "hall.md": "The hall has a roof."}
    answer = attributed(
        tmp_path,
        lambda call: said.format(misread if "Formerly" in call.prompt else fixed),
        known,
        FEE | {"expected_answer": said.format("the 5 old doors"), "question": "How?"},
        metrics=["keyword_recall"],
        thresholds={"keyword_recall": threshold},
    )
    assert answer.without["old.md"] > threshold - 1e-9
    assert answer.documents == documents


def test_a_wrong_copy_of_gold_that_was_not_found_is_blamed_though_taking_it_away_finds_no_gold(tmp_path):
    """Two passages of one document and one of another stand before the gold: only without the two it is found."""
    loud = "The entry fee, the entry fee: what entry fee did our town ask? " * 8
    documents = {
        "loud.md": f"{loud}\n\n{loud}",
        "copy.md": "The entry fee: " + GOLD.replace("5", "7"),
        "next.md": "The entry fee is known to all of us here.",
        "fees.md": GOLD + " The doors open at nine on all days, and whoever comes late may go round by the gate.",
    }

    def script(call):
        return "5" if GOLD in call.prompt else "7" if "7 euros" in call.prompt else "I don't know."

    rag = {"type": "rag", "model": "chat", "prompt": "prompt.md", "retriever": "bm25", "top_k": 3, "chunk_overlap": 0}
    answer = attributed(tmp_path, script, documents, bots={"rag": rag})
    assert answer.without == {"loud.md": 1, "copy.md": 0}
    assert (answer.answer, answer.cause, answer.documents) == ("7", "document", ("copy.md",))
    assert "copy.md says" in answer.note


def test_where_it_does_not_matter_which_document_goes_none_is_blamed(tmp_path):
    known = {"fees.md": GOLD, "old.md": "Formerly the entry fee was 7 euros.", "hall.md": "The hall has a roof."}

    def script(call):
        return "I don't know." if all(text in call.prompt for text in known.values()) else "5"

    answer = attributed(tmp_path, script, known)
    assert answer.without == dict.fromkeys(known, 1)
    assert (answer.cause, answer.documents) == ("retrieval", ())
    assert "none misled more than another" in answer.note
