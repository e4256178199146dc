"""Knowledge digests: a hash of the documents of a bot, with and without some of them."""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property

from ..knowledge.documents import Document


def knowledge_digest(documents: Sequence[Document]) -> str:
    """A hash of all documents with their titles, in their order, which is the order in a prompt."""
    return _hash(map(_line, documents))


class KnowledgeDigests:
    """Digests of the same documents without some of them; the text of each is hashed once."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents

    def without(self, ids: Collection[str]) -> str:
        """The ``knowledge_digest`` of the documents that are left, in hex."""
        lines = zip(self._documents, self._lines, strict=True)
        return _hash(line for document, line in lines if document.id not in ids)

    @cached_property
    def _lines(self) -> tuple[bytes, ...]:
        return tuple(map(_line, self._documents))


def _line(document: Document) -> bytes:
    return f"{document.fingerprint}\0{document.title}\0".encode("utf-8", "surrogatepass")


def _hash(lines: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line)
    return digest.hexdigest()
