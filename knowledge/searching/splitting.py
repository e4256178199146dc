"""Splitting: the ways to cut documents into passages, each a name with two sizes."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from ..cutting import cut
from ..documents import Document, Passage
from .sentence_cutting import cut_at_sentences

Splitter = Literal["recursive", "markdown", "sentences", "fixed"]
SPLITTERS: Final[tuple[Splitter, ...]] = get_args(Splitter)


@dataclass(frozen=True, slots=True)
class Splitting:
    """How documents are cut.

    Attributes:
        splitter: ``recursive`` at paragraphs, else lines, else words; ``markdown`` at headings, code blocks and rules
            before those; ``sentences`` never within a sentence that fits; ``fixed`` after so many characters.
        chunk_size: characters that a passage has at most, 20 or more.
        chunk_overlap: characters at most that a passage repeats from the one before.
    """

    splitter: Splitter = "recursive"
    chunk_size: int = 600
    chunk_overlap: int = 80

    @property
    def key(self) -> str:
        """Names all that the cuts depend on."""
        return f"{self.splitter} {self.chunk_size} {self.chunk_overlap}"

    def cut(self, document: Document) -> list[Passage]:
        """The passages of a document in its order, each ``document.text[start:end]`` to the character.

        Raises:
            InputError: the sizes make no sense.
        """
        if self.splitter == "sentences":
            return cut_at_sentences(document, self.chunk_size, self.chunk_overlap)
        return cut(document, self.chunk_size, self.chunk_overlap, self.splitter)
