"""One rule of clusters for all parts of an analysis."""

import pytest
from corpus_folders import FACTS, TOPICS, corpus_of, question
from proctor.harness.analysis.corpus import Answer, Answers, QuestionGold, question_clusters
from proctor.harness.analysis.label_errors import marks_of
from proctor.knowledge.questions.question import Evidence, Question
from proctor.reports.summary import MetricColumn

METRIC = MetricColumn("exact_match", "1", "higher", 0.0, 1.0, 0.5, "row", "mean")


def test_a_source_document_goes_before_the_evidence_and_that_before_the_question_itself(tmp_path):
    asked = [question(topic, fact) for topic in TOPICS[:2] for fact in FACTS[:2]]
    del asked[1]["source_document"]
    del asked[3]["source_document"], asked[3]["evidence"]
    corpus, _ = corpus_of(tmp_path, asked)
    assert corpus.clusters(corpus.by_key).tolist() == [0, 0, 1, 2]
    assert corpus.clusters(["trains-weight", "boats-weight", "boats-colour"]).tolist() == [0, 1, 1]
    assert question_clusters(corpus.questions, {}).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", ["stale", "support"])
def test_stale_evidence_and_support_tell_the_document_too(kind):
    place = (Evidence("a.md", "was here"),)
    known = QuestionGold("stale", stale=place) if kind == "stale" else QuestionGold("support", (place,))
    asked = [Question("q", "Who?"), Question("a.md", "Named as a document?"), Question("r", "Who?")]
    gold = {"q": known, "a.md": QuestionGold("none"), "r": known}
    assert question_clusters(asked, gold).tolist() == [0, 1, 0]


def test_an_audit_takes_the_same_clusters():
    asked = [Question("q", "Who?"), Question("r", "When?"), Question("s", "Why?")]
    place = ((Evidence("a.md", "", 0, 9),),)
    gold = {"q": QuestionGold("support", place), "s": QuestionGold("evidence", place)}
    rows = tuple(Answer("rag", one.id, "", None, 1.0, True, False) for one in asked)
    marks = marks_of(asked, Answers("run", 1, METRIC, rows), gold)
    assert marks.clusters.tolist() == [0, 1, 0]
    assert marks_of(asked, Answers("run", 1, METRIC, rows)).clusters.tolist() == [0, 1, 2]
