"""Marks: the tokens that a tokenizer sets itself, such as ``</s>``, which no text that is judged may set."""

import re
from typing import Any


class Marks:
    """Breaks a tokenizer's marks where they stand in a text: by a space in place of their first character.

    Tokenizers read ``[SEP]``, ``</s>`` or ``<|endoftext|>`` as their own marks wherever they stand, so that an answer
    with such a word in it could end itself, or begin a source of its own. Bots do write them: models leak them. To
    have a tokenizer split them is not enough: unigram tokenizers (T5, ALBERT) find them among their words again. A
    text without marks is left as it is, and with them it keeps its length.
    """

    def __init__(self, tokenizer: Any) -> None:  # noqa: ANN401 - untyped library
        """Look up which marks the tokenizer has."""
        added = (token.content for token in tokenizer.added_tokens_decoder.values() if token.special)
        marks = {mark for mark in (*added, *tokenizer.all_special_tokens) if mark.strip()}
        longest_first = sorted(marks, key=lambda mark: (-len(mark), mark))
        self._found = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")

    def broken(self, text: str) -> str:
        """The text as a tokenizer may have it: of the same length, without marks."""
        return self._found.sub(lambda mark: " " + mark[0][1:], text)
