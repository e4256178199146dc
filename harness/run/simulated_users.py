"""Simulated users: a language model or rules write what a user says next, and every message is checked for its role."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Final, Literal

from ... import InputError
from ...bots import (
    ChatJudgeModel,
    ChatModelSettings,
    Endpoints,
    Prices,
    Turnstile,
    limiter_of,
    open_chat_model,
    redactor,
)
from ...knowledge import BatchingEmbedder, Message, Question
from ...knowledge.questions.conversations import SIMULATE, SIMULATED, Simulation
from ...metrics import Block, JudgeUnavailable, Reading, Unreadable
from ...metrics.constraints import unmet
from ...metrics.judge.call import TEXT, ObjectCall, Schema, record
from ...metrics.judge.judges import PromptedJudge
from ...metrics.judge.rendering import prompt_hash
from ...metrics.text import normalise, sentences, stem
from ...reports.store import RowWriter
from ...reports.store.judge_cache import CachedModel, CallNotes, JudgeCache
from ...reports.store.judge_calls import USER_CALL, CachedCall

Reason = Literal["", "goal", "max_turns", "repeated", "gave_up"]
_STATES: Final[Mapping[str, Reason]] = {"going_on": "", "reached": "goal", "given_up": "gave_up"}
_FIGURE: Final = re.compile(r"\w*\d[\w.,:/-]*\w|\w*\d\w")  # of one digit alone nothing can be said
_ASSISTANT: Final = re.compile(
    r"\b(?:how (?:can|may) i (?:help|assist)|as an ai|i(?:['\u2019]m| am) an? (?:ai|assistant|language model|bot)"
    r"|is there anything else i can|let me know if you need|happy to help you)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What a user says next."""

    text: str  # the message; blank where the user has stopped
    ended: Reason = ""  # why it has stopped; blank while it goes on


def invented(text: str, simulation: Simulation, history: Sequence[Message]) -> tuple[str, ...]:
    """Figures and codes in a user's message that stand neither in what it knows nor in what the bot has said.

    >>> invented("Order 1190, paid 45 euros.", Simulation("a refund", facts={"order": "1190"}), ())
    ('45',)
    """
    answers = [each["content"] for each in history if each["role"] == "assistant"]
    known = " ".join((simulation.goal, simulation.persona, simulation.opening, *simulation.facts.values(), *answers))
    figures = {_bare(found) for found in _FIGURE.findall(known)}
    return tuple(dict.fromkeys(found for found in _FIGURE.findall(text) if _bare(found) not in figures))


def _bare(figure: str) -> str:
    return re.sub(r"\W", "", figure).casefold()


def in_role(text: str) -> bool:
    """Whether a message is none that an assistant would write. English only."""
    return _ASSISTANT.search(text) is None


@dataclass(frozen=True, slots=True)
class SimulateUser(ObjectCall[UserMessage]):
    """One call of the model that plays a user: persona, goal, facts and what was said so far."""

    name: ClassVar[str] = USER_CALL
    is_verdict: ClassVar[bool] = False

    simulation: Simulation
    history: tuple[Message, ...]
    draw: int

    def shown(self) -> Sequence[Block]:
        """What the user is, and the conversation."""
        about = self.simulation
        facts = "\n".join(f"{name}: {value}" for name, value in about.facts.items()) or "(none)"
        lines = "\n".join(
            f"{'you' if each['role'] == 'user' else 'bot'}: {' '.join(each['content'].split())}"
            for each in self.history
        )
        return (
            Block("persona", about.persona or "an ordinary user"),
            Block("goal", about.goal),
            Block("facts", facts),
            Block("draw", str(self.draw)),
            Block("conversation", lines or "(nothing was said yet: write the first message)"),
        )

    def reminder(self) -> str:
        """What is wanted."""
        return "Reply with the JSON object only: the user's next message and the state."

    def schema(self) -> Schema:
        """A message and the state."""
        return record(message=TEXT, state={"type": "string", "enum": list(_STATES)})

    def read_found(self, found: Mapping[str, object]) -> Reading[UserMessage]:
        """The message. One that is out of role is complained about once, and then taken with its flaw."""
        message, state = found.get("message"), found.get("state")
        if not isinstance(state, str) or state not in _STATES:
            return Reading(None, f'"state" must be one of {", ".join(_STATES)}.')
        if _STATES[state] and self.history:
            return Reading(UserMessage("", _STATES[state]))
        if not isinstance(message, str) or not message.strip():
            return Reading(None, '"message" must be the user\'s next message.')
        text = " ".join(message.split())
        problem = ""
        if figures := invented(text, self.simulation, self.history):
            problem = f"The facts do not have {', '.join(figures)}: invent nothing."
        elif not in_role(text):
            problem = "You are the user and not the bot."
        return Reading(UserMessage(text), problem)


