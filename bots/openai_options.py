"""Options: fields of a request that an endpoint may refuse; they are left out then, and the endpoint remembers it."""

import re
from collections.abc import Mapping

RESPONSE_FORMAT = "response_format"
TEMPERATURE = "temperature"
STREAM_OPTIONS = "stream_options"
_STRICT, _OBJECT, _PLAIN = range(3)  # how a JSON answer is asked for, from the most that an endpoint can do


class Manners:
    """What an endpoint was found to take and to refuse, by all requests that were sent to it."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._refused: set[str] = set()
        self._format = _STRICT
        self._formats: dict[str, int] = {}

    def takes(self, field: str) -> bool:
        """False when the endpoint refused the field before."""
        return field not in self._refused

    def is_known_to_take(self, field: str) -> bool:
        """True when a request with the field went well before: what is wrong with another one is something else."""
        return field in self._taken

    def format_for(self, name: str) -> int:
        """How an answer after the schema of this name is asked for."""
        return self._formats.get(name, self._format)

    def took(self, field: str) -> None:
        """A request with the field, in its strictest form, went well."""
        self._taken.add(field)
        if field == RESPONSE_FORMAT:
            self._format = _STRICT

    def refused(self, field: str) -> None:
        """A request went well without the field that had failed with it."""
        self._refused.add(field)

    def settled_for(self, name: str, format: int) -> None:
        """A request went well with less than a schema; where schemas are known to work, it was this one."""
        self._formats[name] = format
        if RESPONSE_FORMAT not in self._taken:
            self._format = max(self._format, format)


class Options:
    """The optional fields of one request, from the most that can be asked to what the endpoint takes.

    Several requests may find out the same thing at once: each steps down by itself, and the endpoint remembers only
    what went well, so that a request that fails for another reason teaches it nothing.

    Args:
        manners: of the endpoint.
        schema: what the answer should follow.
        temperature: in place of the configured one.
        usage: whether a streamed answer is to end with its tokens.
    """

    def __init__(
        self,
        manners: Manners,
        *,
        schema: Mapping[str, object] | None = None,
        temperature: float | None = None,
        usage: bool = False,
    ) -> None:
        self._manners = manners
        self._schema = schema
        self._name = _name_of(schema) if schema is not None else ""
        self._format = manners.format_for(self._name) if schema is not None else _PLAIN
        self._temperature = temperature
        self._asked = {
            field for field, asked in ((TEMPERATURE, temperature is not None), (STREAM_OPTIONS, usage)) if asked
        }
        self._sent = {field for field in self._asked if manners.takes(field)}
        self._left_out: set[str] = set()

    @property
    def fields(self) -> frozenset[str]:
        """What the request has that can be left out."""
        return frozenset(self._sent | ({RESPONSE_FORMAT} if self._format < _PLAIN else set()))

    def fill(self, body: Mapping[str, object]) -> dict[str, object]:
        """The request with the fields."""
        filled = dict(body)
        if TEMPERATURE in self._asked:
            filled.pop(TEMPERATURE, None)
        if TEMPERATURE in self._sent:
            filled[TEMPERATURE] = self._temperature
        if STREAM_OPTIONS in self._sent:
            filled[STREAM_OPTIONS] = {"include_usage": True}
        if self._format == _STRICT:
            wanted = {"name": self._name, "strict": True, "schema": self._schema}
            filled[RESPONSE_FORMAT] = {"type": "json_schema", "json_schema": wanted}
        elif self._format == _OBJECT:
            filled[RESPONSE_FORMAT] = {"type": "json_object"}
        return filled

    def leave_out(self, field: str) -> bool:
        """Ask for less after a refusal.

        Args:
            field: what the endpoint named; blank when it only said that the request was bad.

        Returns:
            False when there is nothing that the refusal can be about.
        """
        if not field:
            doubtful = [each for each in sorted(self.fields) if not self._manners.is_known_to_take(each)]
            if not doubtful:
                return False
            field = doubtful[0]
        if field not in self.fields:
            return False
        self._left_out.add(field)
        if field == RESPONSE_FORMAT:
            self._format += 1
        else:
            self._sent.discard(field)
        return True

    def settle(self) -> None:
        """The request went well: tell the endpoint's manners."""
        for field in self.fields - self._left_out:
            if field != RESPONSE_FORMAT or self._format == _STRICT:
                self._manners.took(field)
        for field in self._left_out:
            if field == RESPONSE_FORMAT:
                self._manners.settled_for(self._name, self._format)
            else:
                self._manners.refused(field)


def _name_of(schema: Mapping[str, object]) -> str:
    """A name for the schema, in the letters that OpenAI allows: its title, or its properties."""
    properties = schema.get("properties")
    said = schema.get("title") or "_".join(properties if isinstance(properties, Mapping) else ())
    return re.sub(r"[^A-Za-z0-9_-]", "_", str(said))[:64] or "reply"
