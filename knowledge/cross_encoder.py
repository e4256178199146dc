"""EntailmentModel: any sentence-transformers cross-encoder, from a folder or the hub, asked in batches for all rows."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .. import InputError
from .batching import BatchingEmbedder
from .embedding import content_hash
from .encoder import Embedded, readable
from .model_hub import Hub, HuggingFaceHub
from .model_requests import VectorKeeper
from .sentence_encoder import load_from_folder, refuse_foreign_code

_PAIRS_A_RUN: Final = 32
_HUB_NAME: Final = re.compile(r"[\w-][\w.-]*(/[\w.-]+)?")
_PLAIN_LABEL: Final = re.compile(r"label_?\d+|\d+")
_SUPPORTS: Final = re.compile(r"entail(?:ment|s|ed)?|support(?:s|ed)?|consistent|grounded|factual|true|yes")
_LABELS: Final = ("entailment", "neutral", "contradiction")


@dataclass(frozen=True)  # without slots, so that the resolution can be remembered
class CrossEncoderSettings:
    """Which entailment model is wanted.

    Attributes:
        model: a folder, or an id of the Hugging Face hub (``cross-encoder/nli-deberta-v3-small``).
        revision: branch, tag or commit on the hub.
        threads: processor threads of the model, set for the whole process: torch knows no other way.
        allow_download: try the hub even when a quick probe finds no way to it.
    """

    model: str
    revision: str | None = None
    threads: int = 1
    allow_download: bool = False

    @cached_property
    def resolved(self) -> tuple[str, Path]:
        """The model's id and its folder; looked for once. Raises InputError, see ``resolve``."""
        return resolve(self)

    @property
    def model_id(self) -> str:
        """Name and revision; nothing is loaded for it, though a hub model may have to be downloaded."""
        return self.resolved[0]


def resolve(settings: CrossEncoderSettings, hub: Hub | None = None) -> tuple[str, Path]:
    """Find the model: a folder, the hub's cache, the hub.

    Raises InputError when the name can't be one, when the hub has no such model, and when it can't be reached.
    """
    name = settings.model.strip()
    if not name:
        raise InputError("The entailment model's name is empty: leave it out to do without one.")
    if settings.threads < 1:
        raise InputError(f"The entailment model was given {settings.threads} threads: 1 or more were wanted.")
    folder = Path(name).expanduser()
    if folder.is_dir():
        return f"{folder.resolve().name}@{content_hash(folder)[:12]} (folder)", folder.resolve()
    if folder.exists() or not _HUB_NAME.fullmatch(name):
        raise InputError(f"The entailment model '{name}' is neither a folder nor a model id.")
    hub = hub or HuggingFaceHub()
    # sentence-transformers' own rule for a name without an owner
    model = name if "/" in name else f"cross-encoder/{name}"
    found = hub.cached(model, settings.revision)
    if found is None and (settings.allow_download or hub.reachable()):
        found = hub.download(model, settings.revision)
    if found is None:
        raise InputError(
            f"The entailment model '{name}' is not on this machine and the Hugging Face hub can't be reached. "
            "Give the folder of a model, go online, or leave the model out."
        )
    return f"{model}@{found.name[:12]}", found


def open_cross_encoder(settings: CrossEncoderSettings, keeper: VectorKeeper | None = None) -> "EntailmentModel":
    """The model, which loads when it is first asked. Raises InputError when it can't be found."""
    model_id, folder = settings.resolved
    return EntailmentModel(folder, model_id, settings.threads, keeper)


class EntailmentModel:
    """Says how likely a premise entails a hypothesis; calls from all rows in flight are gathered into batches.

    A pair is asked once: its probabilities are kept in memory, and in the keeper when there is one.
    """

    def __init__(self, folder: Path, model_id: str, threads: int = 1, keeper: VectorKeeper | None = None) -> None:
        # To the batching a pair is a text, and its three probabilities are the vector.
        self._batching = BatchingEmbedder(lambda: _CrossEncoder(folder, model_id, threads), model_id, keeper)

    @property
    def model_id(self) -> str:
        """Name and revision of the model."""
        return self._batching.model_id

    async def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Shape (n, 3): entailment, neutral, contradiction, each row adding up to 1.

        A model with one output gives its probability of support as entailment, the rest as neutral; one with two
        outputs gives the other as neutral. Raises InputError when the model can't be loaded.
        """
        if not pairs:
            return np.empty((0, 3), dtype=np.float32)
        return (await self._batching.embed([_joined(pair) for pair in pairs])).vectors

    def close(self) -> None:
        """Stop after the batch in progress; calls that still wait fail."""
        self._batching.close()


class _CrossEncoder:
    """The loaded model, as an encoder of joined pairs. Raises InputError when the folder holds no such model."""

    dimensions = 3
    embedded = False

    def __init__(self, folder: Path, model_id: str, threads: int) -> None:
        refuse_foreign_code(folder)
        self.model_id = model_id
        self._model = load_from_folder("CrossEncoder", "entailment model", folder, threads)
        self._places = _label_places(self._model.config, folder)
        self.window = int(self._model.max_seq_length or 0)

    def encode(self, texts: Sequence[str]) -> Embedded:
        from torch.nn import Identity

        pairs = [_apart(text) for text in texts]
        found = self._model.predict(
            pairs, batch_size=_PAIRS_A_RUN, activation_fn=Identity(), show_progress_bar=False, convert_to_numpy=True
        )
        scores = np.asarray(found, dtype=np.float64).reshape(len(texts), -1)
        if not np.isfinite(scores).all():
            raise ValueError(f"The entailment model {self.model_id} returned what is no number.")
        return Embedded(self._probabilities(scores), np.zeros(len(texts), dtype=np.bool_))

    def _probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float32]:
        found = np.zeros((len(scores), 3), dtype=np.float32)
        if scores.shape[1] == 1:
            found[:, 0] = 1 / (1 + np.exp(-np.clip(scores[:, 0], -60, 60)))
            found[:, 1] = 1 - found[:, 0]
            return found
        likely = np.exp(scores - scores.max(axis=1, keepdims=True))
        likely /= likely.sum(axis=1, keepdims=True)
        for column, place in enumerate(self._places):
            found[:, place] += likely[:, column].astype(np.float32)
        return found


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


def _joined(pair: tuple[str, str]) -> str:
    return json.dumps([readable(text) for text in pair], ensure_ascii=False)


def _apart(text: str) -> tuple[str, str]:
    premise, hypothesis = json.loads(text)
    return premise, hypothesis
