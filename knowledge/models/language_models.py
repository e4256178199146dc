"""Language models: how likely a text is, by itself or after another, causal or encoder-decoder."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, nan
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import InputError
from .loading import Place, SpecialTokens, load_config, load_model, load_tokenizer
from .running import TOKENS_A_RUN, Item, LoadedModel, LocalModel, ModelOutput, padded, slices, window_of


@dataclass(frozen=True, slots=True)
class Continuation:
    """A completion whose likelihood is asked for, after a prefix of three parts that is not scored.

    Attributes:
        completion: the text that is scored. Without a prefix its first token is not: nothing stands before it.
        before: the prefix up to the source text.
        source: the text within the prefix that may be cut from its end, where all together is too long.
        after: the prefix from the source text on.
        stride: for a completion without a prefix that is longer than the window: by how many tokens the window moves
            on. Otherwise, and when it is None, what is longer than the window is cut.
    """

    completion: str
    before: str = ""
    source: str = ""
    after: str = ""
    stride: int | None = None

    @property
    def prefix(self) -> str:
        """All that stands before the completion."""
        return self.before + self.source + self.after

    @property
    def item(self) -> Item:
        """What it is in a batch, where all is text."""
        return self.completion, self.before, self.source, self.after, str(self.stride or "")

    @classmethod
    def of(cls, item: Item) -> "Continuation":
        """What an item of a batch stands for."""
        completion, before, source, after, stride = item
        return cls(completion, before, source, after, int(stride) if stride else None)


def shortened(completion: Continuation, room: int, count: Callable[[str], int]) -> str | None:
    """The prefix with as much of the source's beginning as has room; None where it has none without any source.

    The cut is between characters, and the prefix is tokenized anew as one text. Found by halving: a longer source is
    taken to have at least as many tokens.

    Args:
        completion: whose prefix is too long.
        room: how many tokens the prefix may have.
        count: how many tokens a text has.

    >>> shortened(Continuation("", "Say: ", "a b c d e", " Now:"), 5, lambda text: len(text.split()))
    'Say: a b c  Now:'
    """
    before, source, after = completion.before, completion.source, completion.after
    if count(before + after) > room:
        return None
    fits, too_long = 0, len(source) + 1
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if count(before + source[:middle] + after) <= room:
            fits = middle
        else:
            too_long = middle
    return before + source[:fits] + after


_PROBE: Final = 8  # tokens


def take_apart(model: Any) -> "_InTwo | _Whole":  # noqa: ANN401 - untyped library
    """The two steps of a causal model of transformers, which is changed and not to be called any more.

    It is tried out whether the steps give the model's own logits; where they don't, the first step makes all of them.
    """
    import torch

    tokens = torch.arange(_PROBE, device=model.device)[None] % model.get_input_embeddings().num_embeddings
    mask = torch.ones_like(tokens)
    with torch.inference_mode():
        wanted = model(input_ids=tokens, attention_mask=mask, use_cache=False).logits[0]
        for name, body in _bodies(model):
            try:
                parts = _InTwo(model, name, body)
                found = parts.logits(parts.hidden(tokens, mask)[0])
                if found.shape == wanted.shape and torch.allclose(found, wanted, rtol=1e-5, atol=1e-5):
                    return parts
            except Exception:  # noqa: BLE001, S110 - architectures are many; any that isn't built this way runs whole
                pass
            model.set_submodule(name, body)
    return _Whole(model)


def _bodies(model: Any) -> list[tuple[str, Any]]:  # noqa: ANN401 - untyped library
    """The parts of a model, by name, that may be all of it but what makes logits: its base, and its decoder (OPT)."""
    names = {id(module): name for name, module in model.named_modules()}
    found = [model.base_model, model.get_decoder() if hasattr(model, "get_decoder") else None]
    return [(names[id(body)], body) for body in found if names.get(id(body))]


class _InTwo:
    """The body of a model, and the model around it, which is given what the body made for some tokens.

    ``hidden`` gives shape (n, width, ...) for tokens and mask of shape (n, width), ``logits`` shape (k, vocabulary) for
    k of these places: so the logits of a whole batch never stand in memory together. ``most`` tokens may go through
    the first step together, padding counted in.

    That keeps what a model does to its logits beside a multiplication: scaling, soft caps, biases.
    """

    most = TOKENS_A_RUN

    def __init__(self, model: Any, name: str, body: Any) -> None:  # noqa: ANN401 - untyped library
        import torch

        given: dict[str, Any] = {}

        class Given(torch.nn.Module):
            def forward(self, *_: object, **__: object) -> Any:  # noqa: ANN401 - untyped library
                return given["kind"](last_hidden_state=given["hidden"])

        self._body = body
        self._model = model
        self._given = given
        model.set_submodule(name, Given())

    def hidden(self, tokens: Any, mask: Any) -> Any:  # noqa: ANN401 - untyped library
        made = self._body(input_ids=tokens, attention_mask=mask, use_cache=False)
        self._given["kind"] = type(made)
        return made.last_hidden_state

    def logits(self, hidden: Any) -> Any:  # noqa: ANN401 - untyped library
        import torch

        self._given["hidden"] = hidden[None]
        unread = torch.ones(1, len(hidden), dtype=torch.int64, device=hidden.device)
        return self._model(input_ids=unread, attention_mask=unread, use_cache=False).logits[0]


class _Whole:
    """A model that can't be taken apart: the logits of all that goes through it stand in memory."""

    most = TOKENS_A_RUN // 8

    def __init__(self, model: Any) -> None:  # noqa: ANN401 - untyped library
        self._model = model

    def hidden(self, tokens: Any, mask: Any) -> Any:  # noqa: ANN401 - untyped library
        return self._model(input_ids=tokens, attention_mask=mask, use_cache=False).logits

    def logits(self, hidden: Any) -> Any:  # noqa: ANN401 - untyped library
        return hidden


