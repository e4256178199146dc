"""Bots: what is under test, and how it is asked."""

from .as_bot import BuiltBot, as_bot
from .bot import Bot, BotMisconfigured, BotRefused, Context, Identity, Reply, Usage
from .chat.model import ChatModel, ChatRequest, Completion

__all__ = [
    "Bot",
    "BotMisconfigured",
    "BotRefused",
    "BuiltBot",
    "ChatModel",
    "ChatRequest",
    "Completion",
    "Context",
    "Identity",
    "Reply",
    "Usage",
    "as_bot",
]
