"""Shared models: the local models of a node, each loaded once, with batches filled from all workers there."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any, Final

from ...knowledge.models.batching import ModelThread, Request

CALLS_AT_ONCE: Final = 64  # to the models of a node: each waits for its batch
_MEMORY: Final = 32 << 20  # bytes of outputs that a thread remembers: what one worker embedded, another need not


class NodeModels:
    """An actor on each node; workers there open models in it, and send it texts.

    A model runs in as many threads at once as workers want it; a text always goes to the same thread, so that it is
    run once. What a bot that is being timed asks has a thread of its own, without a memory.

    Args:
        count: batches of a model at once; 1 where it runs on a graphics processor.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._opening = threading.Lock()
        self._threads: dict[str, list[ModelThread[Any]]] = {}

    def open(self, key: str, packed: bytes, texts: int, characters: int) -> None:
        """Open a model, unless it is; raises what opening raises."""
        with self._opening:
            if key in self._threads:
                return
            opened = pickle.loads(packed)()  # noqa: S301 - of a worker of this cluster
            memories = [*[_MEMORY] * self._count, 0]
            self._threads[key] = [ModelThread(lambda: opened, key, None, each, texts, characters) for each in memories]

    def run(self, key: str, texts: Sequence[str], is_timed: bool) -> list[bytes] | None:
        """What a model says of each text; None where it is not open, as after the actor was lost and began anew."""
        threads = self._threads.get(key)
        if threads is None:
            return None
        keys = [blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts]
        found: list[bytes] = [b""] * len(texts)
        waiting = []
        for number, thread in enumerate(threads):
            is_last = number == self._count
            mine = [is_last or key[0] % self._count == number for key in keys] if is_timed == is_last else []
            places = [at for at, is_mine in enumerate(mine) if is_mine]
            if places:
                request = Request([texts[at] for at in places], None if is_last else [keys[at] for at in places])
                thread.submit(request)
                waiting.append((places, request))
        for places, request in waiting:
            request.done.result()
            for at, packed in zip(places, request.packed, strict=True):
                found[at] = packed
        return found

    def look(self, key: str, names: Sequence[str], arguments: Sequence[Any] | None) -> Any:  # noqa: ANN401 - whatever it is
        """What an attribute of an opened model is, or gives; raises AttributeError where there is none."""
        found = self._threads[key][0].model().result()
        for name in names:
            found = getattr(found, name)
        if arguments is None:
            return _CALLABLE if callable(found) else found
        return found(*arguments)


_CALLABLE: Final = "<callable>"
Call = Callable[..., Any]  # a method of the actor by its name, with its arguments; raises ModelsLost where it is gone


class ModelsLost(Exception):  # noqa: N818 - an outcome: the worker opens the model itself
    """The actor of this node is gone."""


class SharedRunner:
    """A model of the node, as a worker's thread asks it; where the actor is gone, the model is opened here."""

    def __init__(
        self, call: Call, key: str, open_model: Callable[[], Any], opening: tuple[bytes, int, int],
        is_timed: bool = False,
    ) -> None:  # fmt: skip
        self._call, self._key, self._open_model = call, key, open_model
        self._opening, self._is_timed = opening, is_timed
        self._here: Any = None

    def open(self) -> Any:  # noqa: ANN401 - a Runner
        """Have it opened; itself, or the model where there is no actor."""
        try:
            self._call("open", self._key, *self._opening)
        except ModelsLost:
            return self._open_model()
        return self

    def fresh(self) -> SharedRunner:
        """The same for bots that are being timed."""
        return SharedRunner(self._call, self._key, self._open_model, self._opening, is_timed=True)

    def run(self, texts: Sequence[str]) -> list[bytes]:
        """See ``Runner``."""
        while self._here is None:
            try:
                found: list[bytes] | None = self._call("run", self._key, texts, self._is_timed)
                if found is not None:
                    return found
                self._call("open", self._key, *self._opening)  # the actor began anew
            except ModelsLost:
                self._here = self._open_model()
        outputs: list[bytes] = self._here.run(texts)
        return outputs

    def look(self, names: tuple[str, ...], arguments: Sequence[Any] | None = None) -> Any:  # noqa: ANN401 - whatever it is
        """See ``NodeModels``."""
        return self._call("look", self._key, names, arguments)

    @property
    def encoder(self) -> _Seen:
        """The encoder behind it, to be looked at."""
        return _Seen(self, "encoder")

    @property
    def model(self) -> _Seen:
        """The model behind it, to be looked at."""
        return _Seen(self, "model")


class _Seen:
    """A model elsewhere: its attributes, and what its methods give."""

    def __init__(self, runner: SharedRunner, name: str) -> None:
        self._runner, self._name = runner, name

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever it is
        found = self._runner.look((self._name, name))
        return (lambda *given: self._runner.look((self._name, name), given)) if found == _CALLABLE else found


def opener(call: Call) -> Callable[..., Any]:
    """What opens models of a worker, see ``OPENER``: in the actor, or here where they can't be sent there."""

    def open_shared(kind: str, model_id: str, open_model: Callable[[], Any], texts: int, characters: int) -> Any:  # noqa: ANN401 - a Runner
        from ray import cloudpickle

        try:
            packed = cloudpickle.dumps(open_model)
        except Exception:  # noqa: BLE001 - of whatever the user's embedder is made of
            return open_model()
        return SharedRunner(call, f"{kind} {model_id}", open_model, (packed, texts, characters)).open()

    return open_shared
