"""cache_folder: where what can be made again is kept between runs."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path


def cache_folder(environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    """The folder for caches; it may not exist yet, and losing it costs time only.

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
