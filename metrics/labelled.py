"""Texts with what a classifier says of them, and which of its outputs a label is."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .local_tools import Classifier
from .score import ModelUnavailable

_BETWEEN_WORDS: Final = re.compile(r"[\W_]+")
_NO_NAME: Final = re.compile(r"label_?\d+|\d+")


@dataclass(frozen=True, slots=True, eq=False)
class LabelledTexts:
    """Some texts and what a classifier says of them.

    Attributes:
        texts: in their order.
        labels: the classifier's own, as its configuration names them.
        logits: shape (texts, labels), float64, before any sigmoid or softmax.
        truncated: shape (texts,), whether the end of the text was not read.
        model: name and revision of the classifier.
    """

    texts: tuple[str, ...]
    labels: tuple[str, ...]
    logits: NDArray[np.float64]
    truncated: NDArray[np.bool_]
    model: str

    def evidence(self) -> dict[str, object]:
        """The model, without which a probability means nothing, and whether it read all of every text."""
        return {"model": self.model, "truncated": bool(self.truncated.any())}


async def labelled(texts: Sequence[str], classifier: Classifier) -> LabelledTexts:
    """What the classifier says of some texts."""
    said = await classifier.classify(texts)
    logits = said.logits.astype(np.float64)
    return LabelledTexts(tuple(texts), said.labels, logits, said.truncated, classifier.model_id)


def sigmoid(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probabilities of logits; NaN stays NaN.

    >>> sigmoid(np.array([-np.inf, 0.0, 2.0])).round(4).tolist()
    [0.0, 0.5, 0.8808]
    """
    probabilities: NDArray[np.float64] = 0.5 * (1 + np.tanh(0.5 * logits))  # never overflows
    return probabilities


def plain(label: str) -> str:
    """A label in lower case, with ``_`` between its words.

    >>> plain("Non-biased")
    'non_biased'
    """
    return _BETWEEN_WORDS.sub("_", label.lower()).strip("_")


def output_of(called: str, said: LabelledTexts, means: Callable[[str], bool]) -> int:
    """Which output of a classifier is meant.

    Args:
        called: what messages call what is looked for.
        said: what holds the classifier's labels.
        means: whether a label, in plain form, is the one.

    Raises:
        ModelUnavailable: none of its labels is, or more than one.
    """
    places = [place for place, label in enumerate(said.labels) if means(plain(label))]
    if len(places) == 1:
        return places[0]
    if all(_NO_NAME.fullmatch(plain(label)) for label in said.labels):
        raise ModelUnavailable(
            f"The model {said.model} has {len(said.labels)} outputs without names, so which of them is '{called}' "
            "can't be told: name them under 'id2label' in its config.json, or take another model."
        )
    raise ModelUnavailable(
        f"The model {said.model} has {'more than one' if places else 'no'} label for '{called}' among "
        f"{', '.join(said.labels)}: take a model that has one."
    )
