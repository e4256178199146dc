"""Templates of promptfoo: names in double braces filled in; whatever has logic is left alone, and said so."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_PLACE: Final = re.compile(r"\{\{-?\s*([A-Za-z_][\w.]*)\s*-?\}\}")
_RAW: Final = re.compile(r"\{%-?\s*raw\s*-?%\}(.*?)\{%-?\s*endraw\s*-?%\}", re.DOTALL)
_LOGIC: Final = re.compile(r"\{\{|\{%|\{#")


class Unrendered(Exception):  # noqa: N818 - a finding, which the reader reports
    """A text has loops, filters or conditions, which are not carried out."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as it stands in a config, and the name that it has there."""

    text: str
    label: str = ""


def names_in(template: str) -> list[str]:
    """The variables of a template, in their order, each once.

    >>> names_in("{{ question }} in {{tone}}, {{question}}")
    ['question', 'tone']
    """
    return list(dict.fromkeys(found.partition(".")[0] for found in _PLACE.findall(_RAW.sub("", template))))


def rendered(template: str, values: Mapping[str, object]) -> str:
    """The template with the variables filled in; a variable that nobody knows is blank, as in promptfoo.

    Raises:
        Unrendered: it has logic.

    >>> rendered("In {{ days }} days: {% raw %}{{x}}{% endraw %}", {"days": 5})
    'In 5 days: {{x}}'
    """
    pieces, place = [], 0
    for raw in _RAW.finditer(template):
        pieces += [_filled(template[place : raw.start()], values), raw[1]]
        place = raw.end()
    return "".join([*pieces, _filled(template[place:], values)])


def _filled(template: str, values: Mapping[str, object]) -> str:
    if _LOGIC.search(_PLACE.sub("", template)):
        raise Unrendered("templates with filters, conditions or loops are not carried out")
    return _PLACE.sub(lambda found: _value(found[1], values), template)


def _value(name: str, values: Mapping[str, object]) -> str:
    found: object = values
    for key in name.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
    return written(found)


def written(value: object) -> str:
    """A value as JavaScript writes it into a text."""
    match value:
        case None:
            return ""
        case str():
            return value
        case bool():
            return str(value).lower()
        case float() if value.is_integer():
            return str(int(value))
        case int() | float():
            return str(value)
        case _:
            return json.dumps(value, ensure_ascii=False, default=str)
