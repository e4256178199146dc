"""What 100,000 passages cost to index, keep, load and search, and whether the index finds what a full scan finds.

Run: python tests/benchmarks/bench_search.py [--passages 100000] [--questions 200]

Vectors are random, because embedding is measured by bench_embedding.py; texts have the word counts of real ones.
"""

import argparse
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from proctor.knowledge.documents.document import Document
from proctor.knowledge.models.encoder import Embedded
from proctor.knowledge.retrieval.search import PassageSearch
from proctor.knowledge.retrieval.splitting import Splitting

DIMENSIONS = 384


class RandomVectors:
    """Stands in for an embedder: unit vectors that depend on nothing."""

    model_id = "random"

    def __init__(self) -> None:
        self.draw = np.random.default_rng(0)

    def embed_now(self, texts: Sequence[str]) -> Embedded:
        vectors = self.draw.standard_normal((len(texts), DIMENSIONS), dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return Embedded(vectors, (False,) * len(texts))


def documents(passages: int, seed: int) -> list[Document]:
    """Documents of about a hundred passages each; words are drawn as in real text (Zipf)."""
    picker = random.Random(seed)
    words = [f"{picker.choice('bcdfgklmnprst')}{number:x}" for number in range(60_000)]
    weights = np.cumsum([1 / (rank + 5) for rank in range(len(words))]).tolist()
    made = []
    for number in range(max(1, passages // 100)):
        paragraphs = [" ".join(picker.choices(words, cum_weights=weights, k=100)) for _ in range(100)]
        made.append(Document(f"{number}.md", "\n\n".join(paragraphs)))
    return made


def timed(said: str, work: Callable[[], PassageSearch]) -> PassageSearch:
    started = time.perf_counter()
    done = work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{said}: {time.perf_counter() - started:.1f} s, peak memory so far {peak:.2f} GB")
    return done


def searched(search: PassageSearch, questions: Sequence[tuple[str, NDArray[np.float32]]]) -> list[set[int]]:
    """Starts of the ten best passages of each question; prints the time that one takes, on the clock and of cores."""
    took, worked, found = [], [], []
    for text, vector in questions:
        asked, before = time.perf_counter(), time.process_time()
        best = search.find(text, vector, 10)
        took.append((time.perf_counter() - asked) * 1000)
        worked.append((time.process_time() - before) * 1000)
        found.append({hash((passage.document, passage.start)) for passage, _ in best})
    print(
        f"  {search.retriever}: median {statistics.median(took):.1f} ms a question, worst {max(took):.1f} ms; "
        f"of processors {statistics.median(worked):.1f} ms"
    )
    return found


def main() -> None:
    """Print seconds, memory, size on disk, milliseconds of a search, and the share of the exact ten that is found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=200)
    given = parser.parse_args()
    known, splitting = documents(given.passages, 1), Splitting("recursive", 600, 0)
    picker = random.Random(2)
    asked = [" ".join(picker.choice(known).text.split()[:8]) for _ in range(given.questions)]
    vectors = RandomVectors().embed_now(asked).vectors
    questions = list(zip(asked, vectors, strict=True))
    embedder = RandomVectors()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        built = timed("cut, index and save", lambda: PassageSearch.open("dense", known, splitting, embedder, folder))
        print(
            f"  {built.size:,} passages, {sum(each.stat().st_size for each in folder.iterdir()) / 1e6:.0f} MB on disk"
        )
        del built
        dense = timed("load", lambda: PassageSearch.open("dense", known, splitting, embedder, folder))
        found = searched(dense, questions)
        recall = statistics.mean(
            len(there & exact) / 10 for there, exact in zip(found, scanned(dense, vectors), strict=True)
        )
        print(f"  recall@10 against a full scan in numpy: {recall:.4f}")
        searched(
            timed("words indexed", lambda: PassageSearch.open("bm25", known, splitting, embedder, None)), questions
        )
        searched(timed("both", lambda: PassageSearch.open("hybrid", known, splitting, embedder, folder)), questions)


def scanned(search: PassageSearch, vectors: NDArray[np.float32]) -> list[set[int]]:
    """The ten nearest by a full scan, in double precision, over the vectors as they were drawn."""
    again = RandomVectors().embed_now([""] * search.size).vectors.astype(np.float64)
    nearest = np.argpartition(-(vectors.astype(np.float64) @ again.T), 10, axis=1)[:, :10]
    passages = search.passages
    return [{hash((passages[place].document, passages[place].start)) for place in line} for line in nearest.tolist()]


if __name__ == "__main__":
    main()
