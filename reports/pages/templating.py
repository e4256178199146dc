"""Templating: the templates of pages, with every text of others escaped."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup

from ..leaderboard import ARROWS, count, figure, milliseconds
from .row_addresses import rows_address
from .shown import shown

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, **values: object) -> Markup:
    """A template of ``templates/`` with its values; a value that is missing is an error, not a blank."""
    return Markup(environment().get_template(template).render(values))  # noqa: S704 - autoescape is on


@cache
def environment() -> Environment:
    """The environment of all templates: texts are escaped, and control characters in them made visible."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader(__package__, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalized,
    )
    made.filters |= {"figure": figure, "milliseconds": milliseconds, "count": count, "shown": shown}
    made.globals |= {"ARROWS": ARROWS, "rows_address": rows_address}
    return made


def _finalized(value: object) -> object:
    """Texts of others have their control characters shown; our own markup stays as it is."""
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value
