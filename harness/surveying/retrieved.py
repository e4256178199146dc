"""Retrieved: from which pieces of today's documents each answer was made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...knowledge.evidence import EvidenceFinder, Span

if TYPE_CHECKING:
    from ..ground.answers import Answer, Answers
    from ..ground.ground import Ground


@dataclass(frozen=True, slots=True)
class Piece:
    """What of a document stood before a bot: its place, None where it can't be told, and its size in UTF-8."""

    document: str
    span: Span | None
    size: int


@dataclass(frozen=True, slots=True)
class MadeFrom:
    """An answer with the pieces of known documents that it was made from, best first."""

    answer: Answer
    pieces: tuple[Piece, ...]

    @property
    def documents(self) -> tuple[str, ...]:
        """Ids of these documents, each once."""
        return tuple(dict.fromkeys(piece.document for piece in self.pieces))


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The answers of bots that tell what they were made from.

    Attributes:
        chosen: those of bots that choose what they read.
        given: those of bots that read the same for every question, such as all documents; of single documents their
            answers tell nothing.
        silent: bots that don't tell.
        unknown: passages of documents that the suite does not have, by bot.
    """

    chosen: tuple[MadeFrom, ...] = ()
    given: tuple[MadeFrom, ...] = ()
    silent: tuple[str, ...] = ()
    unknown: Mapping[str, int] = field(default_factory=dict)

    @property
    def always_given(self) -> tuple[str, ...]:
        """Names of the bots that read the same for every question."""
        return tuple(dict.fromkeys(one.answer.bot for one in self.given))


def find_retrieved(ground: Ground, answers: Answers | None) -> Retrieved:
    """Place what the answers to the ground's questions were made from in its documents."""
    if answers is None:
        return Retrieved()
    finder = EvidenceFinder(ground.documents)
    unknown: Counter[str] = Counter()
    told: dict[str, list[MadeFrom]] = {bot: [] for bot in answers.bots}
    for answer in answers.rows:
        if answer.contexts is None or answer.question not in ground.by_key:
            continue
        pieces = _placed(answer, finder)
        known = tuple(piece for piece in pieces if piece.document in ground.by_id)
        unknown[answer.bot] += len(pieces) - len(known)
        told[answer.bot].append(MadeFrom(answer, known))
    fixed = {bot for bot, made in told.items() if _reads_the_same(made)}
    return Retrieved(
        chosen=tuple(one for bot, made in told.items() if bot not in fixed for one in made),
        given=tuple(one for bot, made in told.items() if bot in fixed for one in made),
        silent=tuple(bot for bot, made in told.items() if not made),
        unknown={bot: count for bot, count in unknown.items() if count},
    )


def _placed(answer: Answer, finder: EvidenceFinder) -> Sequence[Piece]:
    pieces = []
    for context in answer.contexts or ():
        document, span = finder.place(context.document, context.text, context.start, context.end)
        pieces.append(Piece(document, span, len(context.text.encode("utf-8", "surrogatepass"))))
    return pieces


def _reads_the_same(made: Iterable[MadeFrom]) -> bool:
    """Whether several answers were made from the same pieces, more than one, whatever was asked."""
    sets = [frozenset((piece.document, piece.span) for piece in one.pieces) for one in made]
    return len(sets) > 1 and len(sets[0]) > 1 and len(set(sets)) == 1