_SCORED_TOGETHER: Final = 512  # tokens: each takes a number for every word of the vocabulary
# tokens
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
        self._marks = SpecialTokens(self._tokenizer)
        self._device = model.device
        self._parts = take_apart(model)

    def run(self, items: Sequence[Item]) -> list[ModelOutput]:
        """For each item shape (2,): mean and count, both 0 where no token is scored."""
        completions = [Continuation.of(item) for item in items]
        texts = self._tokens([completion.completion for completion in completions])
        prefixes = self._tokens([completion.prefix for completion in completions])
        read = [self._stretches(*each) for each in zip(completions, texts, prefixes, strict=True)]
        sums = iter(self._sums([stretch for stretches, _ in read for stretch in stretches]))
        return [_output(stretches, [next(sums) for _ in stretches], truncated) for stretches, truncated in read]

    def _stretches(self, completion: Continuation, text: list[int], prefix: list[int]) -> tuple[list[Stretch], bool]:
        """What has to be read to score a completion, and whether something was cut."""
        if not prefix:
            if completion.stride and len(text) > self.window:
                return list(sliding(text, self.window, completion.stride)), False
            return [Stretch(text[: self.window], 1)], len(text) > self.window
        is_cut = len(prefix) + len(text) > self.window
        if is_cut:
            prefix = self._cut_prefix(completion, self.window - len(text))
        whole = (prefix + text)[: self.window]
        return [Stretch(whole, max(1, len(prefix)))], is_cut

    def _cut_prefix(self, completion: Continuation, room: int) -> list[int]:
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


def _output(stretches: Sequence[Stretch], sums: Sequence[float], truncated: bool) -> ModelOutput:
    count = sum(max(0, len(stretch.tokens) - stretch.scored) for stretch in stretches)
    return ModelOutput(np.array([sum(sums) / max(1, count), count], dtype=np.float32), truncated)


NEEDS_PREFIX: Final = -1.0  # in place of the number of tokens, for an item without a prefix
_SEQ2SEQ_WINDOW: Final = 512  # of a model without a limit of its own, such as T5
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
        self.window = window_of(self._model, self._tokenizer, _SEQ2SEQ_WINDOW)
        self._marks = SpecialTokens(self._tokenizer)

    def run(self, items: Sequence[Item]) -> list[ModelOutput]:
        """For each item shape (2,): mean and count; both 0 for a blank text, ``NEEDS_PREFIX`` without a prefix."""
        completions = [Continuation.of(item) for item in items]
        read = [self._read(completion) for completion in completions]
        written = [self._written(completion.completion) for completion in completions]
        weight = ceil(self._model.config.get_text_config().vocab_size / _LOGITS_A_TOKEN)
        asked = [place for place, completion in enumerate(completions) if completion.prefix and written[place][0]]
        lengths = [max(len(read[place][0]), weight * len(written[place][0])) for place in asked]
        means = np.zeros(len(items))
        for places in slices(lengths):
            chosen = [asked[place] for place in places]
            means[chosen] = self._means([read[place][0] for place in chosen], [written[place][0] for place in chosen])
        counts = [len(written[place][0]) if one.prefix else NEEDS_PREFIX for place, one in enumerate(completions)]
        return [
            ModelOutput(np.array([mean, count], dtype=np.float32), prefix[1] or text[1])
            for mean, count, prefix, text in zip(means, counts, read, written, strict=True)
        ]

    def _read(self, completion: Continuation) -> tuple[list[int], bool]:
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


@dataclass(frozen=True, slots=True)
class Likelihood:
    """How likely a language model finds a completion.

    Attributes:
        mean_nll: mean negative log-likelihood of a token, natural logarithm; NaN where no token is scored.
        tokens: how many tokens were scored.
        truncated: whether the source or the completion was cut.
    """

    mean_nll: float
    tokens: int
    truncated: bool = False


def open_language_model(place: Place) -> LoadedModel:
    """Load a causal model or one of encoder and decoder, as its configuration says. Raises InputError."""
    return EncoderDecoder(place) if load_config(place).is_encoder_decoder else CausalModel(place)


class LanguageModel(LocalModel[LoadedModel]):
    """A language model that metrics ask; calls of all rows in flight are gathered into batches."""

    async def likelihoods(self, texts: Sequence[Continuation]) -> list[Likelihood]:
        """How likely each completion is, in their order.

        Raises:
            InputError: the model can't be loaded, or needs a prefix and one has none.
        """
        outputs = await self.ask([text.item for text in texts])
        return [self._likelihood(one) for one in outputs]

    def _likelihood(self, output: ModelOutput) -> Likelihood:
        mean, tokens = output.values.tolist()
        if tokens == NEEDS_PREFIX:
            raise InputError(
                f"The model {self.model_id} reads one text and writes another (encoder and decoder), so it can't say "
                "how likely a text is by itself. Name a causal model, such as distilbert/distilgpt2."
            )
        return Likelihood(mean if tokens else nan, int(tokens), output.truncated)
