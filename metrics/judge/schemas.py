"""JSON schemas of replies, as strict as servers with structured output ask for."""

from collections.abc import Mapping

Schema = Mapping[str, object]

TEXT: Schema = {"type": "string"}
YES_OR_NO: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": "number"}


def record(**properties: Schema) -> Schema:
    """An object with exactly these properties, in this order."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def several(item: Schema) -> Schema:
    """A list of such items."""
    return {"type": "array", "items": item}
