"""Splitting: documents cut into passages that know their place, by characters or by sentences."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from ... import InputError
from ..documents.document import HALF_CHARACTER, Document, Passage

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


_LONGEST_LINE: Final = 10_000  # characters that are taken apart at once
_SENTENCE_END: Final = re.compile(r"(?<=[^\W\d_]{4}[.!?])\s+(?=[^\W\d_a-z])|(?<=[。！？])")  # noqa: RUF001 - of other scripts
Span = tuple[int, int]


def cut_at_sentences(document: Document, chunk_size: int, chunk_overlap: int) -> list[Passage]:
    """Cut a document between sentences; one that is longer than a passage is cut like any text.

    Args:
        document: what to cut.
        chunk_size: characters that a passage has at most.
        chunk_overlap: a passage begins with those last sentences of the one before that are not longer in all.

    Raises:
        InputError: the sizes make no sense.
    """
    check_sizes(chunk_size, chunk_overlap)
    spans = sentence_spans(document.text)
    passages: list[Passage] = []
    first = 0
    while first < len(spans):
        last = _last_that_fits(spans, first, chunk_size)
        start, end = spans[first][0], spans[last][1]
        if end - start > chunk_size:
            inner = cut(Document(document.id, document.text[start:end]), chunk_size, chunk_overlap)
            passages += [Passage(document.id, start + each.start, start + each.end, each.text) for each in inner]
        else:
            passages.append(Passage(document.id, start, end, document.text[start:end]))
        if last == len(spans) - 1:
            break
        first = _next_first(spans, first, last, chunk_size, chunk_overlap)
    return passages


def sentence_spans(text: str) -> list[Span]:
    """Where the sentences of a text stand, blanks at their ends left out; a line end ends a sentence.

    >>> sentence_spans("Ask Dr. Roe. She knows.")
    [(0, 12), (13, 23)]
    """
    from sentencex import segment

    spans: list[Span] = []
    start = 0
    # Half characters are refused by the library; their stand-ins are as long, so that places stay what they are.
    for line in _pieces(HALF_CHARACTER.sub("\ufffd", text)):
        place = 0
        for sentence in segment("en", line) if line.strip() else ():
            if inner := sentence.strip():
                place = line.index(inner, place)
                spans.append((start + place, start + place + len(inner)))
                place += len(inner)
        start += len(line)
    return spans


def _pieces(text: str) -> Iterator[str]:
    """The lines of a text, long ones in pieces: where quotes stay open, the library's time grows with the square."""
    for line in text.splitlines(keepends=True):
        start = 0
        while len(line) - start > _LONGEST_LINE:
            ends = [found.end() for found in _SENTENCE_END.finditer(line, start, start + _LONGEST_LINE)]
            end = ends[-1] if ends else line.rfind(" ", start, start + _LONGEST_LINE) + 1
            end = end if end > start else start + _LONGEST_LINE
            yield line[start:end]
            start = end
        yield line[start:]


def _last_that_fits(spans: Sequence[Span], first: int, chunk_size: int) -> int:
    """The last sentence of a passage that begins with ``first``, which is in it even if it is too long."""
    last = first
    while last + 1 < len(spans) and spans[last + 1][1] - spans[first][0] <= chunk_size:
        last += 1
    return last


def _next_first(spans: Sequence[Span], first: int, last: int, chunk_size: int, chunk_overlap: int) -> int:
    """Where the next passage begins: as early as the overlap allows and the sentence that comes next still fits."""
    following = last + 1
    for candidate in range(first + 1, following):
        repeated = spans[last][1] - spans[candidate][0]
        if repeated <= chunk_overlap and spans[following][1] - spans[candidate][0] <= chunk_size:
            return candidate
    return following


Splitter = Literal["recursive", "markdown", "sentences", "fixed"]


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
