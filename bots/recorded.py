"""The recorded bot: answers that were recorded elsewhere, looked up by their question."""

from collections.abc import Sequence
from dataclasses import replace

from .. import InputError
from ..knowledge import Message, Recorded, RecordedSet, open_recorded
from .bot import Context, Identity, Reply, Usage
from .building import BotResources
from .settings import RecordedSettings
from .tool_calls import with_tool_calls


class RecordedBot:
    """Gives the recorded answers of another bot; nothing is asked. They are kept in memory.

    A bot does not know which repeat it is asked for, so the first of several recorded repeats counts.
    The recorded latency is the one attempt of the reply.
    """

    def __init__(self, name: str, recorded: RecordedSet, bot: str | None = None) -> None:
        """``bot`` chooses among the bots of the file; it may be left out when there is only one.

        Raises:
            InputError: there is no such bot in the file, or it holds several and none is chosen.
        """
        known = list(recorded.bots)
        if bot is None and len(known) > 1:
            raise InputError(
                f"{recorded.path} holds answers of {len(known)} bots; say with `bot` which: {', '.join(known)}."
            )
        if bot is not None and bot not in known:
            raise InputError(f"{recorded.path} holds no answers of the bot {bot}; it has {', '.join(known)}.")
        self.name = name
        self.warnings = recorded.warnings
        self._recorded = recorded
        self._bot = bot or (known[0] if known else "")
        self._replies: dict[str, Reply] | None = None

    @property
    def identity(self) -> Identity:
        """The file's content, and the bot chosen from it."""
        return Identity(kind="recorded", settings={"bot": self._bot}, parts={"answers": self._recorded.fingerprint})

    async def prepare(self) -> None:
        """Read the answers. Raises InputError when the file was changed meanwhile."""
        replies: dict[str, Reply] = {}
        passed_over = 0
        for each in self._recorded.graded():
            if each.bot != self._bot:
                continue
            attempts = () if each.latency_ms is None else (each.latency_ms,)
            reply = replace(recorded_reply(each), attempts_ms=attempts)
            stored = replies.setdefault(_key(each.question.text), reply)
            passed_over += stored is not reply
        self._replies = replies
        if passed_over:
            is_one = passed_over == 1
            further = "1 further answer" if is_one else f"{passed_over:,} further answers"
            why = f"{self._recorded.path}: {further} to a question that has one {'is' if is_one else 'are'} not used."
            self.warnings = (*self._recorded.warnings, why)

    async def reply(self, question: str, history: Sequence[Message] = ()) -> Reply:  # noqa: ARG002 - of every bot
        """The answer on record. Raises LookupError when there is none."""
        if self._replies is None:
            await self.prepare()
        found = (self._replies or {}).get(_key(question))
        if found is None:
            raise LookupError(f"{self._recorded.path} holds no answer of {self._bot} to this question")
        return found

    async def close(self) -> None:
        """Forget the answers."""
        self._replies = None


def _key(question: str) -> str:
    return " ".join(question.split())


def recorded_reply(each: Recorded) -> Reply:
    """What was recorded, as a bot would give it."""
    contexts = None
    if each.contexts is not None:
        documents = each.context_documents or ("",) * len(each.contexts)
        contexts = tuple(Context(text, document) for text, document in zip(each.contexts, documents, strict=True))
    reply = Reply(
        answer=each.answer,
        contexts=contexts,
        usage=Usage(each.tokens_in, each.tokens_out, each.cost),
    )
    return with_tool_calls(reply, each.tool_calls)


def build(name: str, settings: RecordedSettings, resources: BotResources) -> RecordedBot:
    """The bot of these settings; the file is opened."""
    return RecordedBot(name, open_recorded(resources.base / settings.answers), settings.bot)
