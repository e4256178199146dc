"""Local models of a run: embedders, rerankers and scoring models, and which metrics want them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ... import InputError
from ...bots import redactor
from ...knowledge import ROLE, ROLES, ListedModel, LocalModels, Rerankers, Role
from ...knowledge.models.pool import missing
from ...reports import named
from ..suite import EntryError, LocalModelsSettings, overridden

if TYPE_CHECKING:
    from ...bots import Endpoints
    from ...bots.chat.likelihood import ServerLanguageModel
    from ...knowledge import BatchingEmbedder, EmbedderSettings, EntailmentModel
    from ...metrics import Plan
    from ...reports.store import VectorCache
    from ..suite import LoadedSuite


_BY_TOOL = MappingProxyType({role.tool: role for role in ROLES.values()})


class RunModels:
    """The local models of a run; nothing is loaded before ``prepare`` or the first question.

    Args:
        settings: which model takes a role, and how it runs.
        base: the folder that relative paths start from.
        environ: where API keys of servers are looked up.
        endpoints: shared with bots and judge, so that one endpoint's limits hold for all.
        notify: called with a sentence when a model is downloaded, prepared or loaded, from any thread.
        only_planned: nothing will be asked: nothing is downloaded or prepared.
    """

    def __init__(
        self,
        settings: LocalModelsSettings | None = None,
        base: Path = Path(),
        environ: Mapping[str, str] = MappingProxyType({}),
        endpoints: Endpoints | None = None,
        notify: Callable[[str], None] | None = None,
        *,
        only_planned: bool = False,
    ) -> None:
        given = settings or LocalModelsSettings()
        self._pool = LocalModels(given.on_this_machine(base), notify=notify)
        self._only_planned = only_planned
        self._served = _servers(given, environ, endpoints)
        self._named = given.model_fields_set
        self._tools: dict[str, Any] = {}

    @property
    def tools(self) -> Mapping[str, object]:
        """What metrics of the run ask, by the names under which they do."""
        return self._tools

    def model_id(self, tool: str) -> str:
        """The id of the model behind a tool; it is looked for now. Raises EntryError when it can't be there."""
        role = _BY_TOOL[tool].name
        if role in self._served:
            return self._served[role].model_id
        try:
            return self._pool.presence(role).model_id if self._only_planned else self._pool.found(role).model_id
        except InputError as error:
            raise EntryError(("local_models", role) if role in self._named else ("metrics",), str(error)) from error

    def take(self, needs: Collection[str]) -> None:
        """Make the tools that a run needs, without loading them."""
        for tool, role in _BY_TOOL.items():
            if tool in needs and not self._only_planned:
                self._tools[tool] = self._served.get(role.name) or self._pool.tool(role.name)

    def shared(self, entailment: EntailmentModel) -> EntailmentModel:
        """SummaC's model where it is the one given, so that what one says is known to the other; else that one."""
        if self._only_planned or self._pool.presence("summac").model_id != entailment.model_id:
            return entailment
        entailment.close()
        tool: EntailmentModel = self._pool.tool("summac")
        return tool

    async def prepare(self) -> None:
        """Load them, before anybody is timed; what can't be loaded is an error of the scores that need it."""
        for tool in self._tools.values():
            with contextlib.suppress(Exception):
                await tool.load()

    def lower_priority(self) -> None:
        """Run only with what of the processors others leave: bots are timed, and no bot asks these models."""
        self._pool.lower_priority()

    async def close(self) -> None:
        """Drop all models and connections."""
        for server in self._served.values():
            with contextlib.suppress(Exception):  # foreign code; all is asked, and nothing is lost by it
                await server.close()
        await asyncio.to_thread(self._pool.close)

    def needed(self, plan: Plan) -> list[ListedModel]:
        """The models that a plan wants, in the order of the roles; looks only at what is on this machine."""
        return self.listed({role.name: metrics for role, metrics in _wanting(plan)})

    def listed(self, wanting: Mapping[str, tuple[str, ...]]) -> list[ListedModel]:
        """The models of some roles, each with the metrics that want it; nothing is loaded, and no network used."""
        return [self._listed(role, metrics) for role, metrics in wanting.items()]

    def fetch(self, role: str) -> str:
        """Bring the model of a role here and prepare it; a sentence says where it is. Raises InputError."""
        if server := self._served.get(role):
            return f"The {role} model {server.model_id} is run by a server: there is nothing to fetch."
        found = self._pool.fetch(role)
        return f"The {role} model {found.model_id} is here: {found.folder}"

    def warnings(self, plan: Plan) -> tuple[str, ...]:
        """A sentence for each model that is wanted and can't be loaded."""
        return tuple(filter(None, (self._missing_model(role, metrics) for role, metrics in _wanting(plan))))

    def described(self, plan: Plan) -> dict[str, dict[str, object]]:
        """For the manifest: by role which model it is, by id and content, and which metrics want it."""
        wanting = dict(_wanting(plan))
        found = self._pool.described() if wanting and not self._only_planned else {}
        described: dict[str, dict[str, object]] = {}
        for role, metrics in wanting.items():
            if server := self._served.get(role.name):
                described[role.name] = {"model": server.model_id, "from": "server", "metrics": list(metrics)}
                continue
            there = self._pool.presence(role.name)
            settings = self._pool.settings_of(role.name)
            origin = "folder" if Path(settings.model).expanduser().is_dir() else "hub"
            known = found.get(role.name, {"model": there.model_id})
            described[role.name] = {**known, "from": origin, "licence": there.licence or None, "metrics": list(metrics)}
        return described

    def _listed(self, role: str, metrics: tuple[str, ...]) -> ListedModel:
        if server := self._served.get(role):
            return ListedModel(ROLES[role], server.model_id, metrics, is_served=True)
        return self._pool.presence(role, metrics)

    def _missing_model(self, role: Role, metrics: tuple[str, ...]) -> str:
        if role.name in self._served:
            return ""
        if self._only_planned:
            there = self._pool.presence(role.name)
            folder, trouble = there.folder, there.trouble
        else:
            found = self._pool.found(role.name)
            folder, trouble = found.folder, found.trouble
        if folder is not None:
            return ""
        sentence = trouble or missing(role, self._pool.settings_of(role.name))
        return f"{sentence.rstrip('.')}. Until then these have no value: {named(metrics)}."


