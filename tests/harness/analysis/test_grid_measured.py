"""A grid measured whole: questions, intervals, differences, budget and what is recommended."""

from dataclasses import replace

import numpy as np
import pytest
from corpus_folders import FACTS, corpus_of, document, question
from proctor.harness.analysis.configurations import METRICS, evident_questions, measure_grid
from proctor.harness.analysis.corpus import QuestionGold
from proctor.harness.suite.settings import AnalysisSettings, GridSettings
from proctor.knowledge.questions.question import Evidence
from proctor.reports.analysis.findings import Grid
from pydantic import TypeAdapter

SMALL = GridSettings(
    splitter="recursive", chunk_size=[120, 250], chunk_overlap=0, retriever=["dense", "bm25"], top_k=[1, 4]
)  # fmt: skip


def test_every_setting_is_measured_on_every_question(tmp_path):
    corpus, _ = corpus_of(tmp_path)
    grid = measure_grid(corpus, AnalysisSettings(grid=SMALL))
    assert grid.questions == tuple(one.id for one in corpus.questions)
    assert (len(grid.questions), grid.by_evidence, grid.current, len(grid.configurations)) == (40, 40, 0, 9)
    assert grid.metric == "evidence_recall"
    for place, result in enumerate(grid.configurations):
        assert set(result.metrics) == set(result.by_question) == set(METRICS)
        for metric, mean in result.metrics.items():
            assert mean.mean == pytest.approx(np.mean(result.by_question[metric]))
            assert (mean.count, mean.clusters) == (40, 10)
            assert mean.low <= mean.mean <= mean.high
        assert set(result.differences) == (set(METRICS) if place else set())
        assert 0 < result.retrieve_ms[0] <= result.retrieve_ms[1]
        assert result.passages >= 40
    assert grid.configurations[0].bots == ("rag",)
    four, one = grid.configurations[2], grid.configurations[1]
    found = four.differences["evidence_recall"]
    assert found.mean == pytest.approx(
        four.metrics["evidence_recall"].mean - grid.configurations[0].metrics["evidence_recall"].mean
    )
    assert found.clusters == 10
    assert one.metrics["evidence_recall"].mean <= four.metrics["evidence_recall"].mean
    assert grid.recommendation is not None


def test_the_values_are_those_that_one_finds_by_hand(tmp_path):
    documents = {"a.md": "Boats cost three coins.\n\nTrains cost nine coins.", "b.md": "Kites are free."}
    asked = [
        {"id": "q", "question": "What do boats cost?", "evidence": [{"document": "a.md", "quote": "three coins"}]},
        {"id": "r", "question": "What do trains cost?", "evidence": [{"document": "b.md", "quote": "Kites are free."}]},
    ]
    corpus, _ = corpus_of(tmp_path, asked, documents)
    only = GridSettings(splitter="recursive", chunk_size=24, chunk_overlap=0, retriever="bm25", top_k=1)
    result = measure_grid(corpus, AnalysisSettings(grid=only)).configurations[1]
    assert result.configuration.name == "recursive 24/0, bm25, k 1"
    assert result.by_question["evidence_recall"] == (1.0, 0.0)
    assert result.by_question["span_precision"] == (11 / 23, 0.0)
    assert result.by_question["prompt_tokens"] == (23 / 4, 23 / 4)
    assert result.passages == 3


def test_the_budget_is_what_the_present_setting_takes_and_a_tenth(tmp_path):
    corpus, _ = corpus_of(tmp_path)
    grid = measure_grid(corpus, AnalysisSettings(grid=SMALL))
    current = grid.configurations[0].metrics["prompt_tokens"].mean
    assert grid.budget == pytest.approx(1.1 * current)
    assert grid.configurations[grid.recommendation.configuration].metrics["prompt_tokens"].mean <= grid.budget
    tight = measure_grid(corpus, AnalysisSettings(grid=SMALL, max_tokens=3))
    assert (tight.budget, tight.recommendation) == (3.0, None)
    assert "none stays within 3 prompt tokens" in tight.warnings[-1]


def test_another_metric_may_rank(tmp_path):
    corpus, _ = corpus_of(tmp_path)
    grid = measure_grid(corpus, AnalysisSettings(grid=SMALL, rank_by="span_precision"))
    assert grid.metric == "span_precision"
    best = grid.configurations[grid.recommendation.configuration]
    assert best.configuration.top_k == 1  # what is retrieved beside the evidence counts against it
    assert "span_precision" in grid.recommendation.reason


