"""Building: from the settings of a suite file to bots that are ready to be prepared."""

import difflib
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from .. import InputError
from ..knowledge import Document, Rerankers, open_recorded
from .bot import knowledge_digest
from .chat.model import ChatModel
from .chat.models import ChatModelSettings, open_chat_model, parse_model
from .chat.openai import Endpoints
from .faq import FaqBot, read_faq
from .full_context import FullContextBot
from .http import HttpBot
from .prompting import Template, load_template
from .python import find_target
from .rag import RagBot, RetrievalEmbedder
from .recorded import RecordedBot
from .settings import (
    BotSettings,
    FaqSettings,
    FullContextSettings,
    HttpSettings,
    LangChainSettings,
    PythonSettings,
    RagSettings,
    RecordedSettings,
)
from .target_bots import BuiltBot, LangChainTargetBot, TargetBot


class ReadKnowledge(Protocol):
    """The part of the knowledge that bots need."""

    @property
    def documents(self) -> Sequence[Document]:
        """The documents, in their order."""
        ...


@dataclass(frozen=True, slots=True)
class BotResources:
    """What bots are built from; shared by all bots of a suite.

    Attributes:
        base: the suite's folder; paths in settings are relative to it.
        knowledge: gives the documents; called by each bot that needs them, so it should cache.
        embedder: for retrieval, embedded FAQ matching and the extractive model.
        models: chat models by the names that the suite gives them.
        cache: folder for indexes; None keeps them in memory only.
        environ: where ``$NAME`` and API keys are looked up.
        endpoints: shared, so that models behind one address share its limits and connections.
        rerankers: shared, so that each is loaded once.
    """

    base: Path
    knowledge: Callable[[], ReadKnowledge]
    embedder: RetrievalEmbedder
    models: Mapping[str, ChatModelSettings] = field(default_factory=dict)
    cache: Path | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    endpoints: Endpoints = field(default_factory=Endpoints)
    rerankers: Rerankers = field(default_factory=Rerankers)


def build_bot(name: str, settings: BotSettings, resources: BotResources) -> BuiltBot:
    """Make a bot; files are read and checked, but no model and no index is loaded before ``prepare``.

    Raises:
        InputError: a file, a prompt, a target or a model name can't be used; the message names the bot.
    """
    try:
        return _build(name, settings, resources)
    except InputError as wrong:
        raise type(wrong)(f"Bot {name}: {wrong}") from wrong


def _build(name: str, settings: BotSettings, resources: BotResources) -> BuiltBot:
    match settings:
        case FaqSettings():
            return _faq(name, settings, resources)
        case FullContextSettings():
            return _full_context(name, settings, resources)
        case RagSettings():
            return _rag(name, settings, resources)
        case PythonSettings():
            return TargetBot(name, find_target(settings.target, resources.base), settings.options)
        case LangChainSettings():
            target = find_target(settings.target, resources.base)
            keys = (settings.input_key, settings.output_key, settings.history_key)
            return LangChainTargetBot(name, target, settings.options, *keys)
        case HttpSettings():
            return HttpBot(name, settings, resources.environ)
        case RecordedSettings():
            return RecordedBot(name, open_recorded(resources.base / settings.answers), settings.bot)


def _faq(name: str, settings: FaqSettings, resources: BotResources) -> FaqBot:
    faq = read_faq(resources.base / settings.entries)
    return FaqBot(
        name,
        faq.entries,
        abstain=settings.abstain,
        min_similarity=settings.min_similarity,
        match=settings.match,
        embedder=resources.embedder,
        warnings=faq.warnings,
        history=settings,
    )


def _full_context(name: str, settings: FullContextSettings, resources: BotResources) -> FullContextBot:
    documents = resources.knowledge().documents
    return FullContextBot(
        name,
        documents,
        knowledge_digest(documents),
        _model(settings.model, resources),
        _template(settings, resources),
        settings.overflow,
        settings,
    )


def _rag(name: str, settings: RagSettings, resources: BotResources) -> RagBot:
    documents = resources.knowledge().documents
    return RagBot(
        name,
        documents,
        knowledge_digest(documents),
        _model(settings.model, resources),
        _template(settings, resources),
        resources.embedder,
        settings,
        index_folder(resources.base, resources.cache),
        resources.rerankers.named(settings.reranker) if settings.reranker else None,
        None if settings.search_by else find_target(settings.retriever, resources.base),
    )


def index_folder(base: Path, cache: Path | None) -> Path | None:
    """Where bots of a suite cache the vectors of their passages; None where nothing is cached.

    A folder for each suite, so that suites with other documents don't overwrite each other's index.

    Args:
        base: the suite's folder.
        cache: the folder for what can be made again.
    """
    if cache is None:
        return None
    suite = hashlib.sha256(str(base.resolve()).encode("utf-8", "surrogatepass")).hexdigest()
    return cache / "indexes" / suite[:16]


def _template(settings: FullContextSettings | RagSettings, resources: BotResources) -> Template:
    return load_template(settings.prompt and resources.base / settings.prompt, settings.type)


def _model(written: str, resources: BotResources) -> ChatModel:
    """The model of a name under ``models``, or one given in place."""
    settings = resources.models.get(written)
    if settings is None:
        near = difflib.get_close_matches(written, resources.models, n=1)
        if near and ":" not in written and written != "extractive":
            raise InputError(f"there is no model {written!r} under `models`; did you mean {near[0]!r}?")
        settings = parse_model(written)
    return open_chat_model(settings, resources.embedder, resources.base, resources.environ, resources.endpoints)