def scripted(simulation: Simulation, history: Sequence[Message]) -> UserMessage:
    """What a user says who follows rules.

    It begins with its opening. Asked for something, it tells the facts whose names the bot's questions have, and says
    that it doesn't know where none has; told something, it tells the next fact that it has not told yet, and then says
    once more what it wants. It gives up when it has nothing more to say, or didn't know three times running.
    """
    if not history:
        return UserMessage(simulation.first)
    own = [each["content"] for each in history if each["role"] == "user"]
    asked = [each for each in sentences(history[-1]["content"]) if each.rstrip("\"')").endswith("?") or _asks(each)]
    wanted = [name for name in simulation.facts if any(_names(sentence, name) for sentence in asked)]
    if wanted:
        return UserMessage(" ".join(_told(name, simulation.facts[name]) for name in wanted))
    if asked:
        return UserMessage("", "gave_up") if own[-2:] == [DONT_KNOW] * 2 else UserMessage(DONT_KNOW)
    rest = [name for name, value in simulation.facts.items() if not any(value in text for text in own)]
    if rest:
        return UserMessage(_told(rest[0], simulation.facts[rest[0]]))
    again = f"I would still like to {simulation.goal.rstrip('.')}."
    return UserMessage("", "gave_up") if again in own else UserMessage(again)


DONT_KNOW: Final = "I don't know."
_REQUEST: Final = re.compile(r"\b(?:please (?:give|tell|send|provide|share|enter)|i need your|tell me your)\b", re.I)


def _asks(sentence: str) -> bool:
    return _REQUEST.search(sentence) is not None


def _names(sentence: str, name: str) -> bool:
    words = {stem(word) for word in re.findall(r"\w+", sentence.casefold())}
    return all(stem(word) in words for word in re.findall(r"[^\W_]+", name.casefold()))


def _told(name: str, value: str) -> str:
    return f"My {name.replace('_', ' ')} is {value}."


def stopped(simulation: Simulation, history: Sequence[Message]) -> Reason:
    """Why the user stops before it says another word, by rules that hold for every user; blank where it goes on."""
    answers = [each["content"] for each in history if each["role"] == "assistant"]
    if answers and _is_met(simulation, answers):
        return "goal"
    if len(answers) >= simulation.max_turns:
        return "max_turns"
    if len(answers) > 2 and len({normalise(answer) for answer in answers[-3:]}) == 1:
        return "repeated"
    return ""


def _is_met(simulation: Simulation, answers: Sequence[str]) -> bool:
    """Whether the goal's constraints are met; of a scripted user without any, whether its words were said."""
    if simulation.goal_constraints:
        return not unmet("\n".join(answers), simulation.goal_constraints)
    if not simulation.script:
        return False
    answered = {stem(word) for answer in answers for word in re.findall(r"\w+", answer.casefold())}
    wanted = {stem(word) for word in re.findall(r"\w+", simulation.goal.casefold()) if len(word) > 3}
    return bool(wanted) and wanted <= answered


