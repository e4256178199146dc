"""Installed bots: kinds of bot that other packages bring, by the entry points ``proctor.bots``."""

import difflib
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points

from .. import InputError
from .settings import PythonSettings

GROUP = "proctor.bots"
_OF_EVERY_BOT = ("timeout", "concurrency")


def installed_kind(kind: str) -> EntryPoint | None:
    """Where a package says that the code of a kind of bot is; None where no package has it. Nothing is imported."""
    return next(iter(entry_points(group=GROUP, name=kind)), None)


def installed_bot(kind: str, settings: Mapping[str, object]) -> PythonSettings:
    """The settings of a kind that some package brings: its function, class or object is called with the others.

    Raises:
        InputError: no installed package has such a kind; with the nearest that there is.
    """
    found = installed_kind(kind)
    if found is None:
        known = sorted({each.name for each in entry_points(group=GROUP)})
        near = difflib.get_close_matches(kind, known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else f" There are {', '.join(known)}." if known else ""
        raise InputError(
            f"No installed package has a bot {kind!r} (entry point {GROUP}). A bot of your own is a function, or "
            f"'file.py:name' or 'package.module:name'.{hint}"
        )
    own = {key: value for key, value in settings.items() if key in _OF_EVERY_BOT}
    options = {key: value for key, value in settings.items() if key not in (*_OF_EVERY_BOT, "type")}
    return PythonSettings(type="python", target=found.value, options=options, **own)
