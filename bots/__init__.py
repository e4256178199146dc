"""Bots: what is under test, and how it is asked."""

from .as_bot import BuiltBot, KnowingTargetBot, TakesKnowledge, TargetBot, as_bot
from .bot import Bot, BotMisconfigured, BotRefused, Context, Identity, Reply, Usage
from .building import Workshop, build_bot, index_folder
from .chat.judge import ChatJudgeModel
from .chat.limits import Limiter, TurnedAway, Turnstile, deadline
from .chat.model import ChatModel, ChatRequest, Completion
from .chat.models import ChatModelSettings, open_chat_model, parse_model
from .chat.openai import Endpoints, Prices
from .faq import FaqEntry, FreshEmbedder, read_faq
from .langchain import LangChainBot
from .plugins import installed_bot, installed_kind
from .rag import Finder, Retrieval, SearchFinder
from .redaction import HIDDEN, literal_secrets, redacted, redacted_command, redactor, scrubbed, without_url_secrets
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
from .targets import find_target

__all__ = [
    "HIDDEN",
    "Bot",
    "BotMisconfigured",
    "BotRefused",
    "BotSettings",
    "BuiltBot",
    "ChatJudgeModel",
    "ChatModel",
    "ChatModelSettings",
    "ChatRequest",
    "Completion",
    "Context",
    "Endpoints",
    "FaqEntry",
    "FaqSettings",
    "Finder",
    "FreshEmbedder",
    "FullContextSettings",
    "HttpSettings",
    "Identity",
    "KnowingTargetBot",
    "LangChainBot",
    "LangChainSettings",
    "Limiter",
    "Prices",
    "PythonSettings",
    "RagSettings",
    "RecordedSettings",
    "Reply",
    "Retrieval",
    "SearchFinder",
    "TakesKnowledge",
    "TargetBot",
    "TurnedAway",
    "Turnstile",
    "Usage",
    "Workshop",
    "as_bot",
    "build_bot",
    "deadline",
    "find_target",
    "index_folder",
    "installed_bot",
    "installed_kind",
    "literal_secrets",
    "open_chat_model",
    "parse_model",
    "read_faq",
    "redacted",
    "redacted_command",
    "redactor",
    "scrubbed",
    "without_url_secrets",
]
