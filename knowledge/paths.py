"""Paths: checks paths that users give, and names the cache folder."""

import difflib
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from .. import InputError

_MOST_LISTED = 12  # names of what there is instead


def cache_folder(environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    """The folder for caches; it may not exist yet, and can be deleted at any time.

    ``PROCTOR_CACHE`` wins; else ``proctor`` in ``LOCALAPPDATA`` on Windows, in ``XDG_CACHE_HOME`` elsewhere, or in
    ``~/.cache``. A relative ``XDG_CACHE_HOME`` is ignored, as the XDG base directory specification asks.
    """
    own = environ.get("PROCTOR_CACHE")
    if own:
        return Path(own).expanduser()
    given = environ.get("LOCALAPPDATA" if platform == "win32" else "XDG_CACHE_HOME", "")
    if given and Path(given).is_absolute():
        return Path(given) / "proctor"
    home = environ.get("HOME") or os.path.expanduser("~")  # noqa: PTH111 - Path.home() raises without a home
    return Path(home) / ".cache" / "proctor"


def existing(path: Path, wanted: str) -> Path:
    """The path, if something is there.

    Raises:
        InputError: nothing is there; the message names ``wanted`` and the nearest name that does exist.
    """
    try:
        if path.exists():
            return path
    except OSError as error:  # a name too long, a folder above it that may not be entered
        raise unreadable(path, error) from error
    raise InputError(f"There is no {path}; {wanted} was wanted. {_nearest(path)}".rstrip())


def unreadable(path: Path, error: OSError) -> InputError:
    """The error to raise when the system refuses to read a path."""
    reason = (error.strerror or str(error)).lower()
    return InputError(f"{path} can't be read: {reason}.")


def _nearest(path: Path) -> str:
    folder = path.parent
    while not folder.is_dir() and folder != folder.parent:
        path, folder = folder, folder.parent
    try:
        names = sorted(entry.name for entry in folder.iterdir())
    except OSError:
        return ""
    close = difflib.get_close_matches(path.name, names, n=5, cutoff=0.6)
    near = [name for name in close if _alike(Path(name).stem, path.stem)]  # not by the ending alone
    if near:
        return f"Did you mean {folder / near[0]}?"
    there = [name for name in names if not name.startswith(".")]
    is_here = folder == Path()
    if not there:
        return "This folder is empty." if is_here else f"{folder} is empty."
    more = [f"{len(there) - _MOST_LISTED:,} more"] if len(there) > _MOST_LISTED else []
    place = "this folder" if is_here else str(folder)
    return f"In {place} there is: {', '.join([*there[:_MOST_LISTED], *more])}."


def _alike(one: str, other: str) -> bool:
    return difflib.SequenceMatcher(None, one.lower(), other.lower()).ratio() >= 0.5
