"""Document and Passage: what a bot may know, and a piece of it with its place."""

import hashlib
import re
from dataclasses import dataclass

HALF_CHARACTER = re.compile("[\ud800-\udfff]")  # a lone surrogate, which UTF-8 and so no file or request takes
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_EMPHASIS = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)")


def encodable(text: str) -> str:
    """The text with lone surrogates replaced by U+FFFD: UTF-8, and so no file, request or tokenizer, takes them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


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


def without_emphasis(text: str) -> str:
    """The text without Markdown's marks of emphasis and code; those of links, lists and headings stay."""
    return _EMPHASIS.sub("", text)


@dataclass(frozen=True, slots=True)
class Document:
    """One text of the knowledge; its id is the path relative to the knowledge folder, with forward slashes."""

    id: str
    text: str
    title: str = ""

    @property
    def fingerprint(self) -> str:
        """SHA-256 of id and text, in hex: equal fingerprints never need to be read or embedded again."""
        return hashlib.sha256(f"{self.id}\0{self.text}".encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document: ``document.text[start:end] == text``, in characters (code points)."""

    document: str
    start: int
    end: int
    text: str
