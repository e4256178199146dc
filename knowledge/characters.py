"""Characters that can be stored: no NUL, no lone surrogate."""

import re

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """The text with every NUL and lone surrogate replaced by U+FFFD, which SQLite and UTF-8 files can hold."""
    return _UNSTORABLE.sub("\ufffd", text)


def storable_value(value: object) -> object:
    """The JSON value with every text in it made storable, keys included."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [storable_value(item) for item in value]
    if isinstance(value, dict):
        return {storable(key): storable_value(item) for key, item in value.items()}
    return value
