"""Reranker: scores how well a passage answers a question, with any cross-encoder of transformers."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from ... import InputError
from .finding import ROLES, ModelChoice, Notify, with_default
from .hub import Hub
from .loading import OWNER, Place, cross_encoder_place
from .running import LocalModel, SequenceModel, load_cross_encoder

ROLE: Final = ROLES["rerank"]
TOKENS_OF_A_PAIR: Final = 512  # that are read at most, of a model that could read more
_CALLED: Final = "reranker"
_PLAIN_LABEL: Final = re.compile(r"label_?\d+|\d+", re.IGNORECASE)


def open_reranker(place: Place) -> SequenceModel:
    """The score of each pair of question and passage. Raises InputError when the folder holds no such model."""
    model, reader = load_cross_encoder(place, TOKENS_OF_A_PAIR)
    _check_outputs(model.config, place)

    def scores(tokens: Mapping[str, Any]) -> NDArray[np.float32]:
        logits: NDArray[np.float32] = model(**tokens).logits.float().cpu().numpy()
        return logits[:, -1:] - logits[:, :1] if logits.shape[1] == 2 else logits

    return SequenceModel(reader, scores)


class Reranker(LocalModel[SequenceModel]):
    """Scores passages for a question; calls of all questions in flight are gathered into batches."""

    async def scores(self, question: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """How well each passage answers the question, shape (n,): the model's own output, before any sigmoid.

        Nothing is remembered, so that the time that it takes is what a user would wait. Where a pair is longer than
        the model reads, the longer of both loses its end.

        Raises:
            InputError: the model can't be loaded.
            ValueError: it says what is no number.
        """
        values, _ = await self.table([(question, passage) for passage in passages], 1, fresh=True)
        return values[:, 0]


@dataclass(frozen=True, slots=True)
class FoundReranker:
    """A reranker that was found and is not loaded.

    Attributes:
        model_id: name and revision.
        take: the model, which loads when it is first asked; all who hold it hold the same one.
    """

    model_id: str
    take: Callable[[], Reranker]


class Rerankers:
    """The rerankers of the bots of a suite; each is loaded once, and dropped when no bot holds it any more.

    Args:
        settings: the model that takes the role ``rerank``, and how it runs; where and with how many threads counts for
            the others as well, for which a revision is not known.
        base: the folder that relative paths start from.
        hub: where named models come from.
        notify: gets a sentence when a model is downloaded or prepared.
    """

    def __init__(
        self,
        settings: ModelChoice | None = None,
        base: Path = Path(),
        hub: Hub | None = None,
        notify: Notify | None = None,
    ) -> None:
        self._settings = with_default(settings or ModelChoice(ROLE.model), ROLE)
        self._base = base
        self._hub = hub
        self._notify = notify
        self._open: WeakValueDictionary[str, Reranker] = WeakValueDictionary()
        self._found = cache(self._find)

    def named(self, model: str) -> FoundReranker:
        """A reranker by its folder, its name on the hub, or ``rerank`` for the one that takes that role.

        Raises:
            InputError: there is no such model, or it is not on this machine and can't be fetched.
        """
        place = self._found(model)
        return FoundReranker(place.model_id, partial(self._taken, place))

    def _taken(self, place: Place) -> Reranker:
        reranker = self._open.get(place.model_id)
        if reranker is None:
            reranker = self._open[place.model_id] = Reranker(partial(open_reranker, place), place.model_id)
        return reranker

    def _find(self, model: str) -> Place:
        return _place_of(self._wanted(model.strip()), self._hub, self._notify)

    def _wanted(self, model: str) -> ModelChoice:
        if model != ROLE.name and (self._base / model).is_dir():
            model = str(self._base / model)
        if model in {ROLE.name, self._settings.model}:
            return self._settings
        known = with_default(ModelChoice(model), ROLE)
        return replace(known, device=self._settings.device, threads=self._settings.threads)


def _place_of(settings: ModelChoice, hub: Hub | None, notify: Notify | None) -> Place:
    model = settings.model if "/" in settings.model else f"{OWNER}/{settings.model}"
    named = "" if model == ROLE.model else f" --local-model {ROLE.name}={model}"
    advice = (
        f"Run 'proctor models fetch {ROLE.name}{named}' once with a network, give the folder of a model, or leave the "
        f"{_CALLED} out."
    )
    return cross_encoder_place(settings, _CALLED, advice, hub, notify)


def _check_outputs(config: Any, place: Place) -> None:  # noqa: ANN401 - untyped library
    """Refuse a model whose outputs are not how well two texts fit; two without names are no and yes."""
    names = [str(config.id2label.get(number, number)) for number in range(int(config.num_labels))]
    if len(names) == 1 or (len(names) == 2 and all(map(_PLAIN_LABEL.fullmatch, names))):
        return
    raise InputError(
        f"The {place.called} in {place.folder} has the outputs {', '.join(names)}: a {_CALLED} has one, which says how "
        "well a passage answers a question."
    )
