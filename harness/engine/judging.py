"""Judging: who grades the rows of a run, handed out for each row and closed at the end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import InputError
from ...bots.judge_model import ChatJudgeModel
from ...bots.limits import Limiter, Turnstile
from ...bots.models import open_chat_model
from ...bots.redaction import redactor
from ...metrics.facts import LOCAL_MODELS
from ...metrics.judge.panel import Panel
from ...metrics.judge.prompted import PromptedJudge
from ...metrics.messages import exception_line
from ...reports.judging.judge_calls import CallRecord
from ...reports.judging.judge_shelf import CallNotes, JudgeShelf, KeptModel
from ..suite.judge_settings import JudgeSettings
from .judge_thread import JudgeThread
from .judged_metrics import judged_metrics
from .scoring import ROWS
from .undisturbed import settle

if TYPE_CHECKING:
    from ...bots.openai_chat import Prices
    from ...bots.openai_endpoint import Endpoints
    from ...knowledge.batching import BatchingEmbedder
    from ...metrics.plan import Plan
    from ...metrics.tools import Judge
    from ...reports.writer import RowWriter
    from ..suite.judge_choice import JudgeChoice
    from .run_models import RunModels

CONCURRENCY = 16  # calls in flight at all models that judge, where nobody says another number
PAUSE = 0.005  # seconds between two looks at whether the models have too little to do
CALLS_AT_ONCE = 3  # a row's first calls, about
ROWS_A_CALL = 16  # rows in scoring for each call in flight: most of them have their calls and wait for embeddings


class Judging:
    """The judge of a run: one or several language models, or the embedded one.

    Nothing is loaded before ``prepare``. A model that can't be used stops: ``problem`` says why, no further request
    is sent, and what it should have graded is an error of those scores alone.

    Args:
        settings: votes, and how verdicts are combined; left out, those of the embedded judge.
        models: the language models that judge; none for the embedded judge.
        prices: of each model, None where they are not known.
        embedded: the embedded judge, where there are no models.
        concurrency: calls in flight at all models together; for showing, the models keep to it themselves.
        load_embedded: loads what the embedded judge works with.
        close_embedded: gives back what the embedded judge holds.
        redact: takes secrets out of what the models say.
    """

    def __init__(
        self,
        settings: JudgeSettings | None = None,
        models: Sequence[ChatJudgeModel] = (),
        prices: Sequence[Prices | None] = (),
        embedded: Judge | None = None,
        concurrency: int = CONCURRENCY,
        load_embedded: Callable[[], Awaitable[None]] | None = None,
        close_embedded: Callable[[], None] | None = None,
        redact: Callable[[str], str] = str,
    ) -> None:
        self.settings = settings or JudgeSettings()
        self.concurrency = concurrency
        self.shelf = JudgeShelf(redact=redact)
        self._redact = redact
        self.prices = tuple(prices)
        self._models = tuple(models)
        self._embedded = embedded
        self._load_embedded = load_embedded
        self._close_embedded = close_embedded
        self._prepared = False
        self._rows_to_begin = 0
        self._beside: list[Callable[[], Coroutine[Any, Any, None]]] = []
        self._preparing = asyncio.Lock()

    @property
    def model_id(self) -> str:
        """Models, settings and votes, as they stand on the manifest and in the version of scores."""
        judge = self.unkept()
        return "" if judge is None else judge.model_id

    @property
    def is_language_model(self) -> bool:
        """Whether language models grade."""
        return bool(self._models)

    @property
    def name(self) -> str:
        """What reports call the judge: ``openai:NAME``, ``openai:A, openai:B``, or ``embedded``."""
        return ", ".join(model.name for model in self._models) or "embedded"

    @property
    def rows_at_once(self) -> int:
        """How many rows should be in scoring at once: enough to keep as many calls in flight as may be."""
        return max(ROWS, ROWS_A_CALL * self.concurrency if self._models else 0)

    @property
    def problem(self) -> str:
        """A sentence when a model of the judge was stopped; blank while all work."""
        stopped = [model for model in self._models if model.problem]
        return f"The judge {stopped[0].name} was stopped: {stopped[0].problem}" if stopped else ""

    def warnings(self, plan: Plan) -> tuple[str, ...]:
        """Sentences about settings that come to nothing."""
        if not self._models:
            return ()
        if "judge" not in plan.needs:
            return (f"No metric of the run asks the judge {self.name}; name some, such as faithfulness.",)
        return tuple(said for model in self._models if (said := model.warning(self.settings.votes)))

    def described(self, plan: Plan) -> dict[str, object]:
        """All that the manifest says of the judge, and of what it grades of a plan."""
        judged = judged_metrics(plan)
        said: dict[str, object] = {
            "name": self.name,
            "model_id": self.model_id if judged["metrics"] else "",
            "embedded": not self._models,
            **judged,
        }
        if not self._models:
            return said | {"entailment": self.settings.entailment}
        return said | {
            "models": [{"name": model.name, "settings": dict(model.settings)} for model in self._models],
            "votes": self.settings.votes,
            "combine": self.settings.combine,
            "vote_temperature": self.settings.vote_temperature,
            "concurrency": self.concurrency,
        }

    def bind(self, path: Path, writer: RowWriter, *, fresh: bool) -> None:
        """Keep calls in this database from now on, and take kept ones from it unless ``fresh``."""
        if self._models:
            self.shelf.bind(path, writer, fresh=fresh)

    def for_row(self) -> tuple[Judge | None, CallNotes]:
        """The judge for one row, and where the calls are noted on which its scores will rest."""
        notes = CallNotes()
        return self._judge(self.shelf, notes), notes

    def unkept(self, told: Callable[[CallRecord], None] | None = None) -> Judge | None:
        """The judge without any kept calls: each is made, told of and not kept; None where nobody judges."""
        return self._judge(JudgeShelf(told, self._redact), CallNotes())

    def _judge(self, shelf: JudgeShelf, notes: CallNotes) -> Judge | None:
        if not self._models:
            return self._embedded
        judges = tuple(PromptedJudge(KeptModel(model, shelf, notes)) for model in self._models)
        if len(judges) == 1 and self.settings.votes == 1:
            return judges[0]
        return Panel(judges, self.settings.votes, self.settings.combine == "mean")

    async def ready_for_a_row(self) -> None:
        """Wait until another row would give a model something to do.

        Rows that were begun earlier so get all their calls answered first, and the loop is not kept from the answers
        that come by hundreds of requests that could only wait.
        """
        if self._rows_to_begin < 1:
            await asyncio.sleep(0)
            await asyncio.sleep(0)  # by now the calls of those that were begun are in line
            while (left := max((model.left_in_line for model in self._models), default=1)) < 1:
                await asyncio.sleep(PAUSE)
            self._rows_to_begin = max(left // CALLS_AT_ONCE, 1)
        self._rows_to_begin -= 1

    def prepare_beside(self, load: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Have something else loaded while the models get ready, so that no call is held up by it later."""
        self._beside.append(load)

    async def prepare(self) -> None:
        """Load what the models need, once; one that can't be used is stopped."""
        async with self._preparing:
            if self._prepared:
                return
            self._prepared = True
            beside = [asyncio.create_task(load()) for load in self._beside]
            if self._load_embedded is not None:
                with contextlib.suppress(Exception):  # what can't be loaded is an error of the scores that need it
                    await self._load_embedded()
            for model in self._models:
                try:
                    await model.prepare()
                except InputError as error:
                    model.stop(str(error))
                except Exception as error:  # noqa: BLE001 - a model of LangChain is foreign code
                    model.stop(f"it could not get ready: {exception_line(error)}")
            await asyncio.gather(*beside, return_exceptions=True)  # whoever needs it will be told what is wrong
            if self._models:
                settle()

    async def close(self) -> None:
        """Give back connections and memory."""
        for model in self._models:
            with contextlib.suppress(Exception):  # all is graded, and nothing is lost when it can't tidy up
                await model.close()
        if self._close_embedded is not None:
            await asyncio.to_thread(self._close_embedded)


