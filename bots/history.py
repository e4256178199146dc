"""What came before a question: as much of it as fits, and the question put so that it can be understood alone."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Final, Literal, TypeVar

from ..knowledge import Message
from ..knowledge.questions.draft_rules import POINTING
from .bot import Reply, Usage
from .chat.extractive import EMPTY_WORDS
from .chat.model import ChatModel, ChatRequest, Completion
from .settings import HistorySettings

HistoryStrategy = Literal["none", "concatenate", "condense"]

_BYTES_PER_TOKEN: Final = 4  # OpenAI's rule of thumb for English
_CONDENSE: Final = Path(__file__).parent / "prompts" / "condense.md"
_FILLED: Final = re.compile(r"\{(history|question)\}")
_WORD: Final = re.compile(r"\w+(?:['\u2019]\w+)?")
# Words that go on from what was said, beside those that point to it. English only.
_GOING_BACK: Final = re.compile(r"\b(?:also|again|else|neither|too(?=\s*(?:[?.!,]|$)))\b", re.I)
# Where "there" points to nothing.
_BEING: Final = re.compile(
    r"\b(?:is|are|was|were)\s+there\b|\bthere\s+(?:is|are|was|were)\b", re.I
)  # points to nothing
_GOING_ON: Final = re.compile(r"(and|but|or|so|then|what about|how about|what if|why|why not|since when)\b", re.I)
_FEW: Final = 2  # content words; a question with fewer says too little by itself
_SAYS_LITTLE: Final = EMPTY_WORDS | {"am", "may", "must", "no", "not", "ok", "okay", "please", "thanks", "yes"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as a bot puts it to its retriever and its model.

    Attributes:
        question: the text that is searched with, and that a model which reads no messages works from.
        shown: the question as it stands in the prompt.
        messages: the earlier messages that a language model is sent before the prompt.
        trace: what was done, for the row; empty without a history.
        used: the model call that it took, if one.
    """

    question: str
    shown: str
    messages: tuple[Message, ...] = ()
    trace: dict[str, object] = field(default_factory=dict)
    used: Completion | None = None

    def counted(self, reply: Reply) -> Reply:
        """The reply with what was done to the question, and with the model call that it took, if one."""
        if self.used is None:
            return replace(reply, trace={**self.trace, **reply.trace}) if self.trace else reply
        used = self.used
        return replace(
            reply,
            usage=Usage(
                _total(used.usage.tokens_in, reply.usage.tokens_in),
                _total(used.usage.tokens_out, reply.usage.tokens_out),
                _total(used.usage.cost, reply.usage.cost),
            ),
            queue_ms=used.queue_ms + reply.queue_ms,
            attempts_ms=(*used.attempts_ms, *reply.attempts_ms),
            trace={**self.trace, **reply.trace},
        )


Number = TypeVar("Number", int, float)


def _total(first: Number | None, second: Number | None) -> Number | None:
    """The sum; None where either is not known, since the other alone would be too little."""
    return None if first is None or second is None else first + second


def history_identity(settings: HistorySettings) -> dict[str, object]:
    """What a bot's identity says of its settings; nothing where they are the default."""
    return settings.model_dump(include={"history", "history_tokens"}, exclude_defaults=True)


def history_prompts(settings: HistorySettings, model: ChatModel) -> dict[str, str]:
    """The prompt by which a language model condenses, for a bot's identity; none where it does not."""
    return {} if model.embedded or settings.history != "condense" else {"condense": condense_prompt()}


async def put(
    question: str, history: Sequence[Message], strategy: HistoryStrategy, tokens: int, model: ChatModel | None = None
) -> Asked:
    """The question with as much of what came before as the strategy wants and the budget holds.

    Args:
        question: the user's last message.
        history: the messages before it, oldest first.
        strategy: ``none`` leaves them out; ``concatenate`` searches with all of the user's messages and shows the model
            the whole exchange; ``condense`` makes one question that stands by itself: by the model, or by rules where
            it is no language model.
        tokens: of the history at most, about; the oldest messages are left out first.
        model: what condenses; None does so by rules.

    Raises what ``ChatModel.complete`` raises.
    """
    if not history or strategy == "none":
        return Asked(question, question)
    fitting = newest(history, tokens)
    trace: dict[str, object] = {"history": strategy}
    if len(fitting) < len(history):
        trace["history_messages_cut"] = len(history) - len(fitting)
    if strategy == "concatenate":
        return Asked(" ".join((*_of_user(fitting), question)), question, fitting, trace)
    if model is None or model.embedded:
        standing = standalone(question, fitting)
        return Asked(standing, standing, trace={**trace, "question_asked": standing})
    values = {"question": question, "history": transcript(fitting)}
    prompt = _FILLED.sub(lambda place: values[place[1]], condense_prompt())  # what is filled in is not looked at again
    made = await model.complete(ChatRequest(prompt=prompt, question=question))
    standing = (made.text or "").strip() or question
    return Asked(standing, standing, trace={**trace, "question_asked": standing}, used=made)


def asked_again(question: str, history: Sequence[Message], trace: Mapping[str, object]) -> Asked:
    """The question as ``put`` put it, by what a stored answer says of it.

    Args:
        question: the user's last message.
        history: the messages before it.
        trace: of the answer.
    """
    if trace.get("history") == "concatenate":
        cut = trace.get("history_messages_cut")
        fitting = tuple(history[cut if isinstance(cut, int) else 0 :])
        return Asked(" ".join((*_of_user(fitting), question)), question, fitting)
    standing = trace.get("question_asked")
    text = standing if isinstance(standing, str) else question
    return Asked(text, text)


def newest(history: Sequence[Message], tokens: int) -> tuple[Message, ...]:
    """The last messages that take so many tokens together, about; none is cut in the middle."""
    room = tokens * _BYTES_PER_TOKEN
    recent: list[Message] = []
    for message in reversed(history):
        room -= len(message["content"].encode("utf-8", "replace"))
        if room < 0:
            break
        recent.append(message)
    return tuple(reversed(recent))


def standalone(question: str, history: Sequence[Message]) -> str:
    """The question, after those messages of the user without which it can't be understood.

    A question that points back ("Can I still get the large one?"), goes on ("And for two?") or says next to nothing
    takes the user's message before it along, and so on until one stands by itself. Rules for English; a question in
    another language is taken as it is unless it is very short.

    >>> standalone("How much is it?", [{"role": "user", "content": "Do you sell helmets?"}])
    'Do you sell helmets? How much is it?'
    """
    taken = [question]
    for earlier in reversed(_of_user(history)):
        if not leans_on_earlier(taken[0]):
            break
        taken.insert(0, earlier)
    return " ".join(taken)


def leans_on_earlier(text: str) -> bool:
    """Whether a text needs what was said before it to be understood."""
    text = _BEING.sub(" ", text.strip())
    if POINTING.search(text) or _GOING_BACK.search(text) or _GOING_ON.match(text):
        return True
    return sum(word.casefold() not in _SAYS_LITTLE for word in _WORD.findall(text)) < _FEW


def transcript(history: Sequence[Message]) -> str:
    """The messages as lines, each with who wrote it."""
    return "\n".join(f"{each['role'].capitalize()}: {each['content']}" for each in history)


def _of_user(history: Sequence[Message]) -> list[str]:
    return [each["content"] for each in history if each["role"] == "user"]


@cache
def condense_prompt() -> str:
    """The built-in instructions for making a question stand by itself, with {history} and {question} in them."""
    return _CONDENSE.read_text("utf-8").strip()
