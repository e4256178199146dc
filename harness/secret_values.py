"""Secret values: the contents of secret-sounding environment variables, taken out of any text we keep or show."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
SHORTEST = 8  # shorter values would hide ordinary words


def redactor(environ: Mapping[str, str]) -> Callable[[str], str]:
    """A function that replaces every such value in a text by the name of its variable."""
    hidden = {value: f"${name}" for name, value in environ.items() if _SECRET.search(name) and len(value) >= SHORTEST}

    def redact(text: str) -> str:
        for value, name in hidden.items():
            text = text.replace(value, name)
        return text

    return redact
