"""Classifiers of transformers: they put labels to a text, or say whether a text entails another."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ... import InputError
from .finding import ModelChoice
from .hub import Hub
from .loading import Place, cross_encoder_place, load_model, load_tokenizer
from .running import Checked, LocalModel, SequenceModel, SequenceReader, load_cross_encoder

TOKENS_OF_A_PAIR: Final = 500  # that are read at most: SummaC's limit, so that all who ask share what was said
_CALLED: Final = "entailment model"
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


def open_classifier(place: Place) -> SequenceModel:
    """The logits of each text, or of each pair of texts. Raises InputError when the folder holds no such model."""
    model = load_model(place, "AutoModelForSequenceClassification")

    def logits(tokens: Mapping[str, Any]) -> NDArray[np.float32]:
        found: NDArray[np.float32] = model(**tokens).logits.float().cpu().numpy()
        return found

    named = model.config.id2label
    labels = tuple(str(named.get(place, f"LABEL_{place}")) for place in range(model.config.num_labels))
    return SequenceModel(SequenceReader(model, load_tokenizer(place)), logits, labels)


class Classifier(LocalModel[SequenceModel]):
    """A classifier that metrics ask; calls of all rows in flight are gathered into batches."""

    async def classify(self, texts: Sequence[str]) -> Classified:
        """The logits of each text. Raises InputError when the model can't be loaded."""
        labels = (await self.load()).labels
        return Classified(labels, *await self.table([(text,) for text in texts], len(labels)))


def open_entailment(place: Place) -> SequenceModel:
    """Three probabilities of each pair. Raises InputError where there is no such model, or its outputs are unclear."""
    model, reader = load_cross_encoder(place, TOKENS_OF_A_PAIR)
    places = _label_places(model.config, place.folder)

    def probabilities(tokens: Mapping[str, Any]) -> NDArray[np.float32]:
        logits = model(**tokens).logits.float().cpu().numpy().astype(np.float64)
        logits[~np.isfinite(logits)] = np.nan  # infinity would make a probability of 1
        return _in_order(logits, places)

    return SequenceModel(reader, probabilities)


class EntailmentModel(LocalModel[SequenceModel]):
    """Says how likely a premise entails a hypothesis; calls from all rows in flight are gathered into batches."""

    async def entailed(self, pairs: Sequence[tuple[str, str]]) -> Checked:
        """What the model says of each pair of premise and hypothesis; the longer one is cut first where both are long.

        A model with one output gives its probability of support as entailment, the rest as neutral; one with two
        outputs gives the other as neutral. Raises InputError when the model can't be loaded.
        """
        return Checked(*await self.table(pairs, len(_LABELS)))

    async def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """The probabilities of ``entailed`` alone, shape (n, 3)."""
        return (await self.entailed(pairs)).probabilities


def find_entailment(settings: ModelChoice, hub: Hub | None = None) -> EntailmentModel:
    """A model by its folder or name, which loads when it is first asked. Raises InputError when it can't be found."""
    advice = "Give the folder of a model, go online, or leave the model out."
    place = cross_encoder_place(settings, _CALLED, advice, hub)
    return EntailmentModel(partial(open_entailment, place), place.model_id)


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
