"""BatchingEmbedder: embeds texts for all rows in flight, in batches, each text once."""

import asyncio
import weakref
from collections.abc import Callable, Sequence
from hashlib import blake2b

import numpy as np

from .encoder import Embedded, Encoder
from .model_requests import Request, VectorKeeper
from .model_thread import ModelThread

__all__ = ["BatchingEmbedder", "VectorKeeper"]

_TEXTS_A_SLICE = 4096  # of a long list, so that it does not stand in the queue as a whole


class _Packing:
    """An encoder whose vectors are packed: a byte for truncated, then float32 in little-endian order."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder

    def run(self, texts: Sequence[str]) -> list[bytes]:
        embedded = self.encoder.encode(texts)
        flags = np.asarray(embedded.truncated, dtype=np.uint8).tobytes()
        rows = np.ascontiguousarray(embedded.vectors, dtype="<f4")
        if len(rows) != len(texts) or len(flags) != len(texts):
            raise ValueError(f"{self.encoder.model_id} gave {len(rows)} vectors for {len(texts)} texts.")
        return [flags[place : place + 1] + row.tobytes() for place, row in enumerate(rows)]


class BatchingEmbedder:
    """Embeds texts for many callers at once, from any event loop, on threads of its own.

    A text is embedded once: its vector is kept in memory (the least recently used go first when ``memory_mb`` is
    full) and in the keeper. A failing encoder fails those who wait for that batch, and nobody else; an encoder that
    can't be opened fails every call with the same exception. Nothing is loaded before the first call.
    """

    def __init__(
        self,
        open_encoder: Callable[[], Encoder],
        model_id: str,
        keeper: VectorKeeper | None = None,
        memory_mb: int = 64,
        max_batch: int = 64,
    ) -> None:
        """Prepare, without loading.

        Args:
            open_encoder: called once at most, on the embedder's thread.
            model_id: what ``open_encoder`` will load, known beforehand; vectors are kept under it.
            keeper: where vectors outlive the process; called on the embedder's thread only.
            memory_mb: bound of the vectors in memory, in MiB.
            max_batch: most texts handed to the encoder at once.
        """
        self._model_id = model_id
        thread = ModelThread(lambda: _Packing(open_encoder()), model_id, keeper, memory_mb << 20, max_batch)
        self._thread = thread
        # The threads know nothing of this object, so all end when nobody holds this one, or with the process.
        self._stop = weakref.finalize(self, self._thread.stop)
        # Bots that are being timed have a thread to themselves: on it nothing of the metrics is ever in their way.
        self._fresh = ModelThread(lambda: thread.model().result(), model_id, None, 0, max_batch)
        self._stop_fresh = weakref.finalize(self, self._fresh.stop)

    @property
    def model_id(self) -> str:
        """Name, revision and arithmetic of the model, as it stands on the manifest."""
        return self._model_id

    async def load(self) -> None:
        """Open the encoder now, so that the first answer is not slowed down by it. Raises what opening raises."""
        await self._dimensions()

    async def embed(self, texts: Sequence[str]) -> Embedded:
        """Embed the texts, in their order, from memory or the keeper where they are known. Shape (n, dimensions)."""
        if not texts:
            return _none_of(await self._dimensions())
        return await self._answered(self._thread, Request(texts, _keys(texts)))

    async def embed_fresh(self, texts: Sequence[str]) -> Embedded:
        """Embed the texts at once and keep nothing: for a bot that is being timed.

        It waits for other bots' questions only; a model that can't do two things at once (see ``Encoder``) may add the
        batch in progress.
        """
        if not texts:
            return _none_of(await self._dimensions())
        return await self._answered(self._fresh, Request(texts))

    def embed_now(self, texts: Sequence[str], keep: bool = False) -> Embedded:
        """Embed a long list and block until it is done: for building an index, never on an event loop's thread.

        With ``keep``, vectors are taken from and put into memory and keeper as ``embed`` does.
        """
        if not texts:
            return _none_of(self._thread.model().result().encoder.dimensions)
        parts = []
        for start in range(0, len(texts), _TEXTS_A_SLICE):
            part = texts[start : start + _TEXTS_A_SLICE]
            request = Request(part, _keys(part) if keep else None)
            self._thread.submit(request)
            request.done.result()
            parts.append(_unpacked(request.packed))
        return Embedded(
            np.concatenate([part.vectors for part in parts]), np.concatenate([part.truncated for part in parts])
        )

    def step_back(self) -> None:
        """Embed only with what of the processors others leave, from now on: what is timed by others goes before.

        Bots that are being timed (``embed_fresh``) are served as before.
        """
        self._thread.step_back()

    def close(self) -> None:
        """Stop after the batch in progress and hand the last vectors to the keeper. Calls that still wait fail."""
        self._stop()
        self._stop_fresh()

    async def _answered(self, thread: ModelThread[_Packing], request: Request) -> Embedded:
        thread.submit(request)
        if request.done.done():
            request.done.result()  # raises what went wrong
        else:
            await asyncio.wrap_future(request.done)
        return _unpacked(request.packed)

    async def _dimensions(self) -> int:
        # Shielded, because the future is everybody's, and a cancelled caller would cancel it.
        return (await asyncio.shield(asyncio.wrap_future(self._thread.model()))).encoder.dimensions


def _keys(texts: Sequence[str]) -> list[bytes]:
    return [blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts]


def _unpacked(packed: list[bytes]) -> Embedded:
    table = np.frombuffer(b"".join(packed), dtype=np.uint8).reshape(len(packed), -1)
    vectors = np.ascontiguousarray(table[:, 1:]).view("<f4").astype(np.float32, copy=False)
    return Embedded(vectors, table[:, 0].astype(np.bool_))


def _none_of(dimensions: int) -> Embedded:
    return Embedded(np.empty((0, dimensions), dtype=np.float32), np.zeros(0, dtype=np.bool_))
