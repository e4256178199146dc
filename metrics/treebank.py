"""Word tokens of a sentence, equal to those of NLTK's word tokenizer but without loading NLTK for usual text."""

# ruff: noqa: RUF001 - quotes and dashes that look alike are what this file tells apart

import re
from collections.abc import Callable
from functools import cache, lru_cache
from itertools import chain
from typing import Final, Protocol, cast

# Usual text is read piece by piece, a piece being what stands between blanks, because nearly all rules of the
# Treebank tokenizer look no further than that. What they do look further for is named in `_tokens_by_piece`;
# such a sentence goes to NLTK itself, so the outcome is the same for every input.
_CLOSERS: Final = "\\])}>\"'»”’"
_SEPARATOR_RULES: Final = r"""
      (\.{2,}                                       # dots in a row stay together
     | --
     | ``?
     | [«“‘„»”’;@\#$%&‒–—―?!*\[\](){}<>"]
     | [:,](?!\d)                                   # not the comma of 3,50 nor the colon of 10:30
     | (?<!\w)'(?!(?i:re|ve|ll|m|t|s|d|n)\b)(?=\w)  # a quote that opens, not the one of 's
"""
_SEPARATORS: Final = re.compile(_SEPARATOR_RULES + ")", re.VERBOSE)
_LAST_SEPARATORS: Final = re.compile(
    _SEPARATOR_RULES + rf"| (?<!\.)\.(?=[{_CLOSERS}]*\Z) )",  # and the full stop of the sentence
    re.VERBOSE,
)
_ALL_CLOSERS: Final = re.compile(rf"[{_CLOSERS}]+")
_UNUSUAL: Final = re.compile(r"""''|""|[:,]{2}|'[sSmMdD]'|\w'[tT](?i:is|was)""")
_OTHER_SPACE: Final = re.compile(r"[^\S ]")
_OPENS_A_QUOTE: Final = frozenset("([{<«“‘„`")
_QUOTES_AND_DASHES: Final = frozenset("«“‘„»”’‒–—―")
_POSSESSIVE: Final = re.compile(r"(.*[^'])('[sSmMdD]?)", re.DOTALL)
_CLITIC: Final = re.compile(r"(.*[^'])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T)", re.DOTALL)
_TWO_IN_ONE: Final = re.compile(
    r"\b(can(?=not\b)|d(?='ye\b)|gim(?=me\b)|gon(?=na\b)|got(?=ta\b)|lem(?=me\b)|more(?='n\b)|wan(?=na\Z))"
    r"(not|'ye|me|na|ta|'n)",
    re.IGNORECASE,
)
_CACHED_LENGTH: Final = 40


_Reader = Callable[[str], tuple[str, ...] | None]


class _Tokenizer(Protocol):
    def tokenize(self, text: str) -> list[str]: ...


def word_tokens(sentence: str) -> list[str]:
    """The tokens that ``nltk.tokenize.NLTKWordTokenizer().tokenize(sentence)`` gives.

    >>> word_tokens("They can't refund 3,50 (or more).")
    ['They', 'ca', "n't", 'refund', '3,50', '(', 'or', 'more', ')', '.']
    """
    tokens = _tokens_by_piece(sentence)
    return _nltk_tokenizer().tokenize(sentence) if tokens is None else tokens


def _tokens_by_piece(sentence: str) -> list[str] | None:
    """The tokens, or None when the sentence must be seen whole."""
    pieces = sentence.split()
    if not pieces:
        return []
    if not sentence.isprintable() and _depends_on_space(sentence):
        return None
    final = _place_of_full_stop(pieces)
    if final != len(pieces) - 1 and _OTHER_SPACE.search(sentence):
        return None
    inner: _Reader = _inner_piece
    last: _Reader = _final_piece
    if max(map(len, pieces)) > _CACHED_LENGTH:
        inner, last = _inner_piece.__wrapped__, _final_piece.__wrapped__
    read = list(map(inner, pieces))
    if final >= 0:
        read[final] = last(pieces[final])
    return None if None in read else list(chain.from_iterable(cast("list[tuple[str, ...]]", read)))


def _place_of_full_stop(pieces: list[str]) -> int:
    """The piece whose last full stop ends the sentence: only closing brackets and quotes come after it."""
    place = len(pieces) - 1
    while place >= 0 and _ALL_CLOSERS.fullmatch(pieces[place]):
        if pieces[place].startswith('"'):
            return -1  # by itself this one opens a quotation
        place -= 1
    return place


def _depends_on_space(sentence: str) -> bool:
    """Whether space other than blanks matters: some rules name the blank itself, beside quotes and at the end."""
    beside_quotes = "'" in sentence or '"' in sentence
    return (beside_quotes or sentence[-1].isspace()) and _OTHER_SPACE.search(sentence) is not None


@lru_cache(maxsize=65_536)
def _inner_piece(piece: str) -> tuple[str, ...] | None:
    return _piece(piece, _SEPARATORS)


@lru_cache(maxsize=16_384)
def _final_piece(piece: str) -> tuple[str, ...] | None:
    return _piece(piece, _LAST_SEPARATORS)


def _piece(piece: str, separators: re.Pattern[str]) -> tuple[str, ...] | None:
    if piece.isalnum() and not _TWO_IN_ONE.search(piece):
        return (piece,)
    if _UNUSUAL.search(piece) or ("'" in piece and not _plain_letters(piece)):
        return None
    tokens: list[str] = []
    before = ""
    for part in separators.split(piece):
        if part == '"':
            tokens.append("``" if not before or before[-1] in _OPENS_A_QUOTE else "''")
        elif part:
            tokens += _chunk(part)
        before = part or before
    return tuple(token for chunk in tokens for token in _TWO_IN_ONE.sub(r" \1 \2 ", chunk).split())


def _plain_letters(piece: str) -> bool:
    """Whether all regular expression engines agree on which of the characters are part of a word."""
    return all(sign.isascii() or sign.isalpha() or sign in _QUOTES_AND_DASHES for sign in piece)


def _chunk(chunk: str) -> list[str]:
    """A stretch without separators, with its endings ('s, 'll, n't, a closing quote) taken off."""
    if "'" not in chunk:
        return [chunk]
    endings: list[str] = []
    for ending in (_POSSESSIVE, _CLITIC):
        if found := ending.fullmatch(chunk):
            chunk = found[1]
            endings.append(found[2])
    return [chunk, *reversed(endings)]


@cache
def _nltk_tokenizer() -> _Tokenizer:
    from nltk.tokenize.destructive import NLTKWordTokenizer

    tokenizer: _Tokenizer = NLTKWordTokenizer()
    return tokenizer
