"""What is asked of a model's thread: requests, the model that runs there, and who keeps what it says."""

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Protocol


class VectorKeeper(Protocol):
    """Keeps what models say from one run to the next; called from the model's thread only."""

    def load(self, model_id: str, keys: list[bytes]) -> dict[bytes, bytes]:
        """What is kept of these texts; a key that is not kept is left out."""
        ...

    def save(self, model_id: str, items: list[tuple[bytes, bytes]]) -> None:
        """Keep these; a key that is kept already may come again, with the same bytes."""
        ...


class Runner(Protocol):
    """A loaded model, as the thread sees it: what it says of a text is bytes."""

    def run(self, texts: Sequence[str]) -> list[bytes]:
        """What the model says of each text, in their order; the texts of a batch are of about equal length."""
        ...


class Request:
    """Some texts of one caller: ``done`` is set when ``packed`` holds what the model says of each.

    Texts without keys are not looked up, shared or kept.
    """

    def __init__(self, texts: Sequence[str], keys: Sequence[bytes] | None = None) -> None:
        self.texts = texts
        self.keys: Sequence[bytes | None] = keys if keys is not None else [None] * len(texts)
        self.packed: list[bytes] = [b""] * len(texts)
        self.missing = len(texts)
        self.done: Future[None] = Future()

    def fill(self, place: int, packed: bytes) -> None:
        """Hand over what the model says of one text."""
        self.packed[place] = packed
        self.missing -= 1
        if self.missing == 0 and self._is_awaited():
            self.done.set_result(None)

    def fail(self, error: BaseException) -> None:
        """Hand over what went wrong; what comes later is ignored."""
        if self._is_awaited():
            self.done.set_exception(error)

    def _is_awaited(self) -> bool:
        # After this a late cancel() has no effect, so that setting the outcome can't fail.
        return not self.done.done() and self.done.set_running_or_notify_cancel()