@dataclass(slots=True)
class SimulatedUsers:
    """All simulated users of a run; those without a script are played by one model."""

    model: ChatJudgeModel | None = None  # plays the users; None where all are scripted
    seed: int = 0  # of the suite; each repeat of a conversation draws another number from it
    cache: JudgeCache = field(default_factory=JudgeCache)
    prices: Prices | None = None  # of the model, where they are known
    _is_prepared: bool = False

    @property
    def described(self) -> Mapping[str, object]:
        """What the manifest says of them."""
        if self.model is None:
            return {"name": "script"}
        return {"name": self.model.name, "model_id": self.model.model_id, "prompt": prompt_hash(SimulateUser.name)}

    def bind(self, path: Path, writer: RowWriter, *, fresh: bool) -> None:
        """Store what the model says in this database from now on, and take what is cached there unless ``fresh``."""
        if self.model is not None:
            self.cache.bind(path, writer, fresh=fresh)

    def ask_nobody(self, path: Path | None, *, fresh: bool) -> None:
        """From now on say only what is cached in this database, None for nowhere; ``next`` raises for all else."""
        self._is_prepared = True
        self.cache.elsewhere = _nowhere
        if self.model is not None and path is not None:
            self.cache.bind(path, None, fresh=fresh)

    async def next(
        self, simulation: Simulation, history: Sequence[Message], repeat: int, notes: CallNotes | None = None
    ) -> UserMessage:
        """What the user says after these messages; the calls that it takes are put into ``notes``.

        Raises:
            InputError: the model that plays it can't be used, or said nothing that can be read; the sentence says why.
        """
        if ended := stopped(simulation, history):
            return UserMessage("", ended)
        if simulation.script:
            return scripted(simulation, history)
        if simulation.opening and not history:
            return UserMessage(simulation.opening)
        if self.model is None:
            raise InputError("No model plays the simulated users.")
        if not self._is_prepared:
            self._is_prepared = True
            await self.model.prepare()
        asking = PromptedJudge(CachedModel(self.model, self.cache, notes or CallNotes()))
        try:
            return await asking.ask(SimulateUser(simulation, tuple(history), self.seed + repeat))
        except (JudgeUnavailable, Unreadable) as error:
            raise InputError(f"The simulated user, {self.model.name}, wrote no message: {error}") from error

    async def close(self) -> None:
        """Give back connections."""
        self.cache.close()
        if self.model is not None:
            await self.model.close()


async def _nowhere(_: bytes) -> CachedCall:
    return CachedCall(error="nobody is asked")


def turn_of(
    question: Question, message: UserMessage, number: int, history: Sequence[Message], simulation: Simulation
) -> Question:
    """The question that a simulated user asks in a turn, with what the check for its role found."""
    extra = {key: value for key, value in question.extra.items() if key != SIMULATE}
    check = {
        "persona": simulation.persona,
        "script": simulation.script,
        "invented": list(invented(message.text, simulation, history)),
        "in_role": in_role(message.text),
    }
    extra[SIMULATED] = check
    name = question.conversation
    return replace(question, id=f"{name}/{number}", text=message.text, turn=number, extra=extra)


def open_users(
    model: ChatModelSettings | None, embedder: BatchingEmbedder, base: Path, environ: Mapping[str, str],
    endpoints: Endpoints, concurrency: int, seed: int,
) -> SimulatedUsers:  # fmt: skip
    """Make the users of a suite; nothing is loaded or sent.

    ``base`` is the folder that relative paths start from, and endpoints are shared with the bots. Without a model all
    are scripted.

    Raises:
        InputError: a ``langchain:`` target is not found.
    """
    if model is None:
        return SimulatedUsers(seed=seed)
    turnstile = Turnstile(limiter_of("simulated user", concurrency))
    try:
        chat = open_chat_model(model, embedder, base, environ, endpoints, turnstile)
    except InputError as wrong:
        raise type(wrong)(f"The simulated user: {wrong}") from wrong
    cache = JudgeCache(redact=redactor(environ, {model.api_key_env}))
    return SimulatedUsers(ChatJudgeModel(chat, turnstile=turnstile), seed, cache, model.prices)
