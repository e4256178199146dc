"""Secret values: what a suite takes from the environment or holds itself that is taken out of all we keep and show."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import orjson

from ...bots.redaction import literal_secrets, redactor

if TYPE_CHECKING:
    from .settings import Suite

_VARIABLE = re.compile(r"\$\{?(\w+)")


def suite_redactor(suite: Suite, environ: Mapping[str, str]) -> Callable[[str], str]:
    """A function that takes every secret of a suite and of the environment out of a text."""
    written = suite.model_dump(mode="json", include={"bots", "models", "local_models"}, exclude_unset=True)
    return redactor(environ, named_variables(suite), literal_secrets(written))


def named_variables(suite: Suite) -> frozenset[str]:
    """The environment variables from which a suite takes keys and headers."""
    models = (*suite.models.values(), *suite.local_models.served.values())
    keys = {model.api_key_env for model in models}
    written = orjson.dumps(suite.model_dump(mode="json")["bots"]).decode()
    return frozenset(keys | set(_VARIABLE.findall(written)))
