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
from .embedding import refuse_foreign_code
from .finding import ROLES, ModelChoice, Notify, find, with_default
from .hub import Hub
from .loading import Place, load_model, load_tokenizer, own_window
from .running import Item, LocalModel, ModelOutput, SequenceReader

ROLE: Final = ROLES["rerank"]
TOKENS_OF_A_PAIR: Final = 512  # that are read at most, of a model that could read more
_CALLED: Final = "reranker"
_OWNER: Final = "cross-encoder"  # of a model that is named without one, as sentence-transformers has it
_PLAIN_LABEL: Final = re.compile(r"label_?\d+|\d+", re.IGNORECASE)


class LoadedReranker:
    """A reranker in memory."""

    def __init__(self, place: Place) -> None:
        """Load it. Raises InputError when the folder holds no such model."""
        refuse_foreign_code(place.folder)
        window = own_window(place, TOKENS_OF_A_PAIR)
        self._model = load_model(place, "AutoModelForSequenceClassification")
        _check_outputs(self._model.config, place)
        self._reader = SequenceReader(self._model, load_tokenizer(place))
        self._reader.window = min(self._reader.window, window)

    def run(self, items: Sequence[Item]) -> list[ModelOutput]:
        """The score of each pair of question and passage."""
        return self._reader.outputs(items, self._scores)

    def _scores(self, tokens: Mapping[str, Any]) -> NDArray[np.float32]:
        logits: NDArray[np.float32] = self._model(**tokens).logits.float().cpu().numpy()
        return logits[:, -1:] - logits[:, :1] if logits.shape[1] == 2 else logits


class Reranker(LocalModel[LoadedReranker]):
    """Scores passages for a question; calls of all questions in flight are gathered into batches."""

    async def scores(self, question: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """How well each passage answers the question, shape (n,): the model's own output, before any sigmoid.

        Nothing is remembered, so that the time that it takes is what a user would wait. Where a pair is longer than
        the model reads, the longer of both loses its end.

        Raises:
            InputError: the model can't be loaded.
            ValueError: it says what is no number.
        """
        outputs = await self.ask([(question, passage) for passage in passages], fresh=True)
        return np.array([one.values[0] for one in outputs], dtype=np.float32)


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
            reranker = self._open[place.model_id] = Reranker(partial(LoadedReranker, place), place.model_id)
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
    """Where the model lies. Raises InputError when it is not on this machine and can't be fetched."""
    found = find(settings, _CALLED, hub, _OWNER, notify=notify)
    if found.folder is None:
        model = settings.model if "/" in settings.model else f"{_OWNER}/{settings.model}"
        named = "" if model == ROLE.model else f" --local-model {ROLE.name}={model}"
        raise InputError(
            found.trouble
            or f"The {_CALLED} '{settings.model}' is not on this machine and the Hugging Face hub can't be reached. "
            f"Run 'proctor models fetch {ROLE.name}{named}' once with a network, give the folder of a model, or leave "
            f"the {_CALLED} out."
        )
    return Place(found.model_id, found.folder, _CALLED, settings.device, settings.threads)


def _check_outputs(config: Any, place: Place) -> None:  # noqa: ANN401 - untyped library
    """Refuse a model whose outputs are not how well two texts fit; two without names are no and yes."""
    names = [str(config.id2label.get(number, number)) for number in range(int(config.num_labels))]
    if len(names) == 1 or (len(names) == 2 and all(map(_PLAIN_LABEL.fullmatch, names))):
        return
    raise InputError(
        f"The {place.called} in {place.folder} has the outputs {', '.join(names)}: a {_CALLED} has one, which says how "
        "well a passage answers a question."
    )
