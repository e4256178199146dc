"""One question to a chat model: from contexts to a prompt, from the completion to a Reply."""

import time
from collections.abc import Mapping, Sequence

from .base import Context, Reply
from .chat import ChatModel, ChatRequest
from .prompting import Template

NOTHING_FOUND = "(Nothing was found.)"


def render_context(context: Context, number: int, title: str = "") -> str:
    """A passage with its number, and the title and id of its document above it."""
    named = f"{title} ({context.document})" if title and title != context.document else context.document
    heading = f"[{number}] {named}".rstrip()
    return f"{heading}\n{context.text}"


def render_contexts(contexts: Sequence[Context], titles: Mapping[str, str]) -> str:
    """Passages as they stand in the prompt, in their order.

    Args:
        contexts: the passages.
        titles: document id -> title, where there is one.
    """
    rendered = (render_context(each, number, titles.get(each.document, "")) for number, each in enumerate(contexts, 1))
    return "\n\n".join(rendered) or NOTHING_FOUND


async def answer_from(
    model: ChatModel,
    template: Template,
    question: str,
    contexts: tuple[Context, ...],
    rendered: str,
    trace: Mapping[str, object],
) -> Reply:
    """Ask the model with these contexts, rendered already, in its prompt.

    The trace gains the milliseconds of generation and what the model says of it. Raises what
    ``ChatModel.complete`` raises.
    """
    started = time.perf_counter()
    completion = await model.complete(
        ChatRequest(
            prompt=template.fill(rendered, question),
            instructions=template.text,
            question=question,
            contexts=contexts,
        )
    )
    generate_ms = (time.perf_counter() - started) * 1000 - completion.queue_ms
    return Reply(
        answer=completion.text,
        contexts=contexts,
        usage=completion.usage,
        reasoning=completion.reasoning,
        declined=completion.declined,
        queue_ms=completion.queue_ms,
        attempts_ms=completion.attempts_ms,
        trace={**trace, "generate_ms": generate_ms, **completion.trace},
    )