class ModelIds(Mapping[str, str]):
    """The id of the model behind each tool, worked out when it is asked for: a hash of code, or looked for on disk."""

    def __init__(self, embedder: str, judging: Judging, models: RunModels) -> None:
        self._ids: dict[str, Callable[[], str]] = {"embedder": lambda: embedder, "judge": lambda: judging.model_id}
        self._ids |= {tool: partial(models.model_id, tool) for tool in LOCAL_MODELS}

    def __getitem__(self, tool: str) -> str:
        return self._ids[tool]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)


def open_judging(
    choice: JudgeChoice,
    embedder: BatchingEmbedder,
    base: Path,
    environ: Mapping[str, str],
    endpoints: Endpoints,
    concurrency: int = CONCURRENCY,
    local_models: RunModels | None = None,
) -> Judging:
    """Make the judge; nothing is loaded or sent.

    Args:
        choice: who grades.
        embedder: for the embedded judge.
        base: the folder that relative paths start from.
        environ: where API keys are looked up.
        endpoints: shared with the bots, so that one endpoint's limits hold for all.
        concurrency: calls in flight at all models together.
        local_models: of the run; the embedded judge shares their entailment model where it is to have the same.

    Raises:
        InputError: a ``langchain:`` target is not found.
    """
    settings = choice.settings
    if settings.is_embedded:
        return _embedded(settings, embedder, base, local_models)
    models, calls = [], Limiter(concurrency)
    for model in choice.models.values():
        turnstile = Turnstile(calls)
        try:
            chat = open_chat_model(model, embedder, base, environ, endpoints, turnstile)
        except InputError as wrong:
            raise type(wrong)(f"The judge: {wrong}") from wrong
        models.append(ChatJudgeModel(chat, settings.vote_temperature, turnstile))
    prices = [model.prices for model in choice.models.values()]
    redact = redactor(environ, {model.api_key_env for model in choice.models.values()})
    return Judging(settings, models, prices, concurrency=concurrency, redact=redact)


def _embedded(
    settings: JudgeSettings, embedder: BatchingEmbedder, base: Path, local_models: RunModels | None
) -> Judging:
    from ...metrics.judge.embedded.judge import EmbeddedJudge
    from .judge_entailment import open_entailment

    model = open_entailment(settings, base)
    if model is None:
        judge = JudgeThread(EmbeddedJudge(embedder))
        return Judging(settings, embedded=judge, load_embedded=embedder.load, close_embedded=judge.close)
    if local_models is not None:
        model = local_models.shared(model)
    judge = JudgeThread(EmbeddedJudge(embedder, model))

    def close() -> None:
        judge.close()
        model.close()

    return Judging(settings, embedded=judge, load_embedded=embedder.load, close_embedded=close)
