"""The parts of a message: what may have been meant by an unknown name, and what an exception says."""

import difflib
from collections.abc import Iterable
from typing import Final

_NAME: Final = type.__dict__["__name__"]


def nearest(name: str, known: Iterable[str], separator: str = "; ") -> str:
    """The end of a sentence about an unknown name: what it may have been meant to be."""
    names = {each.lower(): each for each in sorted(known)}
    close = [names[each] for each in difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.5)]
    return f"{separator}did you mean '{close[0]}'?" if close else "."


def exception_text(error: BaseException) -> str:
    """What an exception says; whose ``__str__`` raises says so. Never raises, whatever the exception is."""
    try:
        return str.__str__(str(error))  # a text of its own class may misbehave, too
    except BaseException as broken:  # noqa: BLE001 - foreign code
        return f"(its message can't be read: __str__ raised {exception_name(broken)})"


def exception_name(error: BaseException) -> str:
    """The name of an exception's class, whatever its metaclass does."""
    return str(_NAME.__get__(type(error)))


def exception_line(error: BaseException) -> str:
    """Class and text of an exception: ``ValueError: no such page``."""
    text = exception_text(error)
    return f"{exception_name(error)}: {text}" if text else exception_name(error)
