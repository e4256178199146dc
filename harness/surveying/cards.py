"""Cards: what each document does for the answers, and which questions have to do with which documents."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ...bots.settings import RagSettings
from ...reports.statistics.intervals import wilson
from ...reports.surveys.documents import Covered, DocumentCard
from ..ground.text_language import language_of
from .passages_in_use import cut_all, excerpt, single_passages, unused_passages
from .retrieved import MadeFrom, Retrieved, find_retrieved

if TYPE_CHECKING:
    from ...knowledge.documents import Document, Passage
    from ...knowledge.evidence import Span
    from ...reports.surveys.blame import Blame, DocumentBlame
    from ...reports.surveys.finding import Excerpt
    from ..ground.answers import Answers
    from ..ground.ground import Ground
from ..ground.listed_names import listed

_BYTES_PER_TOKEN: Final = 4  # OpenAI's rule of thumb for English, in UTF-8


@dataclass(frozen=True, slots=True)
class Cards:
    """A card for each document, the worst first, and what there is to say of them together."""

    cards: tuple[DocumentCard, ...]
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class _Use:
    """What answers did with one document; ``is_vague`` where some don't tell which part of it they were made from."""

    retrieved: int = 0
    needed: int = 0
    placed: int = 0
    wrong: int = 0
    marked: int = 0
    spans: set[Span] = field(default_factory=set)
    is_vague: bool = False


def document_cards(ground: Ground, answers: Answers | None, blame: Blame | None = None) -> Cards:
    """A card for every document.

    First come those that caused failures, the most first. Then those that stood in wrong answers, by the share that
    is sure to be wrong (lower end of Wilson's interval, so that one wrong answer of one says little). Then those that
    hold evidence and never stood in an answer, by how many questions need them. Then the others, and last those that
    do nothing: neither read nor needed. Equal ones stay in the order of the documents.

    Args:
        ground: documents and questions.
        answers: None where no bot was asked; then the cards tell only what questions need.
        blame: what removing documents did to the answers; None where nobody asked.
    """
    retrieved = find_retrieved(ground, answers)
    desk = _Desk(ground, retrieved, {} if blame is None else {one.document: one for one in blame.documents})
    cards = tuple(sorted((desk.card(document) for document in ground.documents), key=_rank))
    return Cards(cards, tuple(_warnings(retrieved, cards)))


class _Desk:
    """What all cards are made from."""

    def __init__(self, ground: Ground, retrieved: Retrieved, blamed: Mapping[str, DocumentBlame]) -> None:
        counted = retrieved.chosen or retrieved.given
        self._uses = _uses(counted, ground)
        self._tokens = _tokens((*retrieved.chosen, *retrieved.given))
        self._passages = cut_all(ground)
        self._holding, self._needing = _questions(ground)
        self._blamed = blamed
        self._overlap = ground.present.chunk_overlap
        self._is_read = bool(counted)
        self._is_cut = any(isinstance(bot, RagSettings) for bot in ground.loaded.suite.bots.values())
        self._single = single_passages(ground.gold.values(), self._passages) if self._is_cut else frozenset()

    def card(self, document: Document) -> DocumentCard:
        """The card of a document."""
        use, pieces, blame = self._uses[document.id], self._passages[document.id], self._blamed.get(document.id)
        tried = blame if blame is not None and blame.tried else None
        return DocumentCard(
            document=document.id,
            title=document.title,
            characters=len(document.text),
            language=language_of(document.text),
            passages=len(pieces) if self._is_cut else 1,
            questions=tuple(self._holding.get(document.id, ())),
            only_support=tuple(self._needing.get(document.id, ())),
            single_passages=self._singles(document, pieces),
            retrieved=use.retrieved,
            needed=use.needed,
            unused=unused_passages(document, pieces, use.spans, self._overlap) if self._knows(use) else (),
            tokens=self._tokens.get(document.id, 0),
            wrong=use.wrong,
            marked=use.marked,
            caused=None if tried is None else len(tried.caused),
            carried=None if tried is None else len(tried.carried),
            placed=use.placed,
        )

    def _singles(self, document: Document, pieces: Sequence[Passage]) -> tuple[Excerpt, ...]:
        places = [(each.start, each.end) for each in pieces if (document.id, each.start, each.end) in self._single]
        return tuple(excerpt(document, *place) for place in places)

    def _knows(self, use: _Use) -> bool:
        """Whether it can be told which passages nobody read."""
        return self._is_read and not use.is_vague


