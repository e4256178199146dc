"""Classifier: a model that puts labels to a text, any sequence classifier of transformers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .loading import Place, load_model, load_tokenizer
from .running import Item, LoadedModel, LocalModel, ModelOutput, SequenceReader


@dataclass(frozen=True, slots=True, eq=False)
class Classified:
    """What a classifier says of some texts, in their order.

    Attributes:
        labels: its labels, as its configuration names them.
        logits: shape (n, labels), float32, before any sigmoid or softmax.
        truncated: shape (n,), whether the end of the text was not read.
    """

    labels: tuple[str, ...]
    logits: NDArray[np.float32]
    truncated: NDArray[np.bool_]


class LoadedClassifier:
    """A classifier in memory: the logits of each text, or of each pair of texts.

    Attributes:
        labels: in the order of its outputs, as its configuration names them.
    """

    def __init__(self, place: Place) -> None:
        """Load it. Raises InputError when the folder holds no such model."""
        self._model = load_model(place, "AutoModelForSequenceClassification")
        self._reader = SequenceReader(self._model, load_tokenizer(place))
        named = self._model.config.id2label
        self.labels = tuple(str(named.get(place, f"LABEL_{place}")) for place in range(self._model.config.num_labels))

    def run(self, items: Sequence[Item]) -> list[ModelOutput]:
        """The logits of each item."""
        return self._reader.outputs(items, self._logits)

    def _logits(self, tokens: Mapping[str, Any]) -> NDArray[np.float32]:
        logits: NDArray[np.float32] = self._model(**tokens).logits.float().cpu().numpy()
        return logits


class Labelling(LoadedModel, Protocol):
    """A classifier in memory, as ``Classifier`` knows it."""

    @property
    def labels(self) -> tuple[str, ...]:
        """In the order of its outputs."""
        ...


class Classifier(LocalModel[Labelling]):
    """A classifier that metrics ask; calls of all rows in flight are gathered into batches."""

    async def classify(self, texts: Sequence[str]) -> Classified:
        """The logits of each text. Raises InputError when the model can't be loaded."""
        outputs = await self.ask([(text,) for text in texts])
        labels = (await self.load()).labels
        logits = np.array([one.values for one in outputs], dtype=np.float32).reshape(len(outputs), len(labels))
        return Classified(labels, logits, np.array([one.truncated for one in outputs], dtype=np.bool_))
