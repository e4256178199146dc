"""A grid worked out once more from the definitions, without the package's search or metrics."""

import itertools
import math
import re
from collections import Counter

import numpy as np
import pytest
from corpus_folders import FACTS, TOPICS, corpus_of, question, value
from proctor.harness.analysis.configurations import measure_grid
from proctor.harness.analysis.recommendation import halves
from proctor.harness.suite.settings import AnalysisSettings, GridSettings
from proctor.knowledge.retrieval.splitting import Splitting

WIDE = GridSettings(
    splitter="sentences", chunk_size=[90, 200], chunk_overlap=40, retriever=["dense", "bm25", "hybrid"], top_k=[2, 5]
)


def with_two_facts(topic, other):
    """Both facts are needed; the first stands in either of two places."""
    asked = question(topic, "price")
    said = {"document": f"{topic}.md", "quote": f"The weight of our {topic} is {value(topic, 'weight')}"}
    elsewhere = {"document": f"{other}.md", "quote": f"About {other} and their price."}
    return {**asked, "id": f"{topic}-both", "evidence": [[*asked["evidence"], elsewhere], [said]]}


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    asked = [question(topic, fact) for topic in TOPICS for fact in FACTS[:2]]
    asked += [with_two_facts(topic, other) for topic, other in itertools.pairwise(TOPICS)]
    corpus, encoder = corpus_of(tmp_path_factory.mktemp("grid"), asked)
    return corpus, encoder, measure_grid(corpus, AnalysisSettings(grid=WIDE, rank_by="span_precision"))


def by_words(texts, asked):
    """Places that share a word, by Lucene's BM25 as Robertson and Zaragoza have it (2009), k1 1.5 and b 0.75."""
    counts = [Counter(re.findall(r"[a-z0-9]+", text.lower())) for text in texts]
    lengths = np.array([count.total() for count in counts])
    sums = np.zeros(len(texts))
    for word in re.findall(r"[a-z0-9]+", asked.lower()):
        tf = np.array([count[word] for count in counts], float)
        n = (tf > 0).sum()
        idf = math.log(1 + (len(texts) - n + 0.5) / (n + 0.5))
        sums += idf * tf / (tf + 1.5 * (0.25 + 0.75 * lengths / lengths.mean()))
    order = np.lexsort((np.arange(len(texts)), -np.round(sums, 5)))
    return [int(place) for place in order if sums[place] > 0]


def by_meaning(vectors, vector):
    cosines = vectors.astype(np.float64) @ vector
    return np.lexsort((np.arange(len(vectors)), -cosines)).tolist()


def by_both(first, second):
    """Sums of 1 / (60 + rank) over 50 candidates of each; of equal ones the one that the first ranking has earlier."""
    sums = {}
    for ranking in (first[:50], second[:50]):
        for rank, place in enumerate(ranking, 1):
            sums[place] = sums.get(place, 0) + 1 / (60 + rank)
    return sorted(sums, key=lambda place: -round(sums[place], 12))


def characters(*places):
    return {(document, at) for document, start, end in places for at in range(start, end)}


def figures(found, texts, groups):
    """Every metric of one question, over single characters."""

    def holds(passage, group):
        return any(len(characters(passage) & characters(one)) >= len(characters(one)) / 2 for one in group)

    firsts = [next((rank for rank, one in enumerate(found, 1) if holds(one, group)), None) for group in groups]
    ranks = sorted(rank for rank in firsts if rank)
    useful = [any(holds(one, group) for group in groups) for one in found]
    precisions = [sum(useful[:rank]) / rank for rank in range(1, len(found) + 1) if useful[rank - 1]]
    read = characters(*found)
    best = [max(group, key=lambda one: len(characters(one) & read) / len(characters(one))) for group in groups]
    needed = characters(*best)
    beside = characters(*(one for group in groups for one in group)) - needed
    return {
        "hit_rate": float(bool(ranks)),
        "evidence_recall": len(ranks) / len(groups),
        "mrr": 1 / ranks[0] if ranks else 0.0,
        "ndcg": sum(1 / math.log2(1 + max(place, rank)) for place, rank in enumerate(ranks, 1))
        / sum(1 / math.log2(1 + place) for place in range(1, len(groups) + 1)),
        "context_precision": sum(precisions) / len(precisions) if precisions else 0.0,
        "span_recall": len(read & needed) / len(needed),
        "span_precision": len(read & needed) / len(read - beside),
        "prompt_tokens": sum(len(text.encode()) for text in texts) / 4,
    }


