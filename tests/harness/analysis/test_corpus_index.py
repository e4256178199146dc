import contextlib

import pytest
from knowledge_suites import DOCUMENTS, QUESTIONS, answers_of, corpus_of, write_knowledge_suite
from proctor import InputError
from proctor.harness.analysis.corpus import QuestionGold, read_answers
from proctor.harness.analysis.document_summaries import excerpt, single_passages, unused_passages
from proctor.harness.suite.suite_file import load_suite
from proctor.knowledge.documents.document import Document, Passage
from proctor.knowledge.documents.evidence import Span
from proctor.knowledge.questions.question import Evidence
from proctor.reports.store.database import Store
from suites import write_suite


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


# answers_read

UNSURE = {
    "id": "moon",
    "question": "Is there a shop on the moon?",
    "expected_answer": "nobody knows",
    "answerable": False,
}


@pytest.fixture
def store(tmp_path):
    with contextlib.closing(Store.open(tmp_path / "proctor.db")) as opened:
        yield opened


def test_answers_come_with_what_they_were_made_from(tmp_path, store):
    answers = answers_of(write_knowledge_suite(tmp_path), store)
    answer = answers.by_place["rag", "tune"]
    assert "45 euros" in answer.text
    assert answer.documents[0] == "prices.md"
    assert answer.contexts is not None
    assert len(answer.contexts) == 2
    assert answers.bots == ("rag",)


def test_a_value_at_the_threshold_is_right(tmp_path, store):
    answers = answers_of(write_knowledge_suite(tmp_path, thresholds={"keyword_recall": 0.5}), store)
    assert answers.metric.threshold == 0.5
    assert [answers.is_right(value) for value in (0.49, 0.5, None)] == [False, True, None]


def test_a_metric_without_a_threshold_has_the_middle_of_its_range(tmp_path, store):
    suite = write_knowledge_suite(tmp_path, metrics=["hit_rate"])
    found = answers_of(suite, store, "hit_rate")
    assert (found.metric.name, found.metric.threshold) == ("hit_rate", 0.5)


def test_an_unanswerable_question_is_answered_rightly_by_saying_so(tmp_path, store):
    suite = write_suite(
        tmp_path,
        "def answer(question):\n    return 'I do not know.' if 'moon' in question else 'nobody knows'\n",
        [UNSURE, {**UNSURE, "id": "mars", "question": "Is there a shop on Mars?"}],
        metrics=["keyword_recall"],
    )
    answers = answers_of(suite, store)
    said = {row.question: (row.right, row.abstained) for row in answers.rows}
    assert said == {"moon": (True, True), "mars": (False, False)}


def test_a_bot_that_failed_has_no_answer(tmp_path, store):
    code = "def answer(question):\n    if '0' in question:\n        raise ValueError('no')\n    return 'It is 1'\n"
    answers = answers_of(write_suite(tmp_path, code, 2), store)
    assert [row.question for row in answers.rows] == ["q1"]


def test_the_value_of_repeats_is_their_mean(tmp_path, store):
    code = (
        "import itertools\nturn = itertools.count()\n\n"
        "def answer(question):\n    return 'It is 0' if next(turn) else 'nothing'\n"
    )
    suite = write_suite(tmp_path, code, 1, repeat=2, metrics=["exact_match"], concurrency=1)
    (row,) = answers_of(suite, store).rows
    assert row.value == 0.5


def test_a_run_that_marks_nothing_has_no_answers_to_tell_from(tmp_path, store):
    suite = write_suite(tmp_path, "def answer(question):\n    return 'x'\n", 1, metrics=["answer_length"])
    with pytest.raises(AssertionError):
        answers_of(suite, store)
    assert read_answers(store, 1) is None


def test_an_unknown_metric_is_named_with_the_nearest(tmp_path, store):
    answers_of(write_knowledge_suite(tmp_path), store)
    with pytest.raises(InputError, match=r"no metric 'keyword_recal' .*did you mean keyword_recall"):
        read_answers(store, 1, "keyword_recal")


