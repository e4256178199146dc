"""CausalModel: the likelihood of texts under a language model that reads from left to right."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import InputError
from .completions import Completion, shortened
from .loading import Place, load_model, load_tokenizer
from .marks import Marks
from .running import Item, Said
from .sequences import padded, slices, window_of
from .taking_apart import take_apart

_SCORED_TOGETHER: Final = 512  # tokens: each takes a number for every word of the vocabulary
_PROBE: Final = 8  # tokens
_WINDOW: Final = 4096  # of a model without a limit of its own, to bound memory


class Stretch(NamedTuple):
    """Tokens that go through the model together; those from place ``scored`` on, 1 at least, are scored."""

    tokens: list[int]
    scored: int


class CausalModel:
    """A causal language model in memory: mean negative log-likelihood and number of the scored tokens of each item.

    Prefix and completion are tokenized each by itself, without special tokens, and put together. Without a prefix the
    first token is not scored, because no token that begins a text is put before it.

    What is longer than the window is cut, and said to be truncated: first the source, from its end. Where there is no
    room without it either, the completion is cut to what the rest of the prefix leaves, half the window at least, and
    of that prefix the end is kept. A completion without a prefix is cut to the window, or read by a window that moves
    on by ``stride`` tokens, so that each is scored once, with as much before it as the window holds.

    Attributes:
        window: how many tokens the model reads.
    """

    def __init__(self, place: Place) -> None:
        """Load it. Raises InputError when the folder holds no such model, or one that sees what comes next."""
        self._tokenizer = load_tokenizer(place)
        model = load_model(place, "AutoModelForCausalLM")
        if not _reads_onwards(model):
            raise InputError(
                f"The {place.called} in {place.folder} reads texts in both directions, so it can't say how likely what "
                "comes next is. Name a causal model, such as distilbert/distilgpt2."
            )
        self.window = window_of(model, self._tokenizer, _WINDOW)
        self._marks = Marks(self._tokenizer)
        self._device = model.device
        self._parts = take_apart(model)

    def run(self, items: Sequence[Item]) -> list[Said]:
        """For each item shape (2,): mean and count, both 0 where no token is scored."""
        completions = [Completion.of(item) for item in items]
        texts = self._tokens([completion.text for completion in completions])
        prefixes = self._tokens([completion.prefix for completion in completions])
        read = [self._stretches(*each) for each in zip(completions, texts, prefixes, strict=True)]
        sums = iter(self._sums([stretch for stretches, _ in read for stretch in stretches]))
        return [_said(stretches, [next(sums) for _ in stretches], truncated) for stretches, truncated in read]

    def _stretches(self, completion: Completion, text: list[int], prefix: list[int]) -> tuple[list[Stretch], bool]:
        """What has to be read to score a completion, and whether something was cut."""
        if not prefix:
            if completion.stride and len(text) > self.window:
                return list(sliding(text, self.window, int(completion.stride))), False
            return [Stretch(text[: self.window], 1)], len(text) > self.window
        is_cut = len(prefix) + len(text) > self.window
        if is_cut:
            prefix = self._cut_prefix(completion, self.window - len(text))
        whole = (prefix + text)[: self.window]
        return [Stretch(whole, max(1, len(prefix)))], is_cut

    def _cut_prefix(self, completion: Completion, room: int) -> list[int]:
        fitting = shortened(completion, room, lambda text: len(self._tokens([text])[0]))
        if fitting is not None:
            return self._tokens([fitting])[0]
        return self._tokens([completion.before + completion.after])[0][-(self.window // 2) :]

    def _tokens(self, texts: list[str]) -> list[list[int]]:
        broken = list(map(self._marks.broken, texts))
        tokens: list[list[int]] = self._tokenizer(broken, add_special_tokens=False, verbose=False)["input_ids"]
        return tokens

    def _sums(self, stretches: Sequence[Stretch]) -> NDArray[np.float64]:
        """The sum of negative log-likelihoods over the scored tokens of each stretch."""
        import torch

        sums = np.zeros(len(stretches))
        scored = [place for place, stretch in enumerate(stretches) if len(stretch.tokens) > stretch.scored]
        with torch.inference_mode():
            for places in slices([len(stretches[place].tokens) for place in scored], self._parts.most):
                chosen = [scored[place] for place in places]
                sums[chosen] = self._together([stretches[place] for place in chosen])
        return sums

    def _together(self, stretches: Sequence[Stretch]) -> NDArray[np.float64]:
        import torch

        # Padding stands on the right, where what is read from left to right never sees it.
        tokens = torch.from_numpy(padded([stretch.tokens for stretch in stretches], 0))
        mask = torch.from_numpy(padded([[1] * len(stretch.tokens) for stretch in stretches], 0))
        hidden = self._parts.hidden(tokens.to(self._device), mask.to(self._device))
        rows = np.repeat(np.arange(len(stretches)), [len(one.tokens) - one.scored for one in stretches])
        places = np.concatenate([np.arange(one.scored, len(one.tokens)) for one in stretches])
        sums = np.zeros(len(stretches))
        for start in range(0, len(rows), _SCORED_TOGETHER):
            some, at = rows[start : start + _SCORED_TOGETHER], places[start : start + _SCORED_TOGETHER]
            logits = self._parts.logits(hidden[some, at - 1])
            np.add.at(sums, some, losses(logits, tokens[some, at]))
        return sums


def losses(logits: Any, tokens: Any) -> NDArray[np.float64]:  # noqa: ANN401 - untyped library
    """Negative log-likelihood of each token: logits of shape (n, vocabulary), tokens of shape (n,)."""
    logits = logits.float()
    chosen = logits.gather(-1, tokens.to(logits.device)[:, None])[:, 0]
    found: NDArray[np.float64] = (logits.logsumexp(-1) - chosen).cpu().double().numpy()
    return found


def sliding(tokens: list[int], window: int, stride: int) -> Iterator[Stretch]:
    """Windows over a long text that move on by ``stride`` tokens, less than a window; each token is scored once.

    >>> [(one.tokens, one.scored) for one in sliding([1, 2, 3, 4, 5, 6], 4, 1)]
    [([1, 2, 3, 4], 1), ([2, 3, 4, 5], 3), ([3, 4, 5, 6], 3)]
    """
    stride = min(stride, window - 1)  # a token needs one before it
    done = 0
    for start in range(0, len(tokens), stride):
        end = min(start + window, len(tokens))
        yield Stretch(tokens[start:end], max(1, done - start))
        done = end
        if end == len(tokens):
            return


def _reads_onwards(model: Any) -> bool:  # noqa: ANN401 - untyped library
    """Whether what a model says of the beginning of a text doesn't depend on the end: BERT loads as causal too."""
    import torch

    tokens = torch.arange(_PROBE, device=model.device)[None] % model.get_input_embeddings().num_embeddings
    with torch.inference_mode():
        whole, beginning = (
            model(input_ids=some, attention_mask=torch.ones_like(some), use_cache=False).logits[0]
            for some in (tokens, tokens[:, :-1])
        )
    return bool(torch.allclose(whole[:-1], beginning, rtol=1e-3, atol=1e-3))


def _said(stretches: Sequence[Stretch], sums: Sequence[float], truncated: bool) -> Said:
    count = sum(max(0, len(stretch.tokens) - stretch.scored) for stretch in stretches)
    return Said(np.array([sum(sums) / max(1, count), count], dtype=np.float32), truncated)
