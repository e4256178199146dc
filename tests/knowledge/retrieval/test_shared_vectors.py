"""One embedder for many splittings: each distinct text goes to the model once, and vectors are the model's own."""

import threading
from pathlib import Path

import numpy as np
import pytest
from counting_encoder import CountingEncoder, embedder_of, vector_of
from proctor.knowledge.documents.document import Document
from proctor.knowledge.models.batching import SharedVectors
from proctor.knowledge.retrieval.search import PassageSearch
from proctor.knowledge.retrieval.splitting import Splitting


def shared(**options):
    encoder = CountingEncoder(**options)
    return SharedVectors(embedder_of(encoder)), encoder


def test_vectors_are_those_of_the_model_in_the_order_that_was_asked():
    vectors, encoder = shared()
    vectors.embed_now(["one", "two"])
    found = vectors.embed_now(["three", "two", "three", "a b c d e f", "one"])
    assert np.array_equal(
        found.vectors, np.array([vector_of(t) for t in ("three", "two", "three", "a b c d e f", "one")])
    )
    assert found.vectors.dtype == np.float32
    assert found.truncated.tolist() == [False, False, False, True, False]
    assert sorted(encoder.texts) == sorted(["one", "two", "three", "a b c d e f"])
    assert (vectors.distinct, vectors.model_id) == (4, "counting@1")


def test_nothing_and_broken_texts_are_no_fault():
    vectors, _ = shared()
    assert vectors.embed_now([]).vectors.shape == (0, 8)
    assert vectors.embed_now(["", "\ud800", ""]).vectors.shape == (3, 8)
    assert vectors.distinct == 2


def test_a_model_that_fails_leaves_nothing_behind():
    vectors, encoder = shared(poison="bad")
    with pytest.raises(RuntimeError, match="the model broke"):
        vectors.embed_now(["good", "bad"])
    assert vectors.distinct == 0
    encoder.poison = None
    assert len(vectors.embed_now(["good", "bad"]).vectors) == 2
    assert vectors.distinct == 2


def test_splittings_with_the_same_passages_embed_them_once(tmp_path: Path):
    documents = [Document(f"{number}.md", f"Paragraph {number}.\n\nAnother one of {number}.") for number in range(20)]
    vectors, encoder = shared()
    texts = set()
    for splitting in (Splitting("recursive", 20, 0), Splitting("recursive", 30, 0), Splitting("sentences", 30, 0)):
        search = PassageSearch.open("dense", documents, splitting, vectors, tmp_path)
        texts |= {passage.text for passage in search.passages}
    assert sorted(encoder.texts) == sorted(texts)
    assert vectors.distinct == len(texts)
    # The indexes lie where one who comes with the embedder itself finds them.
    again = CountingEncoder()
    PassageSearch.open("dense", documents, Splitting("recursive", 30, 0), embedder_of(again), tmp_path)
    assert again.texts == []


def test_threads_that_ask_for_the_same_embed_it_once():
    vectors, encoder = shared()
    threads = [threading.Thread(target=vectors.embed_now, args=([f"{n}" for n in range(50)],)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(encoder.texts) == vectors.distinct == 50
