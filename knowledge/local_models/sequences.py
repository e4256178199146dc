"""Sequences: texts and pairs of texts as a transformer reads them, cut to its window, in slices that fit in memory."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .running import Item, Said

# Of a slice, padding counted in: what goes through a model at once. A core is busy with 500; more only takes memory.
TOKENS_A_RUN: Final = 1024
_WINDOW: Final = 512  # of a model that doesn't say how many tokens it reads
_NO_LIMIT: Final = 1_000_000  # tokenizers without a limit give a number beyond this
_FILLER: Final = {"attention_mask": 0, "token_type_ids": 0}

Cut = Literal["longest_first", "only_first", "only_second"]
Tokens: TypeAlias = dict[str, list[int]]
# What a model makes of padded tokens, tensors of shape (n, width): an array whose first axis is the items.
Forward: TypeAlias = Callable[[Mapping[str, Any]], NDArray[np.float32]]


class SequenceReader:
    """Turns items of one text, or of two, into what a model takes.

    Attributes:
        window: how many tokens of an item the model reads.
    """

    def __init__(self, model: Any, tokenizer: Any, cut: Cut = "longest_first") -> None:  # noqa: ANN401 - untyped library
        """Look at what the model takes.

        Args:
            model: of transformers; its ``device`` is where tensors are put.
            tokenizer: its tokenizer.
            cut: which text of a pair loses its end when both are too long together.
        """
        self.window = window_of(model, tokenizer)
        self._tokenizer = tokenizer
        self._cut = cut
        self._device = model.device
        self._taken = frozenset(inspect.signature(model.forward).parameters)
        self._padding = tokenizer.pad_token_id or 0  # whatever it is, the mask hides it

    def read(self, items: Sequence[Item]) -> tuple[list[Tokens], list[bool]]:
        """The tokens of each item without padding, and whether the item was too long; all have as many texts."""
        texts = [list(column) for column in zip(*items, strict=True)]
        read = self._tokenizer(*texts, truncation=self._cut, max_length=self.window, padding=False, verbose=False)
        taken = [name for name in read if name in self._taken]
        tokens = [{name: read[name][place] for name in taken} for place in range(len(items))]
        return tokens, [
            len(one["input_ids"]) >= self.window and self._length(item) > self.window
            for item, one in zip(items, tokens, strict=True)
        ]

    def padded(self, tokens: Sequence[Tokens]) -> dict[str, Any]:
        """Tensors of shape (n, width), int64, on the model's device, padded on the right; the mask hides padding."""
        import torch

        width = max(1, *(len(one["input_ids"]) for one in tokens))
        made = {}
        for name in tokens[0]:
            filler = _FILLER.get(name, self._padding)
            rows = [one[name] + [filler] * (width - len(one[name])) for one in tokens]
            made[name] = torch.tensor(rows, dtype=torch.int64, device=self._device)
        return made

    def said(self, items: Sequence[Item], forward: Forward) -> list[Said]:
        """What the model says of each item, in their order; ``forward`` has slices of items of about equal length."""
        import torch

        tokens, truncated = self.read(items)
        found: dict[int, Said] = {}
        for places in slices([len(one["input_ids"]) for one in tokens]):
            with torch.inference_mode():
                rows = forward(self.padded([tokens[place] for place in places]))
            for place, row in zip(places, rows, strict=True):
                found[place] = Said(np.asarray(row, dtype=np.float32).reshape(-1), truncated[place])
        return [found[place] for place in range(len(items))]

    def _length(self, item: Item) -> int:
        return len(self._tokenizer(*item, truncation=False, padding=False, verbose=False)["input_ids"])


def window_of(model: Any, tokenizer: Any) -> int:  # noqa: ANN401 - untyped library
    """How many tokens a model reads: what its tokenizer and its positions allow, whichever is less."""
    limits = [int(tokenizer.model_max_length), _positions(model)]
    return min([limit for limit in limits if 0 < limit < _NO_LIMIT], default=_WINDOW)


def _positions(model: Any) -> int:  # noqa: ANN401 - untyped library
    """For how many tokens the model has positions, 0 when it doesn't say."""
    for name, module in model.named_modules():
        if name.rpartition(".")[2] == "position_embeddings" and hasattr(module, "num_embeddings"):
            # RoBERTa and its kind count positions from behind that of padding, so that two of 514 are never used.
            unused = 0 if module.padding_idx is None else module.padding_idx + 1
            return int(module.num_embeddings) - unused
    return int(getattr(model.config, "max_position_embeddings", None) or 0)


def slices(lengths: Sequence[int], most: int = TOKENS_A_RUN) -> Iterator[list[int]]:
    """Places of items, shortest first, as many together as have at most so many tokens once padded; one at least.

    >>> list(slices([3, 1, 9, 2], most=6))
    [[1, 3], [0], [2]]
    """
    together: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if together and (len(together) + 1) * max(1, lengths[place]) > most:
            yield together
            together = []
        together.append(place)
    if together:
        yield together
