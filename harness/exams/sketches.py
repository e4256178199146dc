"""Sketches: what a bot's reply may look like before it is asked, so that a run can be reckoned beforehand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from ...bots.base import Context, Reply, Usage
from ...bots.models import ModelSettings
from ...bots.settings import FaqSettings, FullContextSettings, RagSettings

if TYPE_CHECKING:
    from ...bots.settings import BotSettings
    from ...knowledge.questions import Question
    from ...knowledge.reading import Knowledge

CHARACTERS_A_TOKEN: Final = 4  # of English prose; other languages take more tokens
ANSWER: Final = "It is as it says in the documents, and so it will stay for now. " * 4  # where none is expected
CHUNKS: Final = 4  # contexts of a bot of one's own, of which nothing is known
CHUNK_SIZE: Final = 600
FILLER: Final = "This is how it stands in the documents that the bot has read. "

Sketch = Callable[[str, "Question"], Reply]


def tokens(characters: float) -> int:
    """How many tokens so many characters may be."""
    return round(characters / CHARACTERS_A_TOKEN)


def sketches(
    bots: Mapping[str, BotSettings], models: Mapping[str, ModelSettings], knowledge: Callable[[], Knowledge]
) -> Sketch:
    """A function of a bot's name and a question that sketches the reply.

    The answer is as long as the first expected one. Contexts are pieces of the documents, as many and as long as the
    bot's settings have it. Usage is what the bot's own language model would take; None where it has none, or where
    nothing is known of it.
    """

    @cache
    def contexts(bot: str) -> tuple[Context, ...] | None:
        match bots[bot]:
            case FaqSettings():
                return None
            case FullContextSettings():
                return tuple(Context(each.text, each.id) for each in knowledge().documents)
            case RagSettings(top_k=top_k, chunk_size=chunk_size):
                text = "\n".join(each.text for each in knowledge().documents) or FILLER * chunk_size
                starts = range(0, max(1, len(text) - chunk_size), max(1, len(text) // top_k))
                return tuple(Context(text[start : start + chunk_size]) for start in starts[:top_k])
        return tuple(Context((FILLER * CHUNK_SIZE)[:CHUNK_SIZE]) for _ in range(CHUNKS))

    @cache
    def context_length(bot: str) -> int:
        return sum(len(context.text) for context in contexts(bot) or ())

    def sketch(bot: str, question: Question) -> Reply:
        answer = next((expected for expected in question.expected if expected.strip()), ANSWER)
        model = _model(bots[bot], models)
        usage = Usage()
        if model is not None:
            taken, given = tokens(len(question.text) + context_length(bot)), tokens(len(answer))
            usage = Usage(taken, given, model.prices.cost(taken, given) if model.prices else None)
        return Reply(answer, contexts(bot), usage)

    return sketch


def _model(bot: BotSettings, models: Mapping[str, ModelSettings]) -> ModelSettings | None:
    """The language model of a bot of ours; None where it has none."""
    if not isinstance(bot, (FullContextSettings, RagSettings)):
        return None
    settings = models.get(bot.model) or ModelSettings(model=bot.model)
    return None if settings.kind == "extractive" else settings
