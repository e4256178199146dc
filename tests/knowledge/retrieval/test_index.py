import random
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest
from counting_encoder import CountingEncoder, embedder_of, vector_of
from proctor.knowledge.documents.document import Document, Passage
from proctor.knowledge.models.batching import BatchingEmbedder, SharedVectors
from proctor.knowledge.retrieval.index import PassageIndex
from proctor.knowledge.retrieval.search import PassageSearch
from proctor.knowledge.retrieval.splitting import Splitting


class Corpus:
    """A few documents, cut into lines; remembers which were cut and what was embedded."""

    def __init__(self):
        self.texts = {"a.md": "one\ntwo", "b.md": "three", "empty.md": "", "c.md": "four\nfive\nsix \ud800"}
        self.cuts = []
        self.encoder = CountingEncoder()

    def cut(self, document):
        self.cuts.append(document.id)
        passages, start = [], 0
        for line in document.text.splitlines(keepends=True):
            passages.append(Passage(document.id, start, start + len(line), line))
            start += len(line)
        return passages

    def open(self, folder, settings="lines"):
        self.cuts.clear()
        self.encoder.batches.clear()
        documents = [Document(name, text) for name, text in self.texts.items()]
        embedder = BatchingEmbedder(lambda: self.encoder, self.encoder.model_id)
        return PassageIndex.open(folder, documents, self.cut, settings, embedder)


@pytest.fixture
def corpus():
    return Corpus()


def found(index, text, k=3):
    return [passage.text for passage, _ in index.search(vector_of(text), k)]


def only_file(folder):
    (path,) = folder.iterdir()
    return path


def test_the_nearest_come_first_with_their_cosines(corpus):
    index = corpus.open(None)
    hits = index.search(vector_of("three"), 6)
    assert hits[0][0] == Passage("b.md", 0, 5, "three")
    assert hits[0][1] == pytest.approx(1.0, abs=1e-6)
    by_hand = sorted((float(vector_of(p.text) @ vector_of("three")) for p, _ in hits), reverse=True)
    assert [score for _, score in hits] == pytest.approx(by_hand, abs=1e-6)
    assert index.size == index.embedded_now == 6


@pytest.mark.parametrize(("k", "count"), [(-1, 0), (0, 0), (1, 1), (6, 6), (1000, 6)])
def test_any_k_will_do(corpus, k, count):
    assert len(corpus.open(None).search(vector_of("one\n"), k)) == count


def test_equal_passages_come_in_the_order_of_the_documents(corpus):
    corpus.texts = {f"{number:04}.md": "same" if number % 3 else "other" for number in range(3000)}
    index = corpus.open(None)
    same = [f"{number:04}.md" for number in range(3000) if number % 3]
    for k in (1, 7, 99, 150, 1999):  # FAISS has other ways for long lists than for short ones
        assert [passage.document for passage, _ in index.search(vector_of("same"), k)] == same[:k]


def test_no_documents_and_empty_documents(corpus, tmp_path):
    for texts in ({}, {"empty.md": ""}):
        corpus.texts = texts
        for _ in range(2):
            index = corpus.open(tmp_path / str(len(texts)))
            assert (index.size, index.embedded_now, index.search(vector_of("x"), 3)) == (0, 0, [])
            assert index.warnings == ()


def test_a_vector_of_another_model_is_refused(corpus):
    with pytest.raises(ValueError, match="4 dimensions, where the index has 8"):
        corpus.open(None).search(np.ones(4, np.float32), 1)


def test_a_vector_that_is_no_number_finds_nothing_wrong(corpus):
    hits = corpus.open(None).search(np.full(8, np.nan, np.float32), 3)
    assert all(isinstance(passage, Passage) for passage, _ in hits)


def test_what_is_unchanged_is_neither_cut_nor_embedded_again(corpus, tmp_path):
    first = corpus.open(tmp_path / "new" / "folder")
    assert corpus.cuts == ["a.md", "b.md", "empty.md", "c.md"]
    again = corpus.open(tmp_path / "new" / "folder")
    assert corpus.cuts == corpus.encoder.texts == []
    assert (again.size, again.embedded_now, again.warnings) == (6, 0, ())
    for text in ("one\n", "six \ud800"):
        assert again.search(vector_of(text), 6) == first.search(vector_of(text), 6)


