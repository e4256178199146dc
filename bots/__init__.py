"""Bots: what is under test, and how it is asked."""

from typing import TYPE_CHECKING

from .. import front

if TYPE_CHECKING:
    from .bot import Bot as Bot
    from .bot import BotMisconfigured as BotMisconfigured
    from .bot import BotRefused as BotRefused
    from .bot import Context as Context
    from .bot import Identity as Identity
    from .bot import Reply as Reply
    from .bot import ToolCall as ToolCall
    from .bot import Usage as Usage
    from .bot import hears_history as hears_history
    from .bot import keeps_memory as keeps_memory
    from .bot import new_session as new_session
    from .bot import reply_of as reply_of
    from .building import BotResources as BotResources
    from .building import build_bot as build_bot
    from .building import index_folder as index_folder
    from .chat.judge import ChatJudgeModel as ChatJudgeModel
    from .chat.limits import LIMITERS as LIMITERS
    from .chat.limits import Limiter as Limiter
    from .chat.limits import RequestsStopped as RequestsStopped
    from .chat.limits import Turnstile as Turnstile
    from .chat.limits import deadline as deadline
    from .chat.limits import limiter_of as limiter_of
    from .chat.model import ChatModel as ChatModel
    from .chat.model import ChatRequest as ChatRequest
    from .chat.model import Completion as Completion
    from .chat.models import ChatModelSettings as ChatModelSettings
    from .chat.models import open_chat_model as open_chat_model
    from .chat.models import parse_model as parse_model
    from .chat.openai import Endpoints as Endpoints
    from .chat.openai import Prices as Prices
    from .faq import FaqEntry as FaqEntry
    from .faq import FreshEmbedder as FreshEmbedder
    from .faq import read_faq as read_faq
    from .langchain import LangChainBot as LangChainBot
    from .prompting import earlier_answers as earlier_answers
    from .python import find_target as find_target
    from .rag import Finder as Finder
    from .rag import Retrieval as Retrieval
    from .rag import SearchFinder as SearchFinder
    from .redaction import HIDDEN as HIDDEN
    from .redaction import literal_secrets as literal_secrets
    from .redaction import redacted as redacted
    from .redaction import redacted_command as redacted_command
    from .redaction import redactor as redactor
    from .redaction import scrubbed as scrubbed
    from .redaction import without_url_secrets as without_url_secrets
    from .settings import BotSettings as BotSettings
    from .settings import FaqSettings as FaqSettings
    from .settings import FullContextSettings as FullContextSettings
    from .settings import HttpSettings as HttpSettings
    from .settings import LangChainSettings as LangChainSettings
    from .settings import PythonSettings as PythonSettings
    from .settings import RagSettings as RagSettings
    from .settings import RecordedSettings as RecordedSettings
    from .settings import installed_bot as installed_bot
    from .settings import installed_kind as installed_kind
    from .target_bots import BuiltBot as BuiltBot
    from .target_bots import ReducibleBot as ReducibleBot
    from .target_bots import ReducibleTargetBot as ReducibleTargetBot
    from .target_bots import TargetBot as TargetBot
    from .target_bots import as_bot as as_bot
    from .tool_calls import with_tool_calls as with_tool_calls
else:
    __getattr__, __all__ = front(__name__)
