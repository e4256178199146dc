"""Cutting documents into passages that know their place."""

from bisect import bisect_left
from typing import TYPE_CHECKING, Literal

from .. import InputError
from .documents import Document, Passage

if TYPE_CHECKING:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

_SMALLEST = 20  # characters; below that a passage is a few words and retrieval has nothing to go by
_CARRIED = 256  # places of a piece; more than a few are met only in texts such as a thousand times the same letter


def cut(
    document: Document,
    chunk_size: int = 600,
    chunk_overlap: int = 80,
    splitter: Literal["recursive", "markdown", "fixed"] = "recursive",
) -> list[Passage]:
    """Cut a document at paragraphs, else lines, else words, else anywhere, into passages that follow its order.

    The cuts are those of LangChain's ``RecursiveCharacterTextSplitter``. Every passage is
    ``document.text[start:end]`` to the character; blanks at its ends are left out, and so is a passage of
    blanks alone or one that would lie wholly within its neighbour.

    Args:
        document: what to cut.
        chunk_size: characters that a passage has at most, 20 or more.
        chunk_overlap: characters at most that a passage repeats from the one before, below ``chunk_size``.
        splitter: ``markdown`` cuts at headings, code blocks and rules before paragraphs; ``fixed`` anywhere.

    Raises:
        InputError: the sizes make no sense.
    """
    check_sizes(chunk_size, chunk_overlap)
    text = document.text
    pieces = _splitter(splitter, chunk_size, chunk_overlap).split_text(text)
    passages: list[Passage] = []
    for start, piece in zip(_places(text, pieces, chunk_overlap), pieces, strict=True):
        inner = piece.strip()
        start += len(piece) - len(piece.lstrip())
        end = start + len(inner)
        # without its blanks a piece can lie wholly in the passage before, or that one in it
        if inner and (not passages or end > passages[-1].end):
            if passages and passages[-1].start >= start:
                passages.pop()
            passages.append(Passage(document.id, start, end, inner))
    return passages


def check_sizes(chunk_size: int, chunk_overlap: int) -> None:
    """Refuse sizes that make no sense, by an InputError."""
    if chunk_size < _SMALLEST:
        raise InputError(f"chunk_size must be {_SMALLEST} characters or more, not {chunk_size}.")
    if not 0 <= chunk_overlap < chunk_size:
        raise InputError(f"chunk_overlap must be from 0 to below chunk_size ({chunk_size}), not {chunk_overlap}.")


def _splitter(name: str, chunk_size: int, chunk_overlap: int) -> "RecursiveCharacterTextSplitter":
    from langchain_text_splitters import Language, RecursiveCharacterTextSplitter

    separators: list[str] | None = None
    if name == "markdown":
        separators = RecursiveCharacterTextSplitter.get_separators_for_language(Language.MARKDOWN)
    elif name == "fixed":
        separators = [""]
    return RecursiveCharacterTextSplitter(
        separators, chunk_size=chunk_size, chunk_overlap=chunk_overlap, keep_separator=True, strip_whitespace=False,
        is_separator_regex=name == "markdown",
    )  # fmt: skip


def _places(text: str, pieces: list[str], overlap: int) -> list[int]:
    """Where each piece starts; it is at most ``overlap`` before the end of the piece before, and never after it.

    In a text that repeats itself a piece fits in several places, of which only some let the pieces after it reach
    the end of the text, so several are carried along.
    """
    possible: list[dict[int, int]] = []  # for each piece: start -> start of the piece before
    ends = {0: 0}
    for piece in pieces:
        starts = _starts(text, piece, overlap, ends)
        possible.append(starts)
        ends = {start + len(piece): start for start in starts}
    place = ends.get(len(text), next(iter(ends.values())))
    places = []
    for starts in reversed(possible):
        places.append(place)
        place = starts[place]
    return places[::-1]


def _starts(text: str, piece: str, overlap: int, ends: dict[int, int]) -> dict[int, int]:
    """The first places where a piece fits, with the start of the piece before; ``ends`` are in rising order."""
    rising = list(ends)
    first, last = max(0, rising[0] - overlap), rising[-1] + len(piece)
    starts: dict[int, int] = {}
    place = text.find(piece, first, last)
    while place >= 0 and len(starts) < _CARRIED:
        after = bisect_left(rising, place)
        if after < len(rising) and rising[after] - overlap <= place:
            starts[place] = ends[rising[after]]
        place = text.find(piece, place + 1, last)
    # the earliest place is never too late, so the piece does follow, though perhaps after a gap of repeated text
    return starts or {text.find(piece, first): ends[rising[0]]}