def test_changes_cost_only_what_changed(corpus, tmp_path):
    corpus.open(tmp_path)
    corpus.texts["b.md"] = "drei\nthree and a half"
    del corpus.texts["a.md"]
    corpus.texts["d.md"] = "seven"
    index = corpus.open(tmp_path)
    assert corpus.cuts == ["b.md", "d.md"]
    assert sorted(corpus.encoder.texts) == ["drei\n", "seven", "three and a half"]
    assert (index.size, index.embedded_now) == (6, 3)
    assert found(index, "seven", 1) == ["seven"]
    assert {"one\n", "three"}.isdisjoint(found(index, "one\n", 6))
    assert corpus.open(tmp_path).embedded_now == 0


def test_a_removed_document_is_dropped_from_the_file_too(corpus, tmp_path):
    corpus.open(tmp_path)
    size = only_file(tmp_path).stat().st_size
    del corpus.texts["c.md"]
    assert corpus.open(tmp_path).size == 3
    assert corpus.encoder.texts == []
    assert only_file(tmp_path).stat().st_size < size


def test_the_order_of_the_documents_is_that_of_this_call(corpus, tmp_path):
    corpus.texts = {"a.md": "same", "b.md": "same"}
    corpus.open(tmp_path)
    corpus.texts = {"b.md": "same", "a.md": "same"}
    assert [p.document for p, _ in corpus.open(tmp_path).search(vector_of("same"), 2)] == ["b.md", "a.md"]
    assert corpus.encoder.texts == []


def test_settings_and_models_are_kept_side_by_side(corpus, tmp_path):
    corpus.open(tmp_path)
    assert corpus.open(tmp_path, "other settings").embedded_now == 6
    corpus.encoder.model_id = "counting@2"
    assert corpus.open(tmp_path).embedded_now == 6
    corpus.encoder.model_id = "counting@1"
    assert corpus.open(tmp_path).embedded_now == corpus.open(tmp_path, "other settings").embedded_now == 0


def test_a_damaged_file_is_made_again(corpus, tmp_path):
    corpus.open(tmp_path)
    path = only_file(tmp_path)
    whole = path.read_bytes()
    source = random.Random(0)
    rebuilt = 0
    for turn in range(60):
        if turn % 2:
            damaged = whole[: source.randrange(len(whole))]
        else:
            place = source.randrange(len(whole))
            damaged = whole[:place] + bytes([whole[place] ^ source.randrange(1, 256)]) + whole[place + 1 :]
        path.write_bytes(damaged)
        index = corpus.open(tmp_path)
        assert found(index, "three", 1) == ["three"]
        assert index.size == 6
        assert index.embedded_now in (0, 6) and bool(index.warnings) == (index.embedded_now == 6)
        rebuilt += index.embedded_now == 6
    assert rebuilt >= 45  # some bytes of a zip mean nothing
    path.write_bytes(whole)
    assert corpus.open(tmp_path).embedded_now == 0


def test_vectors_that_do_not_fit_the_passages_are_made_again(corpus, tmp_path):
    corpus.open(tmp_path)
    path = only_file(tmp_path)
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    assert sorted(members) == ["manifest.json", "passages.jsonl", "vectors.npy"]
    members["passages.jsonl"] = b"".join(members["passages.jsonl"].splitlines(keepends=True)[:-1])
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    index = corpus.open(tmp_path)
    assert index.embedded_now == 6
    assert "holds 5 passages, 6 vectors" in index.warnings[0]


def test_a_folder_that_cannot_be_written_is_done_without(corpus, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    index = corpus.open(blocked)
    assert index.size == 6 and "can't be saved" in index.warnings[-1]


def test_one_folder_may_be_opened_by_many_at_once(tmp_path):
    corpora = [Corpus() for _ in range(6)]
    for number, corpus in enumerate(corpora):
        corpus.texts[f"own{number}.md"] = f"own {number}"
    indexes = {}

    def work(number):
        for _ in range(5):
            indexes[number] = corpora[number].open(tmp_path)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, index in indexes.items():
        assert found(index, f"own {number}", 1) == [f"own {number}"] and index.size == 7
        assert index.warnings == ()
    assert len(list(tmp_path.iterdir())) == 1  # and no half-written file is left


# One embedder for many splittings: each distinct text goes to the model once, and vectors are the model's own


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
