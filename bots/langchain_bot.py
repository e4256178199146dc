"""LangChain bots: any Runnable, with what its retrievers found and its models used caught by callbacks."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from .base import Context, Identity, Reply, Usage
from .contexts import as_contexts

if TYPE_CHECKING:
    from langchain_core.runnables import Runnable

_ANSWER_KEYS = ("answer", "output", "result", "text", "response")
_DOCUMENT_KEYS = ("source_documents", "context", "documents")


class LangChainBot:
    """A chain, graph or agent as a bot; every question has callbacks of its own, so contexts never mix."""

    def __init__(
        self,
        name: str,
        runnable: "Runnable[Any, Any]",
        identity: Identity,
        input_key: str | None = None,
        output_key: str | None = None,
    ) -> None:
        """Name the keys where the chain takes and gives mappings.

        Args:
            name: the bot's name in reports.
            runnable: anything with ``ainvoke``.
            identity: what it is made of.
            input_key: None hands over the text; ``messages`` one user message, for agents; any other key
                a mapping with the question under it.
            output_key: where the answer stands in a mapping; None tries the usual names.
        """
        self.name = name
        self.identity = identity
        self.warnings: tuple[str, ...] = ()
        self._runnable = runnable
        self._input_key = input_key
        self._output_key = output_key

    async def prepare(self) -> None:
        """Import what callbacks need, before the clock starts."""
        _catcher_class()

    async def reply(self, question: str) -> Reply:
        """Invoke the chain. Raises TypeError when its output holds no answer, and whatever the chain raises."""
        catcher = _catcher_class()()
        output = await self._runnable.ainvoke(self._input(question), config={"callbacks": [catcher]})
        contexts: tuple[Context, ...] | None = tuple(catcher.contexts) if catcher.retrieved else None
        if contexts is None and isinstance(output, Mapping):
            contexts = _documents(output)
        answer = _answer(output, self._output_key)
        return Reply(answer, contexts, Usage(tokens_in=catcher.tokens_in, tokens_out=catcher.tokens_out))

    async def close(self) -> None:
        """Nothing is held."""

    def _input(self, question: str) -> object:
        if self._input_key is None:
            return question
        if self._input_key == "messages":
            return {"messages": [{"role": "user", "content": question}]}
        return {self._input_key: question}


def _answer(output: object, key: str | None) -> str | None:
    """The text in a chain's output: a text, a message, or a mapping with either in it."""
    if output is None or isinstance(output, str):
        return output
    if isinstance(output, Mapping):
        return _answer(_chosen(output, key), None)
    text = getattr(output, "text", None) if hasattr(output, "content") else None
    if isinstance(text, str):
        return str(text)
    raise TypeError(f"the chain gave a {type(output).__name__}; wanted a text, a message or a mapping with one")


def _chosen(output: Mapping[str, object], key: str | None) -> object:
    present = ", ".join(map(str, output)) or "(none)"
    if key is not None:
        if key not in output:
            raise TypeError(f"the chain's output has no key {key!r} (output_key); it has {present}")
        return output[key]
    for usual in _ANSWER_KEYS:
        if usual in output:
            return output[usual]
    messages = output.get("messages")
    if isinstance(messages, Sequence) and messages and not isinstance(messages, str):
        return messages[-1]
    raise TypeError(
        f"the chain's output has none of the keys {', '.join(_ANSWER_KEYS)} or messages; it has {present}. "
        "Say with output_key where the answer stands."
    )


def _documents(output: Mapping[str, object]) -> tuple[Context, ...] | None:
    """Documents that a chain passed on in its output, where no retriever was seen."""
    for key in _DOCUMENT_KEYS:
        found = output.get(key)
        if isinstance(found, list | tuple) and all(hasattr(each, "page_content") for each in found):
            return as_contexts(found)
    return None


@cache
def _catcher_class() -> type[Any]:
    """The callbacks of one question: what retrievers found and what models used; made once LangChain is there."""
    from langchain_core.callbacks import BaseCallbackHandler

    class Catcher(BaseCallbackHandler):
        run_inline = True  # it only appends to lists: no thread is worth its price

        def __init__(self) -> None:
            self.contexts: list[Context] = []
            self.retrieved = False
            self.tokens_in: int | None = None
            self.tokens_out: int | None = None

        def on_retriever_end(self, documents: Sequence[object], **_run: object) -> None:
            self.retrieved = True
            self.contexts += as_contexts(documents) or ()

        def on_llm_end(self, response: Any, **_run: object) -> None:  # noqa: ANN401 - LangChain's LLMResult
            for generation in (each for group in response.generations for each in group):
                used = getattr(getattr(generation, "message", None), "usage_metadata", None)
                if used:
                    self.tokens_in = (self.tokens_in or 0) + int(used.get("input_tokens", 0))
                    self.tokens_out = (self.tokens_out or 0) + int(used.get("output_tokens", 0))

    return Catcher
