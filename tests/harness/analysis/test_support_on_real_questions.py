"""The support of expected answers on real questions: found where it is, and not where its document is left out."""

import json
import os
import random
from pathlib import Path

import pytest
from proctor.harness.analysis.corpus import SentenceBook, index_corpus
from proctor.harness.analysis.support import THRESHOLD, SupportFinder
from proctor.harness.suite.suite_file import load_suite, sample_suite
from proctor.knowledge.documents.document import Document
from proctor.knowledge.questions.question import Question
from word_encoder import word_embedder

XQUAD = Path(__file__).resolve().parents[4] / "shared" / "data" / "xquad_en" / "dev.jsonl"


@pytest.mark.shared
def test_spans_of_paragraphs():
    if not XQUAD.is_file():
        pytest.skip("the human-labelled data are not beside the checkout (../shared/data)")
    rows = [json.loads(line) for line in XQUAD.read_text("utf-8").splitlines()]
    texts = list(dict.fromkeys(row["contexts"][0] for row in rows))
    finder = SupportFinder(SentenceBook([Document(str(n), text) for n, text in enumerate(texts)]), word_embedder()[0])
    drawn = random.Random(5).sample(rows, 100)
    gold = {row["id"]: str(texts.index(row["contexts"][0])) for row in drawn}
    questions = [Question(row["id"], row["question"], tuple(row["expected_answers"])) for row in drawn]
    there, gone = finder.find(questions), finder.find(questions, {key: {id} for key, id in gold.items()})
    right = [
        one.score >= THRESHOLD and finder.book.document(one.best.places[0].stretch.first).id == gold[key]
        for key, one in there.items()
    ]
    assert sum(right) >= 90
    assert sum(one.score >= THRESHOLD for one in gone.values()) <= 10


def test_the_answers_of_the_sample_are_found_where_people_quoted_them():
    corpus = index_corpus(load_suite(sample_suite()), os.environ)
    known = [one for one in corpus.questions if corpus.gold[one.id].kind == "evidence"]
    found = SupportFinder(SentenceBook(corpus.documents), corpus.embedder)
    supports = found.find(known)
    assert len(supports) == len(known) > 80
    supported = [key for key, one in supports.items() if one.score >= THRESHOLD]
    assert len(supported) >= 0.95 * len(known)
    hits = [
        key for key in supported
        if found.book.document(supports[key].best.places[0].stretch.first).id in corpus.gold[key].documents
    ]  # fmt: skip
    assert len(hits) >= 0.95 * len(supported)
