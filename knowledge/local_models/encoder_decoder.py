"""EncoderDecoder: the likelihood of a text as what a model of encoder and decoder writes of another."""

from collections.abc import Sequence
from math import ceil
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .causal import losses
from .completions import Completion, shortened
from .loading import Place, load_model, load_tokenizer
from .marks import Marks
from .running import Item, Said
from .sequences import padded, slices, window_of

NEEDS_PREFIX: Final = -1.0  # in place of the number of tokens, for an item without a prefix
_WINDOW: Final = 512  # of a model without a limit of its own, such as T5
_LOGITS_A_TOKEN: Final = 8192  # what a slice has room for, for each token that it may have
_NOT_SCORED: Final = -100


class EncoderDecoder:
    """A model of encoder and decoder in memory: mean negative log-likelihood and number of tokens of each item.

    The encoder reads the prefix and the decoder is scored on the completion, both with the special tokens that the
    tokenizer puts there, the end token among them. A prefix that is longer than the window loses the source's end, and
    a completion its own; both are said to be truncated.

    Attributes:
        window: how many tokens the encoder reads, and how many the decoder writes.
    """

    def __init__(self, place: Place) -> None:
        """Load it. Raises InputError when the folder holds no such model."""
        self._tokenizer = load_tokenizer(place)
        self._model = load_model(place, "AutoModelForSeq2SeqLM")
        self.window = window_of(self._model, self._tokenizer, _WINDOW)
        self._marks = Marks(self._tokenizer)

    def run(self, items: Sequence[Item]) -> list[Said]:
        """For each item shape (2,): mean and count; both 0 for a blank text, ``NEEDS_PREFIX`` without a prefix."""
        completions = [Completion.of(item) for item in items]
        read = [self._read(completion) for completion in completions]
        written = [self._written(completion.text) for completion in completions]
        weight = ceil(self._model.config.get_text_config().vocab_size / _LOGITS_A_TOKEN)
        asked = [place for place, completion in enumerate(completions) if completion.prefix and written[place][0]]
        lengths = [max(len(read[place][0]), weight * len(written[place][0])) for place in asked]
        means = np.zeros(len(items))
        for places in slices(lengths):
            chosen = [asked[place] for place in places]
            means[chosen] = self._means([read[place][0] for place in chosen], [written[place][0] for place in chosen])
        counts = [len(written[place][0]) if one.prefix else NEEDS_PREFIX for place, one in enumerate(completions)]
        return [
            Said(np.array([mean, count], dtype=np.float32), prefix[1] or text[1])
            for mean, count, prefix, text in zip(means, counts, read, written, strict=True)
        ]

    def _read(self, completion: Completion) -> tuple[list[int], bool]:
        """The prefix as the encoder reads it, and whether it was cut."""
        tokens = self._tokens(completion.prefix)
        if len(tokens) <= self.window:
            return tokens, False
        fitting = shortened(completion, self.window, lambda text: len(self._tokens(text)))
        return self._tokens(completion.before + completion.after if fitting is None else fitting)[: self.window], True

    def _written(self, text: str) -> tuple[list[int], bool]:
        """The text as the decoder writes it, no tokens for one without any of its own, and whether it was cut."""
        text = self._marks.broken(text)
        if not self._tokenizer(text_target=text, add_special_tokens=False, verbose=False)["input_ids"]:
            return [], False
        tokens: list[int] = self._tokenizer(text_target=text, verbose=False)["input_ids"]
        if len(tokens) <= self.window:
            return tokens, False
        cut: list[int] = self._tokenizer(text_target=text, truncation=True, max_length=self.window)["input_ids"]
        return cut, True

    def _tokens(self, text: str) -> list[int]:
        tokens: list[int] = self._tokenizer(self._marks.broken(text), verbose=False)["input_ids"]
        return tokens

    def _means(self, read: Sequence[list[int]], written: Sequence[list[int]]) -> NDArray[np.float64]:
        import torch

        filler = self._tokenizer.pad_token_id or 0  # whatever it is, the mask hides it
        tokens = padded(read, filler)
        mask = padded([[1] * len(row) for row in read], 0)
        labels = padded(written, _NOT_SCORED)
        with torch.inference_mode():
            given = [torch.from_numpy(array).to(self._model.device) for array in (tokens, mask, labels)]
            logits = self._model(input_ids=given[0], attention_mask=given[1], labels=given[2]).logits
            return np.array(
                [losses(rows[: len(one)], torch.tensor(one)).mean() for rows, one in zip(logits, written, strict=True)]
            )
