"""Prompt texts: what a suite's bots are told beforehand (prompts), and what they look answers up in (FAQ entries)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ...bots.faq_file import read_faq
from ...bots.prompting import load_template
from ...bots.settings import (
    FaqSettings,
    FullContextSettings,
    HttpSettings,
    LangChainSettings,
    PythonSettings,
    RagSettings,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...bots.faq import FaqEntry
    from ..suite.suite_file import LoadedSuite


def prompts_of(loaded: LoadedSuite) -> dict[str, str]:
    """The prompts that a suite file tells, by bot: of files, of the body of a request, of the options of own code.

    What own code says to a model besides is not known.

    Raises:
        InputError: a prompt file can't be read.
    """
    return {name: text for name, bot in loaded.suite.bots.items() if (text := _prompt(bot, loaded.base)).strip()}


def faq_entries(loaded: LoadedSuite) -> dict[str, tuple[FaqEntry, ...]]:
    """The entries of each FAQ bot of a suite.

    Raises:
        InputError: a file of entries can't be read.
    """
    return {
        name: read_faq(loaded.base / bot.entries).entries
        for name, bot in loaded.suite.bots.items()
        if isinstance(bot, FaqSettings)
    }


@cache
def built_in_prompts() -> tuple[str, ...]:
    """The templates that ship with the package; what stands in them is no leak."""
    return tuple(load_template(None, kind).text for kind in ("rag", "full_context"))


def _prompt(bot: object, base: Path) -> str:
    match bot:
        case RagSettings() | FullContextSettings():
            return load_template(bot.prompt and base / bot.prompt, bot.type).text
        case HttpSettings():
            return "\n".join(_texts(bot.body))
        case PythonSettings() | LangChainSettings():
            return "\n".join(_texts(bot.options))
    return ""


def _texts(value: object) -> Iterator[str]:
    """Every text in nested lists and mappings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _texts(each)
