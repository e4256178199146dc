"""Sentence cutting: passages of whole sentences, as many as fit."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ..cutting import check_sizes, cut
from ..documents import Document, Passage

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
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
    for line in _pieces(_SURROGATE.sub("\ufffd", text)):
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
