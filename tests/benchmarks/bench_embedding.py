"""Embedding while rows arrive one by one, against SentenceTransformer.encode, in one process with the same threads.

    python tests/benchmarks/bench_embedding.py [--texts 512] [--threads 1] [--in-flight 64] [--rounds 2]

Prints texts per second (best of the rounds, which alternate), their ratios, how far the vectors are apart, and how
long a new process needs until its first vector is there.
"""

import argparse
import asyncio
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from proctor.knowledge.models.batching import BatchingEmbedder
from proctor.knowledge.models.encoder import PackagedEncoder, packaged_folder, packaged_id

WORDS_A_TEXT = 60
READY = (
    "import time; start = time.perf_counter(); "
    "from proctor.knowledge.models.embedding import EmbedderSettings, open_encoder; "
    "open_encoder(EmbedderSettings()).encode(['Where is my order?']); "
    "print(time.perf_counter() - start); "
    "import sys; assert 'torch' not in sys.modules; "
    "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
)


def sample_texts(count: int) -> list[str]:
    """Different stretches of 60 words out of the sample documents."""
    folder = Path(__file__).parents[2] / "knowledge" / "samples" / "help_centre" / "documents"
    words = " ".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md"))).split()
    starts = random.Random(0).sample(range(len(words) - WORDS_A_TEXT), count)
    return [" ".join(words[start : start + WORDS_A_TEXT]) for start in starts]


async def rows(embedder: BatchingEmbedder, texts: list[str], in_flight: int) -> np.ndarray:
    """Each row awaits the embedding of its one text; so many rows are under way at a time."""
    limit = asyncio.Semaphore(in_flight)

    async def row(text: str) -> np.ndarray:
        async with limit:
            return (await embedder.embed([text])).vectors[0]

    return np.stack(await asyncio.gather(*(row(text) for text in texts)))


def ours(texts: list[str], threads: int, in_flight: int, precision: str = "fp32") -> tuple[float, np.ndarray]:
    embedder = BatchingEmbedder(lambda: PackagedEncoder(precision, threads), packaged_id(precision))

    async def timed() -> tuple[float, np.ndarray]:
        await embedder.load()
        await embedder.embed_fresh(texts[:4])
        start = time.perf_counter()
        vectors = await rows(embedder, texts, in_flight)
        return time.perf_counter() - start, vectors

    seconds, vectors = asyncio.run(timed())
    embedder.close()
    return len(texts) / seconds, vectors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=512)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()

    for _ in range(2):
        out = subprocess.run([sys.executable, "-c", READY], capture_output=True, text=True, check=True)
        seconds, megabytes = map(float, out.stdout.split())
        print(f"new process until its first vector: {seconds:.2f} s, {megabytes:.0f} MB")

    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(given.threads)
    reference = SentenceTransformer(str(packaged_folder()), device="cpu")
    texts = sample_texts(given.texts)
    reference.encode(texts[:4])

    def theirs(batch_size: int) -> tuple[float, np.ndarray]:
        start = time.perf_counter()
        vectors = reference.encode(texts, batch_size=batch_size, show_progress_bar=False)
        return len(texts) / (time.perf_counter() - start), vectors

    ways: dict[str, Callable[[], tuple[float, np.ndarray]]] = {
        "SentenceTransformer.encode, one big batch": lambda: theirs(len(texts)),
        "SentenceTransformer.encode, its default batches of 32": lambda: theirs(32),
        f"rows one by one, {given.in_flight} in flight": lambda: ours(texts, given.threads, given.in_flight),
        "rows one by one, 1 in flight": lambda: ours(texts, given.threads, 1),
        f"rows one by one, {given.in_flight} in flight, int8": lambda: ours(
            texts, given.threads, given.in_flight, "int8"
        ),
    }
    speeds = dict.fromkeys(ways, 0.0)
    vectors: dict[str, np.ndarray] = {}
    for _ in range(given.rounds):
        for name, way in ways.items():
            speed, vectors[name] = way()
            speeds[name] = max(speeds[name], speed)
    whole, default, *_ = speeds.values()
    exact = next(iter(vectors.values()))
    print(f"{len(texts)} texts of {WORDS_A_TEXT} words, {given.threads} thread(s), best of {given.rounds}:")
    for name, speed in speeds.items():
        apart = float(np.abs(vectors[name] - exact).max())
        cosine = float((vectors[name] * exact).sum(axis=1).min())
        print(
            f"{speed:7.1f} texts/s  {speed / whole:4.2f} x one big batch  {speed / default:4.2f} x its default  "
            f"apart {apart:.1e}, least cosine {cosine:.4f}  {name}"
        )


if __name__ == "__main__":
    main()
