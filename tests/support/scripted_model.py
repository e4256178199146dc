"""ScriptedModel: a JudgeModel that gives replies in turn and remembers what it was asked and what was wrong."""

from collections.abc import Callable
from dataclasses import dataclass, field

from proctor.metrics.judge.rendering import JudgeReply, JudgeRequest


@dataclass
class ScriptedModel:
    """Gives its replies in their order; a text stands for a reply that ended by itself, an exception is raised."""

    replies: list[JudgeReply | str | Exception | None]
    model_id: str = "scripted-model"
    requests: list[JudgeRequest] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    async def complete(self, request: JudgeRequest, problem: Callable[[JudgeReply], str]) -> JudgeReply:
        self.requests.append(request)
        said = self.replies.pop(0)
        if isinstance(said, Exception):
            raise said
        reply = said if isinstance(said, JudgeReply) else JudgeReply(said, "stop")
        self.problems.append(problem(reply))
        return reply
