"""ChatJudgeModel: a chat model that grades, and is not asked again once no request can succeed."""

import json
from collections.abc import Mapping
from dataclasses import replace

from ...metrics.judge.rendering import JudgeRequest
from ...metrics.judge.replies import with_probabilities
from ..bot import BotMisconfigured, Checkable
from .limits import RequestsStopped, Turnstile
from .model import ChatModel, ChatRequest, Completion

UNREACHABLE_LIMIT = 20  # calls in a row that could not reach the endpoint before no more are made
LEAST_IN_LINE = 8  # requests that wait before a model counts as busy, so that a quick one is never without
_CHANGES_NOTHING = ("model", "context_tokens")  # settings that are in the name, or that a judge does not use


class ChatJudgeModel:
    """Sends judge requests to a chat model.

    A set-up that can't answer anything (a wrong key, an unknown model), or an endpoint that is gone, is detected
    once: from then on ``problem`` says what it is, and no further request is sent.

    Args:
        model: the chat model.
        vote_temperature: for one vote of several, where the model's own temperature is set to 0: votes that can't
            differ are no votes.
        turnstile: through which the model's requests go; shut when the model is of no use.
    """

    def __init__(self, model: ChatModel, vote_temperature: float = 0.7, turnstile: Turnstile | None = None) -> None:
        self.problem = ""
        self._turnstile = turnstile
        self._under_way = 0
        self._most_under_way = turnstile.places if turnstile else 0
        self._model = model
        self._vote_temperature = vote_temperature
        self._id: str | None = None
        self._unreachable = 0

    def stop(self, problem: str) -> None:
        """Send no more requests, also none that wait at the turnstile; the first problem is reported."""
        self.problem = self.problem or problem
        if self._turnstile is not None:
            self._turnstile.shut(self.problem)

    @property
    def waits(self) -> str:
        """What its endpoint does where that is waited for: only 429, or nothing; blank while it answers."""
        if self.problem or self._turnstile is None:
            return ""
        if self._turnstile.refused:
            return "answers 429 (too many requests)"
        return "gives no answer" if self._unreachable or self._turnstile.is_away else ""

    @property
    def name(self) -> str:
        """As the suite file names the chat model."""
        return self._model.name

    @property
    def left_in_line(self) -> int:
        """How many more requests to queue: as many may wait as can be in flight; more would gain nothing."""
        if self._turnstile is None:
            return LEAST_IN_LINE
        return max(self._turnstile.places, LEAST_IN_LINE) - self._turnstile.waiting

    @property
    def settings(self) -> Mapping[str, object]:
        """Of the chat model: JSON-able and without secrets."""
        return self._model.settings

    @property
    def model_id(self) -> str:
        """Name, address and settings: all that changes what it says. A model of LangChain is made for that."""
        if self._id is None:
            shown = {key: value for key, value in self.settings.items() if key not in _CHANGES_NOTHING}
            self._id = f"{self.name} {json.dumps(shown, sort_keys=True, ensure_ascii=False, default=str)}"
        return self._id

    def temperature(self, request: JudgeRequest) -> float | None:
        """The temperature that a request is sent with in place of the model's own; None where that one holds."""
        if request.votes > 1 and self.settings.get("temperature") == 0:
            return self._vote_temperature
        return None

    def warning(self, votes: int) -> str:
        """A sentence where several votes of this model can't differ; blank where they can."""
        if votes > 1 and self.settings.get("ls_temperature") == 0:
            return (
                f"The judge {self.name} is made with temperature 0, so its {votes} votes will agree; make it with "
                "another one, or take one vote."
            )
        return ""

    def check_setup(self) -> None:
        """Look at what can be known before it is asked, such as a key. Raises InputError."""
        if isinstance(self._model, Checkable):
            self._model.check_setup()

    async def prepare(self) -> None:
        """Load what is needed; raises InputError for a set-up that can't work."""
        await self._model.prepare()

    async def close(self) -> None:
        """Release connections and memory."""
        await self._model.close()

    async def complete(self, request: JudgeRequest) -> Completion:
        """Send the request.

        Raises:
            BotMisconfigured: no request can succeed, or so many did not that no more are sent (``RequestsStopped``).
            BotRefused: this request was refused.
            TimeoutError, ConnectionError: the endpoint did not answer after all attempts.
            Exception: whatever else a model of LangChain raises.
        """
        if self.problem:
            raise RequestsStopped(self.problem)
        self._under_way += 1
        if self._turnstile is None:
            self._most_under_way = max(self._most_under_way, self._under_way)
        try:
            completion = await self._model.complete(self._chat_request(request))
        except BotMisconfigured as error:
            self.stop(str(error))
            raise
        except (ConnectionError, TimeoutError) as error:
            self._count_unreachable(error)
            raise
        finally:
            self._under_way -= 1
        self._unreachable = 0
        if request.scale is None or completion.text is None:
            return completion
        return replace(completion, text=with_probabilities(completion.text, completion.logprobs, request.scale))

    def _chat_request(self, request: JudgeRequest) -> ChatRequest:
        return ChatRequest(
            request.prompt,
            system=request.system,
            schema=request.schema,
            exchange=request.exchange,
            temperature=self.temperature(request),
            logprobs=request.scale is not None,
        )

    def _count_unreachable(self, error: OSError) -> None:
        """A burst may lose all that is under way at once, and more than that is no burst."""
        self._unreachable += 1
        is_given_up = self._turnstile is not None and self._turnstile.gave_up
        if is_given_up or self._unreachable >= max(UNREACHABLE_LIMIT, 2 * self._most_under_way):
            calls = "1 call" if self._unreachable == 1 else f"{self._unreachable} calls in a row"
            self.stop(
                f"{calls} got no answer, the last because: {str(error).rstrip('.')}. "
                "The judge was asked nothing more; run the same command again to go on."
            )


def finish_reason(completion: Completion) -> str:
    """Why an answer ended, in OpenAI's words where they are known: ``stop``, ``length`` when it was cut off."""
    reason = completion.trace.get("finish_reason") or completion.trace.get("stop_reason")
    name = str(reason).lower() if reason else ""
    return "length" if name in ("max_tokens", "max_output_tokens") else name