def _wanting(plan: Plan) -> Iterator[tuple[Role, tuple[str, ...]]]:
    """The roles that a plan wants, each with the metrics that do."""
    for tool, role in _BY_TOOL.items():
        metrics = tuple(metric.id for metric in plan.metrics if tool in {*metric.needs, *metric.optional})
        if metrics:
            yield role, metrics


def _servers(
    settings: LocalModelsSettings, environ: Mapping[str, str], endpoints: Endpoints | None
) -> dict[str, ServerLanguageModel]:
    if not settings.served:
        return {}
    from ...bots.chat.likelihood import open_server_language_model

    redact = redactor(environ, {one.api_key_env for one in settings.served.values()})
    made: dict[str, ServerLanguageModel] = {}
    for role, one in settings.served.items():
        alike = next((other for other in made if settings.served[other] == one), None)
        made[role] = made[alike] if alike else open_server_language_model(one, environ, endpoints, redact=redact)
    return made


def open_embedder(loaded: LoadedSuite, vector_cache: VectorCache) -> tuple[BatchingEmbedder, tuple[str, ...]]:
    """The suite's embedding model behind its batcher, loaded when the first text comes; and warnings about it."""
    from ...knowledge import EmbedderSettings

    given = loaded.suite.embedder
    chosen = given.model_dump()
    if given.model == "embedded":
        del chosen["model"]
    elif (loaded.base / given.model).is_dir():
        chosen["model"] = str(loaded.base / given.model)
    settings = EmbedderSettings(**chosen)
    return _batching(settings, vector_cache), tuple(filter(None, [settings.resolved.warning]))


def default_embedder(vector_cache: VectorCache) -> BatchingEmbedder:
    """The embedded model, for answers that come without a suite."""
    from ...knowledge import EmbedderSettings

    return _batching(EmbedderSettings(), vector_cache)


def _batching(settings: EmbedderSettings, vector_cache: VectorCache) -> BatchingEmbedder:
    from ...knowledge import BatchingEmbedder, open_encoder

    return BatchingEmbedder(lambda: open_encoder(settings), settings.model_id, vector_cache)


def open_rerankers(
    settings: LocalModelsSettings,
    base: Path,
    overrides: Iterable[str] = (),
    notify: Callable[[str], None] | None = None,
) -> Rerankers:
    """The rerankers; none is looked for before a bot names it.

    ``overrides`` are other models for some roles, as ``ROLE=MODEL``.

    Raises:
        InputError: an override names no role, or one that its model can't take.
    """
    return Rerankers(overridden(settings, overrides).on_this_machine(base)[ROLE.name], base, notify=notify)
