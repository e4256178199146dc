"""Converting: models published in a form that transformers doesn't load, as weights and configuration that it does."""

import pickle
import re
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ... import InputError
from .model_files import config_of, tokenizer_files

TENSORFLOW_FILE: Final = "tf_model.h5"
# What was published without names for its outputs that say what they are: the names that its page gives.
_OUTPUTS: Final = {"d4data/bias-detection-model": ("Non-biased", "Biased")}


class Unprepared(Exception):  # noqa: N818 - said to the user as it stands, as an InputError or in its place
    """A model is here, but can't be made ready; says why in a sentence."""


@dataclass(frozen=True, slots=True)
class Beside:
    """Another repository of the hub that holds what a model leaves out."""

    model: str
    revision: str
    files: tuple[str, ...]

    @property
    def known(self) -> str:
        """Name and commit."""
        return f"{self.model}@{self.revision}"


@dataclass(frozen=True, slots=True)
class Converted:
    """A model as transformers loads it.

    Attributes:
        kind: the class of transformers that loads it.
        config: for ``config.json``.
        weights: tensors of torch by name.
        tokenizer: folder with the tokenizer's files.
        tokenizer_settings: what stands in ``tokenizer_config.json`` where its own says nothing of it.
    """

    kind: str
    config: Mapping[str, object]
    weights: Mapping[str, Any]
    tokenizer: Path
    tokenizer_settings: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Material:
    """What a model is made ready from.

    Attributes:
        name: of the model on the hub, or of its folder.
        weights: the file that holds them.
        folder: where the model lies.
        beside: where what it leaves out lies; its own folder when it leaves nothing out.
    """

    name: str
    weights: Path
    folder: Path
    beside: Path


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one sort of model is made ready.

    Attributes:
        file: its weights.
        convert: makes it ready. Raises Unprepared when that can't be.
        beside: what else it needs; None when it is complete.
    """

    file: str
    convert: Callable[[Material], Converted]
    beside: Beside | None = None


_FLAN: Final = Beside(
    "google/flan-t5-base", "7bcac572ce56db69c1ea7c8af255c5d7c9672fc2", ("config.json", "tokenizer.json")
)
# The large model has the same tokenizer.
_ROBERTA: Final = Beside("FacebookAI/roberta-base", "e2da8e2f811d1448a5b465c236feacd80ffbac7b", ("tokenizer.json",))


def recipe_for(folder: Path, file: str = "") -> Recipe | None:
    """How what lies in the folder is made ready; None when transformers loads it as it is.

    Args:
        folder: of the model.
        file: which weights in it are meant; empty for the only ones.
    """
    checkpoints = [Path(file)] if file else sorted(folder.glob("*.ckpt"))
    config = config_of(folder)
    if len(checkpoints) == 1 and checkpoints[0].suffix == ".ckpt" and (file or not config):
        own = None if tokenizer_files(folder) else _ROBERTA
        return Recipe(checkpoints[0].name, _alignscore, own)
    if config.get("model_type") == "HHEMv2":
        return Recipe("model.safetensors", _hhem, _FLAN)
    if (folder / TENSORFLOW_FILE).is_file() and not any(
        any(folder.glob(pattern)) for pattern in ("*.safetensors", "pytorch_model*.bin")
    ):
        return Recipe(TENSORFLOW_FILE, _tensorflow)
    return None


def _alignscore(material: Material) -> Converted:
    """A checkpoint of Lightning; only tensors are taken out of the pickle, nothing that it names is run."""
    import torch

    from .alignscore import config_of as config_of_alignscore
    from .alignscore import converted

    try:
        checkpoint = torch.load(material.weights, map_location="cpu", weights_only=True, mmap=True)
        state = checkpoint["state_dict"]
    except pickle.UnpicklingError as error:
        raise Unprepared(
            f"{material.weights} holds more than numbers, and what else a pickle holds is never run: {error}"
        ) from error
    except (RuntimeError, OSError, EOFError, LookupError, TypeError, ValueError) as error:
        raise Unprepared(f"{material.weights} is not a checkpoint of AlignScore: {error}") from error
    try:
        weights = converted(state)
    except InputError as error:
        raise Unprepared(str(error)) from error
    settings = {"tokenizer_class": "RobertaTokenizer", "model_max_length": 512}
    return Converted(
        "AutoModelForSequenceClassification", config_of_alignscore(weights), weights, material.beside, settings
    )


def _hhem(material: Material) -> Converted:
    """HHEM 2.1: the token classifier of T5 that its own code wraps, under that class's own names."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        wrapped = load_file(material.weights)
    except (SafetensorError, OSError) as error:
        raise Unprepared(f"{material.weights} can't be read: {error}") from error
    weights = {name.removeprefix("t5."): tensor for name, tensor in wrapped.items() if name.startswith("t5.")}
    if not weights:
        raise Unprepared(f"{material.weights} is not HHEM 2.1: it has no weights named t5.")
    left_out = ("task_specific_params", "auto_map")
    config = {key: value for key, value in config_of(material.beside).items() if key not in left_out}
    config |= {
        "architectures": ["T5ForTokenClassification"],
        "model_type": "t5",
        "id2label": {"0": "hallucinated", "1": "consistent"},
        "label2id": {"hallucinated": 0, "consistent": 1},
    }
    return Converted("T5ForTokenClassification", config, weights, material.beside, {})


