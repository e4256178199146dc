"""Reading a streamed chat completion: its events, put together to the body that an answer in one piece has."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator

from .openai_reply import plain_text
from .retrying import AttemptFailed

_SAID = ("content", "reasoning_content", "reasoning", "refusal")
_END_PATIENCE = 1.0  # seconds for an endpoint to end a stream that it called done; its connection is good for more then


async def read_streamed(pieces: AsyncIterator[bytes]) -> object:
    """The JSON of a whole answer, from the pieces of a body as they come.

    Raises:
        AttemptFailed: the stream broke off before the answer was complete.
        ValueError: what came is no JSON.
    """
    answer = StreamedAnswer()
    events = _events(pieces)
    async for event in events:
        if event.startswith("[DONE]"):
            answer.is_done = True
            break
        answer.add(json.loads(event))
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_END_PATIENCE):
            async for _ in events:
                pass
    return answer.body()


async def _events(pieces: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """The data of each event, as the HTML standard has it (9.2.6); lines end with a line feed and nothing else."""
    data: list[bytes] = []
    rest = b""
    async for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in (each.removesuffix(b"\r") for each in lines):
            if line.startswith(b"data:"):
                data.append(line[5:].removeprefix(b" "))
            elif not line and data:
                yield b"\n".join(data).decode()
                data = []
    if rest.startswith(b"data:"):
        data.append(rest[5:].removeprefix(b" "))
    if data:
        yield b"\n".join(data).decode()


class StreamedAnswer:
    """A chat completion that is put together from its chunks."""

    def __init__(self) -> None:
        self.is_done = False
        self._head: dict[str, object] = {}
        self._said: dict[str, list[str]] = {name: [] for name in _SAID}
        self._called: list[object] = []
        self._finish: object = None
        self._error: object = None

    def add(self, chunk: object) -> None:
        """Take one chunk; whatever it has that no chat completion has is passed over."""
        if not isinstance(chunk, dict):
            return
        self._error = self._error or chunk.get("error")
        self._head |= {name: value for name, value in chunk.items() if name not in ("choices", "error") and value}
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return
        self._finish = choice.get("finish_reason") or self._finish
        delta = choice.get("delta")
        if isinstance(delta, dict) and isinstance(called := delta.get("tool_calls"), list):
            self._called += called  # in pieces, as they come: that there were some explains a blank answer
        for name in _SAID:
            if isinstance(delta, dict) and (piece := plain_text(delta.get(name))) is not None:
                self._said[name].append(piece)

    def body(self) -> dict[str, object]:
        """The answer as it would have come in one piece.

        Raises:
            AttemptFailed: its end never came.
        """
        if self._error:
            return {"error": self._error}
        said = {name: "".join(pieces) for name, pieces in self._said.items() if pieces}
        if not (self.is_done or self._finish):
            length = sum(map(len, said.values()))
            raise AttemptFailed(f"the stream broke off after {length} characters")
        if said.get("refusal") and not said.get("content"):
            said.pop(
                "content", None
            )  # nothing was said before the refusal, though a first chunk often has a blank text
        message = {"role": "assistant", "content": None, **said}
        if self._called:
            message["tool_calls"] = self._called
        return {**self._head, "choices": [{"index": 0, "message": message, "finish_reason": self._finish}]}
