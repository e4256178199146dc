"""Secret values: the contents of environment variables that hold secrets, taken out of any text we keep or show."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

import orjson

if TYPE_CHECKING:
    from .settings import Suite

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH", re.IGNORECASE)
_VARIABLE = re.compile(r"\$\{?(\w+)")
SHORTEST = 8  # shorter values would hide ordinary words


def redactor(environ: Mapping[str, str], named: Collection[str] = ()) -> Callable[[str], str]:
    """A function that replaces every secret value in a text by the name of its variable.

    Args:
        environ: the environment; variables with secret-sounding names are secret.
        named: variables that are secret whatever they are called.
    """
    secrets = {
        value.strip(): f"${name}"
        for name, value in environ.items()
        if (name in named or _SECRET.search(name)) and len(value.strip()) >= SHORTEST
    }
    longest_first = sorted(secrets, key=len, reverse=True)  # of two that begin alike, no end is left standing

    def redact(text: str) -> str:
        for value in longest_first:
            text = text.replace(value, secrets[value])
        return text

    return redact


def named_variables(suite: Suite) -> frozenset[str]:
    """The environment variables from which a suite takes keys and headers."""
    models = (*suite.models.values(), *suite.local_models.served.values())
    keys = {model.api_key_env for model in models}
    written = orjson.dumps(suite.model_dump(mode="json")["bots"]).decode()
    return frozenset(keys | set(_VARIABLE.findall(written)))
