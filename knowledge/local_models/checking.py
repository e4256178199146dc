"""Checking: a source and a claim as one prompt, and a model in memory that says whether the one supports the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from .running import Item, Said
from .sequences import Forward, SequenceReader, Tokens


@dataclass(frozen=True, slots=True)
class Prompt:
    """What stands before the source and between it and the claim."""

    before: str
    between: str


class PromptReader(SequenceReader):
    """Writes a source and a claim into a prompt; where that is too long, the end of the source is cut.

    Models that read both as one text are cut at the very end by their own libraries, which takes the claim away: what
    they say then is not of the claim.
    """

    def __init__(self, model: Any, tokenizer: Any, prompt: Prompt, window: int) -> None:  # noqa: ANN401 - untyped library
        """Prepare; the tokenizer must be one of the library ``tokenizers``, which tells where a token stands."""
        super().__init__(model, tokenizer)
        self.window = window
        self._prompt = prompt

    def read(self, items: Sequence[Item]) -> tuple[list[Tokens], list[bool]]:
        """The tokens of each prompt without padding, and whether some were cut."""
        pairs = [(self.marks.broken(source), self.marks.broken(claim)) for source, claim in items]
        texts = [f"{self._prompt.before}{source}{self._prompt.between}{claim}" for source, claim in pairs]
        read = self._tokenizer(texts, padding=False, verbose=False)
        taken = [name for name in read if name in self._taken]
        tokens: list[Tokens] = [{name: read[name][place] for name in taken} for place in range(len(items))]
        truncated = [len(one["input_ids"]) > self.window for one in tokens]
        for place in (place for place, was_cut in enumerate(truncated) if was_cut):
            kept = self._kept(texts[place], pairs[place][0])
            tokens[place] = {name: [values[token] for token in kept] for name, values in tokens[place].items()}
        return tokens, truncated

    def _kept(self, text: str, source: str) -> list[int]:
        """Which tokens of too long a prompt are kept."""
        told = self._tokenizer(text, verbose=False, return_offsets_mapping=True)["offset_mapping"]
        begins = len(self._prompt.before)
        return kept_tokens([end for _, end in told], begins, begins + len(source), self.window)


class LoadedChecker:
    """A checker in memory: how likely a source supports a claim.

    Attributes:
        window: how many tokens it reads, source and claim together.
    """

    def __init__(self, reader: SequenceReader, supported: Forward) -> None:
        """Put a model together of what reads items and what makes a probability of each."""
        self.window = reader.window
        self._reader = reader
        self._supported = supported

    def run(self, items: Sequence[Item]) -> list[Said]:
        """The probability that the first text of each item supports the second."""
        return self._reader.said(items, self._supported)


def kept_tokens(ends: Sequence[int], source_begins: int, source_ends: int, window: int) -> list[int]:
    """The tokens that are kept: all but the last ones of the source, and where that is not enough, of the claim.

    Args:
        ends: for each token the character of the prompt after it; 0 for one that stands for no character.
        source_begins: the first character of the source.
        source_ends: the character after it.
        window: how many tokens may be kept.

    >>> kept_tokens([3, 8, 12, 20, 26, 0], source_begins=3, source_ends=20, window=5)
    [0, 1, 2, 4, 5]
    """
    places = list(range(len(ends)))
    if len(places) <= window:
        return places
    first = next((place for place in places if ends[place] > source_begins), len(places))
    after = next((place for place in places if ends[place] > source_ends), len(places))
    room = max(0, window - first - (len(places) - after))
    kept = list(chain(places[:first], places[first:after][:room], places[after:]))
    return kept if len(kept) <= window else [*kept[: window - 1], kept[-1]]  # the last one ends the sequence