def test_a_metric_without_bounds_wants_a_threshold(tmp_path, store):
    code = "def answer(question):\n    return 'x'\n"
    answers_of(write_suite(tmp_path, code, 1, metrics=["exact_match", "latency_ms"]), store)
    with pytest.raises(InputError, match=r"latency_ms has no threshold.*thresholds: \{latency_ms: 0\.5\}"):
        read_answers(store, 1, "latency_ms")


def test_questions_keep_their_order(tmp_path, store):
    answers = answers_of(write_knowledge_suite(tmp_path), store)
    assert [row.question for row in answers.rows] == [question["id"] for question in QUESTIONS]


# Which passages nobody reads, and which are the only ones

TEXT = "".join(f"{n:03} " for n in range(100))  # 400 characters
DOCUMENT = Document("a", TEXT)


def passages(*spans: tuple[int, int], document: str = "a") -> list[Passage]:
    return [Passage(document, *span, TEXT[slice(*span)]) for span in spans]


def unused(read: list[tuple[int, int]], *spans: tuple[int, int], overlap: int = 20) -> list[tuple[int, int]]:
    found = unused_passages(DOCUMENT, passages(*spans), {Span(*each) for each in read}, overlap)
    return [(each.start, each.end) for each in found]


def test_neighbours_that_nobody_read_are_one():
    cut = [(0, 100), (80, 200), (180, 300), (280, 400)]
    assert unused([], *cut) == [(0, 400)]
    assert unused([(180, 300)], *cut) == [(0, 200), (280, 400)]
    assert unused([(0, 100), (280, 400)], *cut) == [(80, 300)]
    assert unused([(0, 400)], *cut) == []
    assert unused([]) == []


def test_who_read_a_passage_has_not_read_its_neighbour():
    assert unused([(80, 200)], (0, 100), (80, 200)) == [(0, 100)]
    assert unused([(79, 200)], (0, 100), (80, 200)) == []


def test_a_short_piece_within_is_read():
    assert unused([(10, 15)], (0, 100)) == []


def test_a_piece_of_another_cut_counts_where_it_is_half_of_a_short_passage():
    assert unused([(90, 200)], (0, 100), (190, 200), overlap=50) == [(0, 100)]
    assert unused([(90, 195)], (190, 200), overlap=50) == []


def single(*groups: tuple[Evidence, ...]) -> list[tuple[str, int, int]]:
    cut = {"a": passages((0, 100), (80, 200), (180, 300)), "b": passages((0, 100), document="b")}
    return sorted(single_passages([QuestionGold("evidence", groups)], cut))


def test_the_only_passage_that_holds_a_piece():
    assert single((Evidence("a", "x", 10, 20),)) == [("a", 0, 100)]
    assert single((Evidence("a", "x", 85, 95),)) == []  # it stands in two
    assert single((Evidence("a", "x", 10, 20), Evidence("b", "x", 10, 20))) == []  # either document will do
    assert single((Evidence("a", "x", 10, 20), Evidence("a", "x", 30, 40))) == [("a", 0, 100)]
    assert single((Evidence("a", "x", 10, 20),), (Evidence("b", "y", 0, 5),)) == [("a", 0, 100), ("b", 0, 100)]


def test_of_a_piece_that_is_cut_apart_each_part_is_needed():
    assert single((Evidence("a", "x", 60, 150),)) == [("a", 0, 100), ("a", 80, 200)]
    assert single((Evidence("a", "x", 60, 150), Evidence("b", "x", 10, 20))) == [("b", 0, 100)]


def test_of_evidence_without_a_place_any_passage_will_do():
    """As for a retriever, which finds it with any passage of the document."""
    assert single((Evidence("b"),)) == [("b", 0, 100)]
    assert single((Evidence("a"),)) == []
    assert single((Evidence("nowhere", "x", 0, 5),)) == []
    assert single() == []


def test_a_long_excerpt_is_shortened_and_keeps_its_place():
    assert excerpt(DOCUMENT, 4, 11).text == "001 002"
    found = excerpt(DOCUMENT, 0, 400)
    assert (found.start, found.end, len(found.text)) == (0, 400, 300)
    assert found.text.endswith("…")
