"""The judge's one call about a whole conversation, and which of its questions the metrics of a run want asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from ..declaration import Function, artefact
from ..facts import Conversation, Turn, is_blank
from ..score import NotApplicable, Reason
from ..tools import Judge
from .call import Block, ItemCall, ItemList, item, unmarked
from .verdicts import Verdicts

MOST_TURNS: Final = 60  # a longer conversation is no longer judged as a whole


@dataclass(frozen=True, slots=True)
class ConversationVerdicts:
    """Verdicts on the answers of a conversation, in the order of its answered turns; empty if not asked."""

    relevant: Verdicts = ()
    complete: Verdicts = ()
    on_topic: Verdicts = ()
    in_role: Verdicts = ()
    retained: Verdicts = ()
    reached: Verdicts = ()
    user_in_role: Verdicts = ()  # of all messages of the user


# By the field of the reply, the word for yes in each of its items.
_WORDS: Final = {
    "relevant": "relevant",
    "complete": "complete",
    "on_topic": "on_topic",
    "in_role": "in_role",
    "retained": "retained",
    "reached": "reached",
    "user_in_role": "in_role",
}


@dataclass(frozen=True, slots=True)
class JudgeConversation(ItemCall[ConversationVerdicts]):
    """All that is asked about a conversation, in one request.

    Attributes:
        conversation: its turns.
        asked: which lists of verdicts are wanted, by the names of the fields of ``ConversationVerdicts``.
        goal: what the user wants; shown where it is asked about.
    """

    name: ClassVar[str] = "conversation"
    answer_type: ClassVar[type[Any]] = ConversationVerdicts

    conversation: Conversation
    asked: tuple[str, ...]
    goal: str = ""

    def lists(self) -> tuple[ItemList, ...]:
        """One for each aspect; of answers, or of the user's messages."""
        answers = tuple(f"t{turn.number}" for turn in self.conversation.answered)
        users = tuple(f"u{turn.number}" for turn in self.conversation.turns)
        return tuple(
            ItemList(field, field, (users if field == "user_in_role" else answers) if field in self.asked else (), word)
            for field, word in _WORDS.items()
        )

    def shown(self) -> Sequence[Block]:
        """Role, topics, goal and facts where they matter, and the transcript."""
        told = self.conversation
        about = [
            Block(label, unmarked(text))
            for label, fields, text in (
                ("role", {"in_role"}, told.role),
                ("topics", {"on_topic"}, "; ".join(told.topics)),
                ("goal", {"reached", "user_in_role"}, self.goal),
                ("facts", {"user_in_role"}, "; ".join(f"{name}: {value}" for name, value in told.facts.items())),
            )
            if fields & {*self.asked} and not is_blank(text)
        ]
        return (*about, Block("conversation", "\n".join(self._lines())))

    def _lines(self) -> list[str]:
        lines = [item("-", f"{who}: {text}").removeprefix("[-] ") for who, text in self.conversation.before]
        for turn in self.conversation.turns:
            lines.append(item(f"u{turn.number}", turn.question))
            lines.append(_answer_line(turn))
            if "complete" in self.asked and turn.expected:
                lines.append(item("-", f"expected: {turn.expected[0]}").removeprefix("[-] "))
        return lines


def _answer_line(turn: Turn) -> str:
    return "(no answer)" if turn.answer is None or is_blank(turn.answer) else item(f"t{turn.number}", turn.answer)


def _wanted(field: str, meaning: str) -> Function:
    """An artefact that says that a metric wants this asked; it has no value where that can't be asked."""

    def asks(conversation: Conversation) -> bool:
        if field == "in_role" and is_blank(conversation.role):
            raise NotApplicable(Reason.ROLE_MISSING)
        if field == "on_topic" and not conversation.topics:
            raise NotApplicable(Reason.TOPICS_MISSING)
        if field == "user_in_role" and not conversation.is_simulated:
            raise NotApplicable(Reason.NOT_SIMULATED)
        if field == "reached" and conversation.goal_constraints:
            raise NotApplicable(Reason.UNDEFINED, message="the goal has constraints, which decide")
        if field != "user_in_role" and not conversation.answered:
            raise NotApplicable(Reason.ANSWER_MISSING)
        return True

    asks.__name__ = asks.__qualname__ = f"asks_{field}"
    asks.__doc__ = f"Whether the judge is asked {meaning}."
    return artefact(asks)


ASKS: Final = (
    _wanted("relevant", "which answers address their turn"),
    _wanted("complete", "which answers leave nothing open"),
    _wanted("on_topic", "which answers stay on the topics of the conversation"),
    _wanted("in_role", "which answers fit the bot's role"),
    _wanted("retained", "which answers remember what the user told"),
    _wanted("reached", "after which answer the goal is reached"),
    _wanted("user_in_role", "which messages a simulated user would write"),
)


@artefact(parts=tuple(f"asks_{field}" for field in _WORDS), calls=("conversation",))
async def conversation_verdicts(
    conversation: Conversation,
    judge: Judge,
    goal: str = "",
    asks_relevant: bool | None = None,
    asks_complete: bool | None = None,
    asks_on_topic: bool | None = None,
    asks_in_role: bool | None = None,
    asks_retained: bool | None = None,
    asks_reached: bool | None = None,
    asks_user_in_role: bool | None = None,
) -> ConversationVerdicts:
    """The judge's verdicts on the turns of a conversation, in one request for all metrics that want some."""
    wanted = (
        asks_relevant, asks_complete, asks_on_topic, asks_in_role, asks_retained,
        asks_reached and not is_blank(goal), asks_user_in_role,
    )  # fmt: skip
    asked = tuple(field for field, is_wanted in zip(_WORDS, wanted, strict=True) if is_wanted)
    if not asked:
        return ConversationVerdicts()
    if len(conversation.turns) > MOST_TURNS:
        raise NotApplicable(Reason.CONVERSATION_TOO_LONG, turns=len(conversation.turns), most=MOST_TURNS)
    return await judge.ask(JudgeConversation(conversation, asked, goal))
