"""Document and Passage: what a bot may know, and a piece of it with its place."""

import hashlib
from dataclasses import dataclass


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
