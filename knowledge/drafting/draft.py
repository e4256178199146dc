"""Draft and Asked: a question made of a document with the place that carries its answer, and before it has one."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Draft:
    """A question that somebody must still accept.

    Attributes:
        question: what would be asked.
        answer: what would be right.
        document: id of the document.
        start: where the evidence begins in the document, in characters.
        end: where it ends.
        kind: how it was made.
        shown: the evidence with what stands around it, for whoever decides.
    """

    question: str
    answer: str
    document: str
    start: int
    end: int
    kind: str
    shown: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a rule asks of a piece of text.

    Attributes:
        question: as it reads.
        answer: what the piece says.
        kind: the rule.
        subject: that of which it asks, to be looked at by itself; blank where there is nothing to look at.
    """

    question: str
    answer: str
    kind: str
    subject: str
