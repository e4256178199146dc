"""Browser: a page shown in whatever browser the machine has."""

from __future__ import annotations

from collections.abc import Callable

Browse = Callable[[str], bool]


def shown_in_browser(address: str, browse: Browse | None = None) -> bool:
    """Open an address in the browser; False where there is none, as on most servers.

    Args:
        address: of a file or of a server.
        browse: what opens it; left out, the browser that the machine, or ``BROWSER`` in the environment, names.
    """
    import webbrowser

    try:
        return bool((browse or webbrowser.open)(address))
    except (webbrowser.Error, OSError):  # it is named, but can't be started
        return False
