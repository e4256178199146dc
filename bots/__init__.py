"""Bots: what is under test, and how it is asked."""

from .as_bot import BuiltBot, ReducibleBot, ReducibleTargetBot, TargetBot, as_bot
from .bot import Bot, BotMisconfigured, BotRefused, Context, Identity, Reply, Usage, reply_of
from .building import BotResources, build_bot, index_folder
from .chat.judge import ChatJudgeModel
from .chat.limits import Limiter, RequestsStopped, Turnstile, deadline
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
    "BotResources",
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
    "LangChainBot",
    "LangChainSettings",
    "Limiter",
    "Prices",
    "PythonSettings",
    "RagSettings",
    "RecordedSettings",
    "ReducibleBot",
    "ReducibleTargetBot",
    "Reply",
    "RequestsStopped",
    "Retrieval",
    "SearchFinder",
    "TargetBot",
    "Turnstile",
    "Usage",
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
    "reply_of",
    "scrubbed",
    "without_url_secrets",
]
