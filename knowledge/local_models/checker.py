"""Checker: a model that says how likely a source supports a claim, whichever kind of such a model lies in a folder."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from ... import InputError
from . import hhem, minicheck
from .alignscore import open_alignscore
from .checking import LoadedChecker
from .loading import Place
from .model_files import config_of
from .running import LocalModel

Family = Literal["hhem_2", "cross_encoder", "minicheck_t5", "minicheck_encoder", "alignscore"]
_NO_NAME: Final = re.compile(r"(label_?)?\d+", re.IGNORECASE)


_OPENERS: Final[Mapping[Family, Callable[[Place], LoadedChecker]]] = {
    "hhem_2": hhem.open_token_classifier,
    "cross_encoder": hhem.open_cross_encoder,
    "minicheck_t5": minicheck.open_generator,
    "minicheck_encoder": minicheck.open_encoder,
    "alignscore": open_alignscore,
}


@dataclass(frozen=True, slots=True, eq=False)
class Checked:
    """What a checker says of some pairs, in their order.

    Attributes:
        probabilities: shape (n,), float32: how likely the claim is supported by the source.
        truncated: shape (n,), whether not all of the pair was read.
    """

    probabilities: NDArray[np.float32]
    truncated: NDArray[np.bool_]


class Checker(LocalModel[LoadedChecker]):
    """A checker that metrics ask; calls of all rows in flight are gathered into batches."""

    async def check(self, pairs: Sequence[tuple[str, str]]) -> Checked:
        """How likely the first text of each pair supports the second. Raises InputError when it can't be loaded."""
        said = await self.ask(pairs)
        probabilities = np.array([one.values[0] for one in said], dtype=np.float32)
        return Checked(probabilities, np.array([one.truncated for one in said], dtype=np.bool_))

    async def window(self) -> int:
        """How many tokens of a pair the model reads; loads it. Raises InputError when it can't be loaded."""
        return (await self.load()).window


def open_checker(place: Place) -> LoadedChecker:
    """Load the checker in a folder. Raises InputError when it holds none."""
    return _OPENERS[family_of(place.folder, place.called)](place)


def open_similarity(place: Place) -> LoadedChecker:
    """Load a cross-encoder that says how alike two texts are, as the sigmoid of its one output.

    Raises:
        InputError: the folder holds none; one that says whether a text supports another is none either.
    """
    config = config_of(place.folder)
    made_as = " ".join(map(str, config.get("architectures") or ()))
    names = config.get("id2label") or {0: "LABEL_0", 1: "LABEL_1"}
    if "ForSequenceClassification" not in made_as or len(names) != 1 or "auto_map" in config:
        raise InputError(
            f"The {place.called} in {place.folder} ({made_as or 'no architecture named'}, {len(names)} outputs) "
            "does not say how alike two texts are: a cross-encoder with one output was wanted, such as "
            "cross-encoder/stsb-distilroberta-base."
        )
    return hhem.open_cross_encoder(place)


def family_of(folder: Path, called: str = "checker") -> Family:
    """Which kind of checker lies in a folder, by its configuration alone.

    Raises:
        InputError: none that is known here; the message names the model as ``called``.
    """
    config = config_of(folder)
    if not config:
        raise InputError(f"The {called} in {folder} has no config.json that can be read.")
    made_as = " ".join(map(str, config.get("architectures") or ()))
    names = [str(name) for name in (config.get("id2label") or {0: "LABEL_0", 1: "LABEL_1"}).values()]
    if "AlignScore" in made_as:
        return "alignscore"
    if config.get("model_type") == "t5" and "ForTokenClassification" in made_as:
        return "hhem_2"
    if config.get("model_type") == "t5" and "ForConditionalGeneration" in made_as:
        return "minicheck_t5"
    if "ForSequenceClassification" in made_as and "auto_map" not in config:
        if len(names) == 1:
            return "cross_encoder"
        if len(names) == 2 and all(_NO_NAME.fullmatch(name) for name in names):
            return "minicheck_encoder"
    raise InputError(
        f"The {called} in {folder} ({made_as or 'no architecture named'}, outputs {', '.join(names)}) is none that is "
        "known to say whether a source supports a claim: HHEM 1.0 or 2.1, another cross-encoder with one output, "
        "MiniCheck or AlignScore was wanted."
    )
