"""Chunks: documents cut into pieces of whole sentences, as checkers of claims read them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .facts import is_blank
from .text import sentences


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of the contexts.

    Attributes:
        text: as it stands there.
        contexts: the ranks of the contexts in which it stands, counted from 1, blank ones too.
    """

    text: str
    contexts: tuple[int, ...]


def packed(texts: Sequence[str], words: int, language: str = "en", joint: bool = False) -> tuple[Chunk, ...]:
    r"""The texts cut between sentences: each chunk has as many of them as have at most so many words together.

    A sentence of more words is a chunk of its own. What lies between the sentences of a chunk stays as it is.

    Args:
        texts: the contexts in the order of their ranks; a blank one has no chunk.
        words: of a chunk, counted between white space.
        language: ISO 639 code, for the sentence splitter.
        joint: whether a chunk may go on from one text to the next, with a line break between them.

    >>> packed(["One two. Three.", "Four five."], words=3)
    (Chunk(text='One two. Three.', contexts=(1,)), Chunk(text='Four five.', contexts=(2,)))
    >>> packed(["One two. Three.", "Four five."], words=5, joint=True)
    (Chunk(text='One two. Three.\nFour five.', contexts=(1, 2)),)
    """
    chunks: list[Chunk] = []
    held: list[tuple[int, int, int]] = []  # rank, and from where to where
    room = words
    for rank, text in enumerate(texts, start=1):
        for start, end in _spans(text, language):
            size = len(text[start:end].split())
            if held and (size > room or (not joint and held[-1][0] != rank)):
                chunks.append(_chunk(texts, held))
                held, room = [], words
            if held and held[-1][0] == rank:
                held[-1] = (rank, held[-1][1], end)
            else:
                held.append((rank, start, end))
            room -= size
    return (*chunks, _chunk(texts, held)) if held else tuple(chunks)


def _chunk(texts: Sequence[str], parts: Sequence[tuple[int, int, int]]) -> Chunk:
    text = "\n".join(texts[rank - 1][start:end] for rank, start, end in parts)
    return Chunk(text, tuple(rank for rank, _, _ in parts))


def _spans(text: str, language: str) -> Iterator[tuple[int, int]]:
    """From where to where each sentence stands; the whole text where the splitter finds none in it."""
    end = 0
    for sentence in sentences(text, language):
        start = text.find(sentence, end)
        end = start + len(sentence)
        yield start, end
    if end == 0 and not is_blank(text):
        yield 0, len(text)
