"""PromptedJudge: asks a language model by prompts, and once more where a reply can't be read."""

from dataclasses import dataclass, replace
from functools import cache, partial

from ..score import JudgeUnavailable, Unreadable
from .call import Answer, JudgeCall, Reading
from .rendering import JudgeModel, JudgeReply, JudgeRequest, harmless, render
from .replies import bare_reply

_ECHOED = 4_000  # characters of an unreadable reply that the model is shown again
_QUOTED = 200  # characters of it in a message
_CUT_OFF = "length"


@dataclass(frozen=True, slots=True)
class PromptedJudge:
    """A judge that is a language model. It has no state; its model caches, limits and counts the calls."""

    model: JudgeModel

    @property
    def model_id(self) -> str:
        """The model's."""
        return self.model.model_id

    @property
    def embedded(self) -> bool:
        """Never: a language model takes part."""
        return False

    async def ask(self, call: JudgeCall[Answer], vote: int = 1, votes: int = 1) -> Answer:
        """The model's answer, after one repair if needed; see ``metrics.tools.Judge``."""
        request = render(call, vote, votes)
        read = cache(partial(_read, call))  # the model's cache has read the reply already
        reply = await self.model.complete(request, lambda given: read(given).problem)
        first: Reading[Answer] = read(reply)
        if first.answer is not None and not first.problem:
            return first.answer
        return await self._repaired(call, request, reply, first)

    async def _repaired(
        self, call: JudgeCall[Answer], request: JudgeRequest, reply: JudgeReply, first: Reading[Answer]
    ) -> Answer:
        """Ask again, and complete what was read of the first reply with what is read of the second."""
        repair = replace(request, exchange=((_echo(reply), f"{first.problem} Reply again. {call.reminder()}"),))
        try:
            reply = await self.model.complete(repair, lambda given: _completed(call, first, _read(call, given)).problem)
        except JudgeUnavailable:
            if first.answer is None:
                raise
            return first.answer
        both = _completed(call, first, _read(call, reply))
        if both.answer is None:
            raise Unreadable(_complaint(call, reply, both.problem))
        return both.answer


def _read(call: JudgeCall[Answer], reply: JudgeReply) -> Reading[Answer]:
    """What a reply says; a reading without an answer always has a problem."""
    if not reply.text or not reply.text.strip():
        return Reading(None, "The reply is empty.")
    reading = call.read(reply.text)
    if reading.problem and reply.finish_reason == _CUT_OFF:
        return Reading(reading.answer, f"{reading.problem} The reply was cut off: be brief.")
    if reading.answer is None and not reading.problem:
        return Reading(None, "The reply can't be read.")
    return reading


def _completed(call: JudgeCall[Answer], first: Reading[Answer], second: Reading[Answer]) -> Reading[Answer]:
    """Both readings as one; its problem is blank when nothing is missing any more."""
    if first.answer is None:
        return second
    if second.answer is None:
        return Reading(first.answer, second.problem)
    answer = call.completed(first.answer, second.answer)
    return Reading(answer, second.problem if call.missing(answer) else "")


def _echo(reply: JudgeReply) -> str:
    """A reply as the model is shown it again; servers refuse an empty one."""
    return harmless(bare_reply(reply.text or "")[:_ECHOED]) or "(no reply)"


def _complaint(call: JudgeCall[Answer], reply: JudgeReply, problem: str) -> str:
    cut_off = reply.finish_reason == _CUT_OFF
    advice = " Raise max_tokens of the judge's model." if cut_off else ""
    ended = f" It ended with {reply.finish_reason!r}." if reply.finish_reason not in {"", "stop", _CUT_OFF} else ""
    begins = f" It begins: {reply.text.strip()[:_QUOTED]!r}." if reply.text and reply.text.strip() else ""
    unread = f"The judge's reply to {call.title()} can't be read, nor could one before it"
    return f"{unread}: {problem}{advice}{ended}{begins}"
