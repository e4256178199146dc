"""Classifiers of transformers: they put labels to a text, or say whether a text entails another."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from ... import InputError
from .embedding import refuse_foreign_code
from .finding import ModelChoice, find
from .hub import Hub
from .loading import Place, load_model, load_tokenizer, own_window
from .running import Item, LoadedModel, LocalModel, ModelOutput, SequenceReader

TOKENS_OF_A_PAIR: Final = 500  # that are read at most: SummaC's limit, so that all who ask share what was said
_CALLED: Final = "entailment model"
_OWNER: Final = "cross-encoder"  # of a model that is named without one, as sentence-transformers has it
_PLAIN_LABEL: Final = re.compile(r"label_?\d+|\d+")
_SUPPORTS: Final = re.compile(r"entail(?:ment|s|ed)?|support(?:s|ed)?|consistent|grounded|factual|true|yes")
_LABELS: Final = ("entailment", "neutral", "contradiction")


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


@dataclass(frozen=True, slots=True)
class Entailed:
    """What an entailment model says of some pairs, in their order.

    Attributes:
        probabilities: shape (n, 3), float32: entailment, neutral, contradiction, each row adding up to 1.
        truncated: shape (n,), whether not all of the pair was read.
    """

    probabilities: NDArray[np.float32]
    truncated: NDArray[np.bool_]


class LoadedEntailment:
    """An entailment model in memory."""

    def __init__(self, place: Place) -> None:
        """Load it. Raises InputError when the folder holds no such model, or one whose outputs are unclear."""
        refuse_foreign_code(place.folder)
        window = own_window(place, TOKENS_OF_A_PAIR)
        self._model = load_model(place, "AutoModelForSequenceClassification")
        self._places = _label_places(self._model.config, place.folder)
        self._reader = SequenceReader(self._model, load_tokenizer(place))
        self._reader.window = min(self._reader.window, window)

    def run(self, items: Sequence[Item]) -> list[ModelOutput]:
        """The three probabilities of each pair."""
        return self._reader.outputs(items, self._probabilities)

    def _probabilities(self, tokens: Mapping[str, Any]) -> NDArray[np.float32]:
        logits = self._model(**tokens).logits.float().cpu().numpy().astype(np.float64)
        logits[~np.isfinite(logits)] = np.nan  # infinity would make a probability of 1
        return _in_order(logits, self._places)


class EntailmentModel(LocalModel[LoadedEntailment]):
    """Says how likely a premise entails a hypothesis; calls from all rows in flight are gathered into batches."""

    async def entailed(self, pairs: Sequence[tuple[str, str]]) -> Entailed:
        """What the model says of each pair of premise and hypothesis; the longer one is cut first where both are long.

        A model with one output gives its probability of support as entailment, the rest as neutral; one with two
        outputs gives the other as neutral. Raises InputError when the model can't be loaded.
        """
        outputs = await self.ask(pairs)
        values = np.array([one.values for one in outputs], dtype=np.float32).reshape(len(outputs), 3)
        return Entailed(values, np.array([one.truncated for one in outputs], dtype=np.bool_))

    async def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """The probabilities of ``entailed`` alone, shape (n, 3)."""
        return (await self.entailed(pairs)).probabilities


def find_entailment(settings: ModelChoice, hub: Hub | None = None) -> EntailmentModel:
    """A model by its folder or name, which loads when it is first asked. Raises InputError when it can't be found."""
    found = find(settings, _CALLED, hub, _OWNER)
    if found.folder is None:
        raise InputError(
            found.trouble
            or f"The {_CALLED} '{settings.model}' is not on this machine and the Hugging Face hub can't be reached. "
            "Give the folder of a model, go online, or leave the model out."
        )
    place = Place(found.model_id, found.folder, _CALLED, settings.device, settings.threads)
    return EntailmentModel(partial(LoadedEntailment, place), found.model_id)


def _in_order(logits: NDArray[np.float64], places: Sequence[int]) -> NDArray[np.float32]:
    """Probabilities of entailment, neutral and contradiction, from the outputs that ``places`` tells apart."""
    found = np.zeros((len(logits), 3), dtype=np.float64)
    if len(places) == 1:
        found[:, 0] = 1 / (1 + np.exp(-np.clip(logits[:, 0], -60, 60)))
        found[:, 1] = 1 - found[:, 0]
        return found.astype(np.float32)
    likely = np.exp(logits - logits.max(axis=1, keepdims=True))
    found[:, list(places)] = likely / likely.sum(axis=1, keepdims=True)
    return found.astype(np.float32)


def _label_places(config: Any, folder: Path) -> tuple[int, ...]:  # noqa: ANN401 - untyped library
    """For each output of the model which of entailment, neutral and contradiction it is; InputError when unclear."""
    count = int(config.num_labels)
    names = [str(config.id2label.get(number, "")).lower() for number in range(count)]
    if count == 1:
        return (0,)
    if count == 2:
        # Without names the second output is the supporting one, as in all checkers that give none.
        plain = all(_PLAIN_LABEL.fullmatch(name) for name in names)
        supports = [
            number == 1 if plain else _SUPPORTS.fullmatch(name) is not None for number, name in enumerate(names)
        ]
        if sum(supports) == 1:
            return tuple(0 if one else 1 for one in supports)
    places = [[place for place, label in enumerate(_LABELS) if name.startswith(label[:6])] for name in names]
    if count == 3 and sorted(places) == [[0], [1], [2]]:
        return tuple(place for (place,) in places)
    raise InputError(
        f"The entailment model in {folder} has the outputs {', '.join(names)}: wanted entailment, neutral and "
        "contradiction in any order, entailment and not_entailment, or a single one."
    )