def _uses(counted: Sequence[MadeFrom], ground: Ground) -> Mapping[str, _Use]:
    uses: defaultdict[str, _Use] = defaultdict(_Use)
    for one in counted:
        question = one.answer.question
        gold = ground.gold.get(question)
        holding = frozenset[str]() if gold is None else gold.documents
        is_nowhere = ground.by_key[question].answerable is False
        for document in one.documents:
            use = uses[document]
            use.retrieved += 1
            use.needed += document in holding
            use.placed += bool(holding) or is_nowhere
            use.marked += one.answer.right is not None
            use.wrong += one.answer.right is False
        for piece in one.pieces:
            if piece.span is None:
                uses[piece.document].is_vague = True
            else:
                uses[piece.document].spans.add(piece.span)
    return uses


def _tokens(made: Sequence[MadeFrom]) -> Mapping[str, int]:
    sizes: Counter[str] = Counter()
    for one in made:
        for piece in one.pieces:
            sizes[piece.document] += piece.size
    return {document: -(-size // _BYTES_PER_TOKEN) for document, size in sizes.items()}


def _questions(ground: Ground) -> tuple[Mapping[str, list[str]], Mapping[str, list[str]]]:
    """By document the questions whose answer stands in it, and those whose answer stands nowhere else."""
    holding: defaultdict[str, list[str]] = defaultdict(list)
    needing: defaultdict[str, list[str]] = defaultdict(list)
    for question in ground.questions:
        gold = ground.gold.get(question.id)
        for document in () if gold is None else gold.documents:
            holding[document].append(question.id)
        for document in () if gold is None else gold.needed_documents:
            needing[document].append(question.id)
    return holding, needing


def _rank(card: DocumentCard) -> tuple[float, ...]:
    """The worse, the less."""
    surely_wrong = wilson(card.wrong / card.marked, card.marked)[0] if card.wrong else 0.0
    never_found = len(card.only_support) + len(card.questions) if not card.retrieved else 0
    return (-(card.caused or 0), -surely_wrong, -never_found, is_idle(card))


def is_idle(card: DocumentCard) -> bool:
    """Whether a document does nothing: no answer was made from it, and no question is known to need it."""
    return not card.retrieved and not card.tokens and not card.questions


def _warnings(retrieved: Retrieved, cards: Sequence[DocumentCard]) -> Iterator[str]:
    if retrieved.silent:
        verb = "does" if len(retrieved.silent) == 1 else "do"
        yield f"{listed(retrieved.silent)} {verb} not tell what answers were made from, so no card counts them."
    for bot, count in retrieved.unknown.items():
        passages = "1 passage that it read is" if count == 1 else f"{count:,} passages that it read are"
        yield f"{bot}: {passages} of no document of the suite, so no card counts {'it' if count == 1 else 'them'}."
    if retrieved.given:
        bots = listed(retrieved.always_given)
        verb = "reads" if len(retrieved.always_given) == 1 else "read"
        what = "so the cards count only their tokens" if retrieved.chosen else "so the cards tell no document apart"
        yield f"{bots} {verb} the same passages whatever is asked, {what}."
    idle = [card.document for card in cards if is_idle(card)]
    if idle and (retrieved.chosen or retrieved.given):
        what, them = ("1 document does", "it") if len(idle) == 1 else (f"{len(idle):,} documents do", "them")
        lacking = f"No answer was made from {them}, and no question is known to need {them}."
        yield f"{what} nothing: {listed(idle)}. {lacking}"


def coverage(ground: Ground, answers: Answers | None) -> tuple[Covered, ...]:
    """Every question and document that have to do with each other, by questions, then by documents.

    What bots read that read the same for every question is left out: it would be each document for each question.
    """
    rank = {document.id: place for place, document in enumerate(ground.documents)}
    read: defaultdict[str, defaultdict[str, list[MadeFrom]]] = defaultdict(lambda: defaultdict(list))
    for one in find_retrieved(ground, answers).chosen:
        for document in one.documents:
            read[one.answer.question][document].append(one)
    found = []
    for question in ground.questions:
        gold = ground.gold.get(question.id)
        holding = frozenset[str]() if gold is None else gold.documents & rank.keys()
        by_document: Mapping[str, list[MadeFrom]] = read.get(question.id, {})
        for document in sorted(holding | by_document.keys(), key=rank.__getitem__):
            made = by_document.get(document, [])
            bots = tuple(one.answer.bot for one in made)
            wrong = tuple(one.answer.bot for one in made if one.answer.right is False)
            found.append(Covered(question.id, document, document in holding, bots, wrong))
    return tuple(found)
