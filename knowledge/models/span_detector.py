"""SpanDetector: a token classifier that marks what in an answer its contexts don't support, as LettuceDetect does."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import InputError
from ..documents.document import HALF_CHARACTER
from .loading import Place, load_model, load_tokenizer
from .running import Item, LocalModel, ModelOutput, SequenceReader, Tokens, slices

# What LettuceDetect's English models were trained to read (KRLabsOrg/LettuceDetect, MIT, lettucedetect/prompts): their
# input format, not a prompt of ours. Other words would be a text of a kind that they have not seen.
_WITH_QUESTION: Final = (
    "Briefly answer the following question:\n{question}\n"
    "Bear in mind that your response should be strictly based on the following {count} passages:\n{passages}\n"
    "In case the passages do not contain the necessary information to answer the question, please reply with: "
    '"Unable to answer based on given passages."\noutput:'
)
_WITHOUT_QUESTION: Final = "Summarize the following text:\n{passages}\noutput:"
_WINDOW: Final = 4096  # tokens with which they were trained; ModernBERT itself takes more
_UNSUPPORTED: Final = 1  # of the two outputs for a token


@dataclass(frozen=True, slots=True)
class Grounded:
    """An answer with the passages that it should rest on, in rank order; the question may be blank."""

    contexts: tuple[str, ...]
    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Span:
    """Characters ``start`` to ``end`` of an answer, and how sure the model is that nothing supports them."""

    start: int
    end: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Marked:
    """The unsupported spans of one answer.

    Attributes:
        spans: in their order, none overlapping another.
        read: how many characters of the answer were read, from its start.
        truncated: whether not all of the passages and the answer was read.
    """

    spans: tuple[Span, ...]
    read: int
    truncated: bool = False


class _Token(NamedTuple):
    """A token of the answer: where it stands among all tokens of the pair, and its characters in the answer."""

    place: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Pair:
    """A prompt and an answer as tokens; ``read`` are the characters of the answer up to where it was cut."""

    tokens: Tokens
    answer: tuple[_Token, ...]
    read: int
    truncated: bool


class LoadedSpanDetector:
    """A span detector in memory; items are pairs of a prompt, which holds the passages, and an answer.

    It says of each: how many characters of the answer were read, then start, end and confidence of every span. Whole
    numbers are exact in float32 up to 16.7 million. A pair that is too long loses the end of its prompt, as in
    training; where the answer alone is too long, both lose theirs.
    """

    def __init__(self, place: Place) -> None:
        """Load it. Raises InputError when the folder holds no such model."""
        self._model = load_model(place, "AutoModelForTokenClassification")
        self._tokenizer = load_tokenizer(place)
        detector = f"The {place.called} in {place.folder}"
        if self._model.config.num_labels != 2:
            labels = self._model.config.num_labels
            raise InputError(f"{detector} has {labels} labels for a token: two were wanted, supported and unsupported.")
        if not self._tokenizer.is_fast:
            raise InputError(f"{detector} has a tokenizer that doesn't tell which characters a token stands for.")
        self._reader = SequenceReader(self._model, self._tokenizer)
        self._reader.window = self.window = min(_WINDOW, self._reader.window)

    def run(self, items: Sequence[Item]) -> list[ModelOutput]:
        """How much of each answer was read, and its spans."""
        pairs = [self._pair(prompt, answer) for prompt, answer in items]
        found: dict[int, ModelOutput] = {}
        for places in slices([len(pair.tokens["input_ids"]) for pair in pairs]):
            together = [pairs[place] for place in places]
            for place, pair, likely in zip(places, together, self._unsupported(together), strict=True):
                found[place] = ModelOutput(_values(pair, likely), pair.truncated)
        return [found[place] for place in range(len(items))]

    def _pair(self, prompt: str, answer: str) -> _Pair:
        prompt, beginning = self._reader.cleaned((prompt, answer))  # whose characters stand where they stood
        cut = self._reader.cut_of(beginning)
        read = self._tokenizer([prompt], [beginning], truncation=cut, max_length=self.window, verbose=False)
        (encoding,) = read.encodings
        truncated = bool(encoding.overflowing)
        is_whole = cut == "only_first" or not truncated
        belongs = encoding.sequence_ids  # 1 for what belongs to the answer
        tokens = tuple(
            _Token(place, start, end)
            for place, (start, end) in enumerate(encoding.offsets)
            if belongs[place] == 1 and end > start
        )
        return _Pair(
            tokens={name: read[name][0] for name in ("input_ids", "attention_mask")},
            answer=tokens,
            read=len(answer) if is_whole else max((token.end for token in tokens), default=0),
            truncated=truncated,
        )

    def _unsupported(self, pairs: Sequence[_Pair]) -> NDArray[np.float32]:
        """For each token how likely nothing supports it, shape (n, width)."""
        import torch

        with torch.inference_mode():
            logits = self._model(**self._reader.padded([pair.tokens for pair in pairs])).logits
        likely: NDArray[np.float32] = logits.float().softmax(dim=-1)[..., _UNSUPPORTED].cpu().numpy()
        return likely


class SpanDetector(LocalModel[LoadedSpanDetector]):
    """A span detector that metrics ask; calls of all rows in flight are gathered into batches."""

    async def mark(self, answers: Sequence[Grounded]) -> list[Marked]:
        """The unsupported spans of each answer. Raises InputError when the model can't be loaded."""
        # Half characters are replaced one by one, so that each keeps its place.
        outputs = await self.ask([(_prompt(one), HALF_CHARACTER.sub("\ufffd", one.answer)) for one in answers])
        return [_marked(one) for one in outputs]


def _marked(output: ModelOutput) -> Marked:
    read, *_ = output.values
    spans = tuple(Span(int(start), int(end), float(sure)) for start, end, sure in output.values[1:].reshape(-1, 3))
    return Marked(spans, int(read), output.truncated)


def _prompt(answer: Grounded) -> str:
    passages = "\n".join(f"passage {rank}: {passage}" for rank, passage in enumerate(answer.contexts, 1))
    if not answer.question.strip():
        return _WITHOUT_QUESTION.format(passages=passages)
    return _WITH_QUESTION.format(question=answer.question, count=len(answer.contexts), passages=passages)


def _values(pair: _Pair, likely: NDArray[np.float32]) -> NDArray[np.float32]:
    """What is said of a pair; NaN where the model said of one of its tokens what is no number."""
    if not np.isfinite(likely[: len(pair.tokens["input_ids"])]).all():
        return np.full(1, np.nan, dtype=np.float32)
    numbers = (number for span in _spans(pair.answer, likely) for number in span)
    return np.array([pair.read, *numbers], dtype=np.float32)


def _spans(answer: Sequence[_Token], likely: NDArray[np.float32]) -> list[tuple[int, int, float]]:
    """Start, end and confidence of each run of tokens that are likelier unsupported than not.

    A character of several bytes can be several tokens; where only some of them are marked, all of it is, once.
    """
    spans: list[tuple[int, int, float]] = []
    is_running = False
    for place, start, end in answer:
        sure = float(likely[place])
        is_marked = sure > 0.5
        if is_marked and spans and (is_running or start < spans[-1][1]):
            before = spans.pop()
            spans.append((before[0], max(before[1], end), max(before[2], sure)))
        elif is_marked:
            spans.append((start, end, sure))
        is_running = is_marked
    return spans