def test_the_same_grid_comes_out_each_time_but_for_the_clock(tmp_path):
    corpus, _ = corpus_of(tmp_path)
    once, again = (measure_grid(corpus, AnalysisSettings(grid=SMALL)) for _ in range(2))

    def untimed(grid):
        return replace(grid, configurations=tuple(replace(one, retrieve_ms=None) for one in grid.configurations))

    assert untimed(once) == untimed(again)
    adapter = TypeAdapter(Grid)
    assert adapter.validate_json(adapter.dump_json(once)) == once


def test_support_counts_where_there_is_no_gold_evidence_and_stale_gold_never_does(tmp_path):
    asked = [question("boats", "price"), question("kites", "weight"), question("maps", "origin")]
    asked[1] = {"id": "supported", "question": "What do kites weigh?", "expected_answer": "much"}
    asked[2]["evidence"][0]["quote"] = "no longer there"
    asked.append({"id": "open", "question": "Why?"})
    corpus, _ = corpus_of(tmp_path, asked)
    at = corpus.by_id["kites.md"].text.index("The weight of our kites")
    support = QuestionGold("support", ((Evidence("kites.md", "", at, at + 40),),), score=0.9)
    unsupported = QuestionGold("unsupported", ((Evidence("maps.md", "", 0, 9),),))
    corpus = replace(corpus, gold={**corpus.gold, "supported": support, "open": unsupported})
    assert corpus.gold["maps-origin"].kind == "stale"
    assert [one.id for one in evident_questions(corpus)] == ["boats-price", "supported"]
    grid = measure_grid(corpus, AnalysisSettings(grid=SMALL))
    assert (grid.questions, grid.by_evidence) == (("boats-price", "supported"), 1)
    assert grid.recommendation is None
    assert "2 questions from 2 source documents are too few" in grid.warnings[0]


def test_without_a_question_whose_answer_has_a_place_there_is_no_grid(tmp_path):
    corpus, encoder = corpus_of(tmp_path, [{"id": "q", "question": "Why?", "expected_answer": "So."}])
    assert measure_grid(corpus, AnalysisSettings(grid=SMALL)) is None
    assert encoder.texts == []


def test_one_question_has_means_without_an_interval(tmp_path):
    corpus, _ = corpus_of(tmp_path, [question("boats", "price")])
    grid = measure_grid(corpus, AnalysisSettings(grid=SMALL))
    mean = grid.configurations[0].metrics["evidence_recall"]
    assert (mean.low, mean.high, mean.count) == (None, None, 1)
    assert grid.recommendation is None


def test_half_characters_and_odd_texts_are_no_fault(tmp_path):
    documents = {
        "boats.md": document("boats"),
        "long.md": "word " * 20_000,
        "odd.md": "\u202e\x00 \ufffd\U0001f6a2" * 50,
    }
    asked = [question("boats", fact) for fact in FACTS]
    corpus, _ = corpus_of(tmp_path, asked, documents)
    half = replace(corpus.documents[0], id="half.md", text="The price \ud800 of nothing." * 9)
    corpus = replace(corpus, documents=(*corpus.documents, half))
    corpus = replace(corpus, questions=(replace(corpus.questions[0], text="price \udfff?"), *corpus.questions[1:]))
    grid = measure_grid(corpus, AnalysisSettings(grid=SMALL))
    assert len(grid.questions) == 4
    assert all(result.metrics["evidence_recall"].count == 4 for result in grid.configurations)


def test_a_retriever_that_tells_no_places_has_no_values_and_is_not_recommended(tmp_path):
    (tmp_path / "own.py").write_text(
        "from types import SimpleNamespace\n"
        "class Own:\n"
        "    def invoke(self, question):\n"
        "        return [SimpleNamespace(page_content='somewhere', metadata={})]\n"
        "own = Own()\n"
    )
    corpus, _ = corpus_of(tmp_path)
    grid = measure_grid(corpus, AnalysisSettings(grid=GridSettings(retriever="own.py:own", top_k=1), max_tokens=999))
    (own,) = grid.configurations[1:]
    assert (own.configuration.name, own.passages) == ("own.py:own, k 1", None)
    assert set(own.metrics) == {"prompt_tokens"}
    assert set(own.by_question["evidence_recall"]) == {None}
    assert set(own.differences) == {"prompt_tokens"}
    assert grid.recommendation.verdict == "current"
