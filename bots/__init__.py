"""Bots: what is under test, and how it is asked."""

from .base import Bot, BotMisconfigured, BotRefused, Context, Identity, Reply, Usage
from .chat import ChatModel, ChatRequest, Completion
from .wrapping import BuiltBot, as_bot

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
