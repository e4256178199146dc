import pytest
from knowledge_suites import DOCUMENTS, QUESTIONS, corpus_of, write_knowledge_suite
from proctor import InputError
from proctor.harness.analysis.corpus import QuestionGold
from proctor.harness.suite.suite_file import load_suite
from proctor.knowledge.questions.question import Evidence


def evidence(document, quote):
    return [{"document": document, "quote": quote}]


def test_gold_evidence_is_located_in_the_documents(tmp_path):
    corpus = corpus_of(write_knowledge_suite(tmp_path))
    gold = corpus.gold["open"]
    assert gold.kind == "evidence"
    ((member,),) = gold.groups
    assert corpus.by_id["hours.md"].text[member.start : member.end] == "opens at nine in the morning"
    assert gold.documents == {"hours.md"}


def test_a_question_without_evidence_has_nothing_to_look_for(tmp_path):
    corpus = corpus_of(write_knowledge_suite(tmp_path, questions=[{"id": "why", "question": "Why?"}]))
    assert corpus.gold["why"] == QuestionGold("none")


def test_evidence_that_is_gone_is_stale_and_no_group_is_left_to_be_missed(tmp_path):
    gone = {**QUESTIONS[0], "evidence": evidence("prices.md", "A tune-up costs 40 euros.")}
    gold = corpus_of(write_knowledge_suite(tmp_path, questions=[gone])).gold["tune"]
    assert (gold.kind, gold.groups) == ("stale", ())
    assert [piece.quote for piece in gold.stale] == ["A tune-up costs 40 euros."]


def test_one_stale_piece_leaves_the_others_as_they_are(tmp_path):
    half = {**QUESTIONS[0], "evidence": [*evidence("prices.md", "no longer there"), *evidence("prices.md", "45 euros")]}
    gold = corpus_of(write_knowledge_suite(tmp_path, questions=[half])).gold["tune"]
    assert gold.kind == "evidence"
    assert len(gold.stale) == 1
    assert [[member.quote for member in group] for group in gold.groups] == [["45 euros"]]


def test_a_quote_that_stands_in_two_documents_needs_neither_of_them():
    gold = QuestionGold("evidence", ((Evidence("a.md", "x", 0, 1), Evidence("b.md", "x", 4, 5)),))
    assert gold.documents == {"a.md", "b.md"}
    assert gold.needed_documents == frozenset()
    alone = QuestionGold("evidence", (*gold.groups, (Evidence("c.md", "y", 0, 1),)))
    assert alone.needed_documents == {"c.md"}


def test_the_present_setting_is_that_of_the_first_bot_that_retrieves(tmp_path):
    bots = {"all": {"type": "full_context"}, "found": {"type": "rag", "chunk_size": 321}, "more": {"type": "rag"}}
    assert corpus_of(write_knowledge_suite(tmp_path, bots=bots)).current.chunk_size == 321


def test_without_such_a_bot_the_present_setting_is_the_default_one(tmp_path):
    corpus = corpus_of(write_knowledge_suite(tmp_path, bots={"all": {"type": "full_context"}}))
    assert (corpus.current.chunk_size, corpus.current.top_k) == (600, 4)


def test_a_suite_without_documents_is_refused(tmp_path):
    suite = write_knowledge_suite(tmp_path, knowledge=[])
    with pytest.raises(InputError, match=r"suite\.yaml names no knowledge.*Add `knowledge:`"):
        corpus_of(suite)


def test_only_the_first_questions_are_read_where_a_limit_is_set(tmp_path):
    assert [question.id for question in corpus_of(write_knowledge_suite(tmp_path), 2).questions] == ["tune", "open"]


def test_documents_and_questions_are_found_by_name(tmp_path):
    corpus = corpus_of(write_knowledge_suite(tmp_path))
    assert corpus.by_id.keys() == DOCUMENTS.keys()
    assert corpus.by_key["days"].expected == ("within 30 days",)
    assert corpus.seed == load_suite(tmp_path / "suite.yaml").suite.seed == 0
