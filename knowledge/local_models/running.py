"""LocalModel: a model behind its thread, asked by all rows in flight, in batches of texts of about equal length."""

import asyncio
import json
import weakref
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from hashlib import blake2b
from typing import Generic, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..encoder import readable
from ..model_requests import Request
from ..model_thread import ModelThread

ITEMS_A_BATCH = 64
CHARACTERS_A_BATCH = 8192  # full speed on one core, and short enough not to be waited for when a run is stopped
_MEMORY_BYTES = 16 << 20  # of what models said: a number or three for each item

# What a model is asked about at once: a text, a pair, or more texts that belong together.
Item: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """What a model says of one item.

    Attributes:
        values: shape (k,), float32; k and what each number means are the model's own. NaN or infinity is an error.
        truncated: whether the item was longer than the model's window, so that not all of it was read.
    """

    values: NDArray[np.float32]
    truncated: bool = False


class LoadedModel(Protocol):
    """A model in memory; only its own thread calls it."""

    def run(self, items: Sequence[Item]) -> Sequence[Said]:
        """What it says of each item, in their order; what is in the batch beside an item must not matter to it."""
        ...


Loaded = TypeVar("Loaded", bound=LoadedModel)


class LocalModel(Generic[Loaded]):
    """A model that many callers ask at once, from any event loop; it runs on a thread of its own.

    An item is looked at once: what was said of it is kept in memory. A batch that fails fails those who wait for it,
    and a model that can't be opened fails every call with the same exception. Nothing is loaded before the first call.
    """

    def __init__(
        self,
        open_model: Callable[[], Loaded],
        model_id: str,
        turn: AbstractContextManager[object] | None = None,
        max_items: int = ITEMS_A_BATCH,
        max_characters: int = CHARACTERS_A_BATCH,
    ) -> None:
        """Prepare, without loading.

        Args:
            open_model: called once at most, on the model's thread.
            model_id: name and revision, as they stand on the manifest.
            turn: entered while the model is opened and for each batch; models that share it run one at a time, so that
                one batch bounds the memory of them all.
            max_items: most items of a batch.
            max_characters: most characters of a batch of more than one item.
        """
        self._model_id = model_id
        held = turn or nullcontext()
        thread = ModelThread(
            lambda: _Packing(open_model, held), model_id, None, _MEMORY_BYTES, max_items, max_characters
        )
        self._thread = thread
        # The thread knows nothing of this object, so it ends when nobody holds this one, or with the process.
        self._stop = weakref.finalize(self, thread.stop)

    @property
    def model_id(self) -> str:
        """Name and revision of the model."""
        return self._model_id

    async def load(self) -> Loaded:
        """The model, opened now if it was not; to be looked at, not to be run. Raises what opening raises."""
        # Shielded, because the future is everybody's, and a cancelled caller would cancel it.
        return (await asyncio.shield(asyncio.wrap_future(self._thread.model()))).model

    async def ask(self, items: Sequence[Item], *, fresh: bool = False) -> list[Said]:
        """What the model says of each item, in their order.

        Args:
            items: what it is asked about.
            fresh: look at each of them now and remember nothing: for a bot that is being timed.

        Raises:
            ValueError: it says of one of them what is no number.
            Exception: what opening the model raises, or running it.
        """
        if not items:
            return []
        texts = [json.dumps([readable(text) for text in item], ensure_ascii=False) for item in items]
        keys = None if fresh else [blake2b(text.encode(), digest_size=16).digest() for text in texts]
        request = Request(texts, keys)
        self._thread.submit(request)
        if request.done.done():
            request.done.result()  # raises what went wrong
        else:
            await asyncio.wrap_future(request.done)
        said = [_unpacked(packed) for packed in request.packed]
        # Told to those who ask for it and not to all of its batch: NaN for one text is no fault of another's.
        if not all(np.isfinite(one.values).all() for one in said):
            raise ValueError(f"The model {self._model_id} returned what is no number (NaN or infinity).")
        return said

    def step_back(self) -> None:
        """Run only with what of the processors others leave, from now on: what is timed by others goes before."""
        self._thread.step_back()

    def close(self) -> None:
        """Stop after the batch in progress and drop the model. Calls that still wait fail."""
        self._stop()


class _Packing(Generic[Loaded]):
    """A loaded model whose words are packed: a byte for truncated, then float32 in little-endian order."""

    def __init__(self, open_model: Callable[[], Loaded], turn: AbstractContextManager[object]) -> None:
        self._turn = turn
        with turn:
            self.model = open_model()

    def run(self, texts: Sequence[str]) -> list[bytes]:
        items: list[Item] = [tuple(json.loads(text)) for text in texts]
        with self._turn:
            said = self.model.run(items)
        return [bytes([one.truncated]) + np.asarray(one.values, dtype="<f4").tobytes() for one in said]


def _unpacked(packed: bytes) -> Said:
    return Said(np.frombuffer(packed, dtype="<f4", offset=1).astype(np.float32, copy=False), bool(packed[0]))
