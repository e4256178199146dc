"""Templating: the templates of pages, with every text of others escaped."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from ..leaderboard import ARROWS, figure, milliseconds
from ..text import count, unbroken
from .charts import colour, shape, shortened
from .rows import rows_address

if TYPE_CHECKING:
    from jinja2 import Environment


# Direction overrides and embeddings can reverse a whole line; a page isolates texts instead.
_DIRECTION_MARKS: Final = [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_PICTURES: Final[dict[int, int | str]] = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n\r"},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
    **{code: f"\u27e8U+{code:04X}\u27e9" for code in _DIRECTION_MARKS},
    **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD),
}  # fmt: skip


def shown(text: str) -> str:
    r"""The text with control characters as their pictures, and direction marks spelt out.

    >>> shown("a\x00b\x1b[31m")
    'a␀b␛[31m'
    """
    return text.translate(_PICTURES)


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
    made.filters |= {
        "figure": figure,
        "milliseconds": milliseconds,
        "count": count,
        "shown": shown,
        "shortened": shortened,
        "unbroken": unbroken,
    }
    made.globals |= {"ARROWS": ARROWS, "rows_address": rows_address, "shape": shape, "colour": colour}
    return made


def _finalized(value: object) -> object:
    """Texts of others have their control characters shown; our own markup stays as it is."""
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value
