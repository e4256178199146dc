"""Shared models: the local models of a node, each loaded once, with batches filled from all workers there."""

from __future__ import annotations

import contextlib
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

    def begun(self) -> None:
        """Nothing: that it answers says that it has begun."""

    def run(self, key: str, texts: Sequence[str], is_timed: bool) -> list[bytes]:
        """What a model says of each text; raises NotOpen."""
        threads = self._opened(key)
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
        """What an attribute of an opened model is, or gives; raises AttributeError where there is none, and NotOpen."""
        return _look(self._opened(key)[0].model().result(), names, arguments)

    def _opened(self, key: str) -> list[ModelThread[Any]]:
        if key not in self._threads:
            raise NotOpen(key)
        return self._threads[key]


def _look(model: Any, names: Sequence[str], arguments: Sequence[Any] | None) -> Any:  # noqa: ANN401 - see ``look``
    for name in names:
        model = getattr(model, name)
    if arguments is None:
        return _CALLABLE if callable(model) else model
    return model(*arguments)


_CALLABLE: Final = "<callable>"
Call = Callable[..., Any]  # a method of the actor by its name, with its arguments; raises ModelsLost where it is gone


class ModelsLost(Exception):  # noqa: N818 - an outcome: the worker opens the model itself
    """The actor of this node is gone."""


class NotOpen(Exception):  # noqa: N818 - an outcome: the worker has it opened again
    """The actor has no such model, as after it was lost and began anew."""


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
        found: list[bytes] | None = self._asked("run", texts, self._is_timed)
        return self._here.run(texts) if found is None else found

    def look(self, names: tuple[str, ...], arguments: Sequence[Any] | None = None) -> Any:  # noqa: ANN401 - whatever it is
        """See ``NodeModels``."""
        found = self._asked("look", names, arguments)
        return found if self._here is None else _look(self._here, names, arguments)

    def _asked(self, method: str, *arguments: Any) -> Any:  # noqa: ANN401 - see ``NodeModels``
        """What the actor answers; None where it is gone, and the model is open here from now on."""
        while self._here is None:
            try:
                return self._call(method, self._key, *arguments)
            except NotOpen:
                with contextlib.suppress(ModelsLost):  # then the next call says so, too
                    self._call("open", self._key, *self._opening)
            except ModelsLost:
                self._here = self._open_model()
        return None

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