def places_of(corpus, question):
    """Every place of each quote, as a search for the string finds it."""
    return [
        [
            (one.document, hit.start(), hit.end())
            for one in group
            for hit in re.finditer(re.escape(one.quote), corpus.by_id[one.document].text)
        ]
        for group in question.evidence
    ]


def rankings(passages, asked, encoder):
    """By question and retriever the places of passages, best first."""
    texts = [one.text for one in passages]
    vectors, questions = (encoder.encode(each).vectors for each in (texts, asked))
    for text, vector in zip(asked, questions, strict=True):
        near, worded = by_meaning(vectors, vector), by_words(texts, text)
        yield {"dense": near, "bm25": worded, "hybrid": by_both(near, worded)}


def test_every_figure_of_every_question_and_setting(measured):
    corpus, encoder, grid = measured
    assert len(grid.configurations) == 13  # with the present one
    gold = [places_of(corpus, corpus.by_key[key]) for key in grid.questions]
    asked = [corpus.by_key[key].text for key in grid.questions]
    ranked, seen = {}, Counter()
    for result in grid.configurations:
        configuration = result.configuration
        splitting = Splitting(configuration.splitter, configuration.chunk_size, configuration.chunk_overlap)
        passages = [one for document in corpus.documents for one in splitting.cut(document)]
        assert result.passages == len(passages)
        if splitting not in ranked:
            ranked[splitting] = list(rankings(passages, asked, encoder))
        for line, groups in enumerate(gold):
            best = [
                passages[place] for place in ranked[splitting][line][configuration.retriever][: configuration.top_k]
            ]
            found = [(one.document, one.start, one.end) for one in best]
            for metric, expected in figures(found, [one.text for one in best], groups).items():
                value = result.by_question[metric][line]
                assert value == pytest.approx(expected), (configuration.name, asked[line], metric)
                seen[metric, round(expected, 3)] += 1
    assert {metric for metric, _ in seen} == set(grid.configurations[0].metrics)
    assert seen["evidence_recall", 0.5]  # a question of which one place was found and one was not
    assert len([value for metric, value in seen if metric == "ndcg"]) > 4


def test_what_is_reported_is_of_questions_that_nothing_was_chosen_on(measured):
    corpus, _, grid = measured
    found = grid.recommendation
    sources = [corpus.by_key[key].source_document for key in grid.questions]
    on = halves(corpus.clusters(grid.questions), corpus.seed)
    assert not {one for one, is_on in zip(sources, on, strict=True) if is_on} & {
        one for one, is_on in zip(sources, on, strict=True) if not is_on
    }
    values = np.array([result.by_question[grid.metric] for result in grid.configurations])
    tokens = [np.mean(result.by_question["prompt_tokens"]) for result in grid.configurations]
    within = [place for place, size in enumerate(tokens) if size <= 1.1 * tokens[0]]
    best = min(within, key=lambda place: (-values[place, on].mean(), tokens[place], place))
    apart = values[best, ~on].mean() - values[0, ~on].mean()
    assert best == found.configuration != grid.current
    assert (found.chosen_on, found.reported_on) == (on.sum(), (~on).sum())
    assert found.mean.mean == pytest.approx(values[best, ~on].mean())
    assert found.difference.mean == pytest.approx(apart)
    assert apart != pytest.approx(values[best].mean() - values[0].mean())  # on all questions it is another figure
    figures = re.findall(r"[+-]\d\.\d{3}", found.reason)
    assert figures == [f"{one:+.3f}" for one in (apart, found.difference.low, found.difference.high)]
    assert f"on the {on.sum()} questions" in found.reason
    assert f"On the other {(~on).sum()} its" in found.reason
    assert f"{grid.budget:,.0f} prompt tokens" in found.reason
