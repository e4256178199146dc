"""CountingEncoder: a fake embedding model that goes in by the front door and remembers what it was asked."""

import asyncio
import threading
from collections.abc import Sequence
from hashlib import sha256

import numpy as np
from proctor.knowledge.models.batching import BatchingEmbedder
from proctor.knowledge.models.encoder import Embedded


class CountingEncoder:
    """Vectors by hash of the text; ``gate`` holds every call until it is set, ``poison`` makes a batch fail."""

    model_id = "counting@1"
    dimensions = 8
    window = 5
    embedded = False

    def __init__(self, poison: str | None = None) -> None:
        self.batches: list[list[str]] = []
        self.entered = threading.Event()
        self.gate = threading.Event()
        self.gate.set()
        self.poison = poison
        self.error = RuntimeError("the model broke")

    @property
    def texts(self) -> list[str]:
        return [text for batch in self.batches for text in batch]

    def encode(self, texts: Sequence[str]) -> Embedded:
        self.batches.append(list(texts))
        self.entered.set()
        assert self.gate.wait(20), "the test forgot to open the gate"
        if self.poison in texts:
            raise self.error
        vectors = np.array([vector_of(text) for text in texts], np.float32).reshape(-1, self.dimensions)
        return Embedded(vectors, np.array([len(text.split()) > self.window for text in texts], np.bool_))


def vector_of(text: str) -> np.ndarray:
    """The unit vector that the fake gives to a text."""
    raw = np.frombuffer(sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], np.uint8).astype(np.float32) - 127
    return raw / np.linalg.norm(raw)


def embedder_of(encoder, **options):
    """A batching embedder over the fake; options as BatchingEmbedder's."""
    return BatchingEmbedder(lambda: encoder, encoder.model_id, **options)


async def in_queue(encoder, *calls):
    """Start the calls one after the other while the encoder is held, then let it go."""
    tasks = []
    for call in calls:
        tasks.append(asyncio.create_task(call))
        await asyncio.sleep(0.01)
    encoder.gate.set()
    return tasks


async def keep_busy(embedder, encoder):
    """A task that keeps the encoder busy until the gate is opened."""
    encoder.gate.clear()
    task = asyncio.create_task(embedder.embed(["first"]))
    await asyncio.to_thread(encoder.entered.wait, 10)
    return task