def _tensorflow(material: Material) -> Converted:
    """DistilBERT with a classifier, as Keras writes it: a group for each layer, in it variables by their full names."""
    config = dict(config_of(material.folder))
    if config.get("model_type") != "distilbert":
        raise Unprepared(
            f"it has TensorFlow weights only, and is of the type {config.get('model_type')}: only DistilBERT is "
            "converted. Convert it with an older transformers, and give the folder."
        )
    labels = _OUTPUTS.get(material.name)
    if labels is not None and all(re.fullmatch(r"LABEL_\d", str(label)) for label in _labels(config)):
        config["id2label"] = {str(place): label for place, label in enumerate(labels)}
        config["label2id"] = {label: place for place, label in enumerate(labels)}
    config["architectures"] = ["DistilBertForSequenceClassification"]
    weights = _keras_weights(material.weights)
    return Converted("DistilBertForSequenceClassification", config, weights, material.beside, {})


def _labels(config: Mapping[str, Any]) -> list[object]:
    named = config.get("id2label")
    return list(named.values()) if isinstance(named, Mapping) else []


def _keras_weights(path: Path) -> dict[str, Any]:
    import torch

    try:
        import h5py
    except ImportError as error:
        raise Unprepared(
            "its weights are TensorFlow's, and to convert them h5py is needed: pip install 'proctor[convert]', then "
            "run the same again."
        ) from error
    weights: dict[str, Any] = {}
    try:
        with closing(h5py.File(path, "r")) as layers:
            for layer in layers.attrs["layer_names"]:
                group = layers[_text(layer)]
                for variable in group.attrs["weight_names"]:
                    name, is_turned = _torch_name(_text(variable))
                    values = torch.from_numpy(group[_text(variable)][()]).float()
                    weights[name] = (values.T if is_turned else values).contiguous()
    except (OSError, LookupError, TypeError, ValueError) as error:
        raise Unprepared(f"{path} can't be read as weights of Keras: {type(error).__name__}: {error}") from error
    return weights


def _torch_name(variable: str) -> tuple[str, bool]:
    """What torch calls a variable of Keras, and whether its matrix is turned round.

    ``model/distilbert/transformer/layer_._0/ffn/lin1/kernel:0`` is ``distilbert.transformer.layer.0.ffn.lin1.weight``.
    """
    *scopes, last = variable.partition(":")[0].replace("_._", "/").split("/")[1:]
    renamed = {"kernel": "weight", "gamma": "weight", "embeddings": "weight", "beta": "bias"}
    return ".".join([*scopes, renamed.get(last, last)]), last == "kernel"


def _text(name: object) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)
