"""Document cards: what each document does for the answers, and which questions it covers."""

from __future__ import annotations

from dataclasses import dataclass

from .finding import Excerpt


@dataclass(frozen=True, slots=True)
class DocumentCard:
    """What one document does. Counts are over the answers of all bots that tell what they retrieved.

    Attributes:
        document: its id.
        title: its title, or blank.
        characters: of its text.
        language: ISO 639 code; blank where it can't be told.
        passages: how many it has as the bots cut it (the first bot with a retriever; 1 where none cuts).
        questions: keys of the questions whose evidence, or whose answer's support, stands in it.
        only_support: those of them that no other document supports: gone, if this document goes.
        single_passages: its passages that are the only support of a question (single points of failure).
        retrieved: in how many answers it stood.
        needed: in how many of these the question's evidence was in it.
        placed: in how many of these it is known where the answer stands, or that it stands nowhere; None for all.
        unused: passages that no answer was made from, in document order.
        tokens: what its passages took in prompts in all, about (four bytes a token).
        wrong: in how many wrong answers it stood.
        marked: in how many answers it stood that are known to be right or wrong.
        caused: failures that ended when it was removed (see ``blame``); None where nobody asked.
        carried: answers that became wrong when it was removed; None where nobody asked.
    """

    document: str
    title: str
    characters: int
    language: str = ""
    passages: int = 0
    questions: tuple[str, ...] = ()
    only_support: tuple[str, ...] = ()
    single_passages: tuple[Excerpt, ...] = ()
    retrieved: int = 0
    needed: int = 0
    unused: tuple[Excerpt, ...] = ()
    tokens: int = 0
    wrong: int = 0
    marked: int = 0
    caused: int | None = None
    carried: int | None = None
    placed: int | None = None

    @property
    def precision(self) -> float | None:
        """Share of the answers in which it stood where it held evidence; None where that is known of none."""
        told = self.retrieved if self.placed is None else self.placed
        return self.needed / told if told else None


@dataclass(frozen=True, slots=True)
class Covered:
    """A question and a document that have to do with each other.

    Attributes:
        question: key of the question.
        document: id of the document.
        holds: whether evidence, or the answer's support, stands in it.
        retrieved_by: bots in whose contexts it stood.
        wrong_for: those of them whose answer was wrong.
    """

    question: str
    document: str
    holds: bool
    retrieved_by: tuple[str, ...] = ()
    wrong_for: tuple[str, ...] = ()
