"""Rounds: a grid over parts of the documents drops what can't be recommended, and recommends what the whole would."""

import signal
from dataclasses import replace

import numpy as np
import pytest
from corpus_folders import corpus_of, document, question
from proctor.harness.analysis.configurations import GridMeasuring, measure_grid
from proctor.harness.analysis.recommendation import halves, rounds_of, why_dropped
from proctor.harness.suite.settings import AnalysisSettings, GridSettings
from proctor.knowledge.retrieval.index import PassageIndex
from proctor.knowledge.retrieval.splitting import Splitting

FACTS = ("colour", "weight", "price", "origin")
TOPICS = [f"{first}{second}" for first in ("bel", "cor", "dun", "fal", "gim") for second in "abcdefgh"]
GRID = GridSettings(
    splitter="recursive", chunk_size=[20, 120, 250], chunk_overlap=0, retriever=["dense", "bm25"], top_k=[1, 2]
)  # fmt: skip


def asked():
    """Questions whose evidence is a whole clause."""
    made = [question(topic, fact) for topic in TOPICS for fact in FACTS]
    for one in made:
        (place,) = one["evidence"]
        place["quote"] += " as everybody in the house knows"
    return made


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """160 questions over 40 documents, and as many documents that nothing is asked of."""
    texts = {f"{topic}.md": document(topic) for topic in TOPICS}
    texts |= {f"other-{topic}.md": document(f"un{topic}") for topic in TOPICS}
    return corpus_of(tmp_path_factory.mktemp("many"), asked(), texts)


def measured(corpus, grid=GRID, **settings):
    messages = []
    made = measure_grid(corpus, AnalysisSettings(grid=grid, **settings), messages.append)
    return made, messages


def test_rounds_recommend_what_the_whole_grid_does_and_say_what_they_dropped(many):
    corpus, _ = many
    whole, _ = measured(corpus, every_configuration=True)
    fast, messages = measured(corpus, every_configuration=False)
    assert [one.dropped for one in whole.configurations] == [""] * len(whole.configurations)
    assert fast.recommendation.configuration == whole.recommendation.configuration
    assert fast.recommendation.mean == whole.recommendation.mean
    dropped = {name: one for name, one in zip(fast.names, fast.configurations, strict=True) if one.dropped}
    assert "recursive 20/0, dense, k 1" in dropped  # 20 characters are less than half of the evidence
    for one in dropped.values():
        assert (one.metrics, one.differences, set(one.by_question["evidence_recall"])) == ({}, {}, {None})
        assert "% of the documents" in one.dropped or "prompt tokens a question" in one.dropped
    measured_whole = [one for one in fast.configurations if not one.dropped]
    for one in measured_whole:
        (same,) = (each for each in whole.configurations if each.configuration == one.configuration)
        assert replace(one, retrieve_ms=None) == replace(same, retrieve_ms=None)
    assert any("round 1 of 3" in message for message in messages)


def test_what_is_dropped_is_not_embedded_any_further(tmp_path):
    texts = {f"{topic}.md": document(topic) for topic in TOPICS}
    corpus, encoder = corpus_of(tmp_path, asked(), texts)
    fast, _ = measured(corpus, every_configuration=False)
    small = {one.text for each in corpus.documents for one in Splitting("recursive", 20, 0).cut(each)}
    assert all(one.dropped for one in fast.configurations if one.configuration.chunk_size == 20)
    embedded = small & set(encoder.texts)
    assert 0 < len(embedded) < 0.6 * len(small)


def test_short_documents_have_no_rounds_unless_they_are_wanted(many):
    corpus, _ = many
    _, messages = measured(corpus)
    assert not any("round" in message for message in messages)


def test_a_round_has_the_evidence_of_its_questions_and_as_large_a_share_of_the_other_documents(many):
    corpus, _ = many
    clusters = corpus.clusters(one.id for one in corpus.questions)
    first, second = rounds_of(corpus, corpus.questions, clusters)
    chosen = set(np.flatnonzero(halves(clusters, corpus.seed)).tolist())
    for part, share in ((first, 0.25), (second, 0.5)):
        assert set(part.questions) <= chosen
        assert len(part.questions) == pytest.approx(share * len(chosen), abs=3)
        assert part.share == pytest.approx(share, abs=0.05)
        for place in part.questions:
            assert corpus.gold[corpus.questions[place].id].documents <= part.documents
        assert set(np.unique(part.clusters, return_counts=True)[1]) == {4}  # whole clusters
    assert set(first.questions) < set(second.questions)
    assert first.documents < second.documents


def test_one_is_dropped_by_its_interval_or_its_tokens_and_never_by_less(many):
    corpus, _ = many
    clusters = corpus.clusters(one.id for one in corpus.questions)
    part = rounds_of(corpus, corpus.questions, clusters)[1]
    draw = np.random.default_rng(0)
    good = (draw.random(len(part.questions)) < 0.8).astype(float)
    worse = np.where(draw.random(len(good)) < 0.5, 0.0, good)
    slightly = np.where(draw.random(len(good)) < 0.02, 0.0, good)
    hidden = np.where(draw.random(len(good)) < 0.5, np.nan, 0.0)
    values = {0: good, 1: worse, 2: slightly, 3: good, 4: hidden}
    names = ("best", "worse", "slightly", "long", "hidden")
    dropped = why_dropped(part, values, {0: 100, 1: 100, 2: 100, 3: 200, 4: 100}, names, 120, 0, (0.0, 1.0))
    assert set(dropped) == {1, 3}
    assert dropped[1].endswith(f"from best on {len(good)} questions and {part.share:.0%} of the documents")
    assert dropped[3] == "200 prompt tokens a question, where 120 are the most"


def test_ctrl_c_leaves_what_is_measured_and_recommends_nothing(many):
    corpus, _ = many

    def notify(message):
        if "recursive 250" in message:
            signal.raise_signal(signal.SIGINT)

    measuring = GridMeasuring.of(corpus, AnalysisSettings(grid=GRID, every_configuration=True), notify)
    try:
        measuring.measure_current()
        measuring.measure_others()
        grid = measuring.grid()
    finally:
        measuring.close()
    assert measuring.stopped
    done = [one for one in grid.configurations if not one.dropped]
    assert 1 <= len(done) < len(grid.configurations)
    assert grid.configurations[0] in done
    assert all(one.metrics["evidence_recall"].count == 160 for one in done)
    assert grid.recommendation is None
    assert f"{len(done)} of {len(grid.configurations)} configurations are measured or dropped" in grid.warnings[-1]


def test_a_part_of_the_documents_leaves_the_stored_vectors_of_the_others(many, tmp_path):
    corpus, _ = many
    cut = Splitting("recursive", 120, 0)
    whole = PassageIndex.open(tmp_path, corpus.documents, cut.cut, cut.key, corpus.embedder)
    part = PassageIndex.open(tmp_path, corpus.documents[:3], cut.cut, cut.key, corpus.embedder, is_part=True)
    again = PassageIndex.open(tmp_path, corpus.documents, cut.cut, cut.key, corpus.embedder)
    assert (whole.embedded_now > part.size > 0, part.embedded_now, again.embedded_now) == (True, 0, 0)
