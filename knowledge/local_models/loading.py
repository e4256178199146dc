"""Loading: a model of transformers from a folder, without a network and without code of the model's own."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ... import InputError
from .finding import Device


@dataclass(frozen=True, slots=True)
class Place:
    """Where a model lies and how it is to run.

    Attributes:
        model_id: what it is called.
        folder: where it lies.
        called: what messages call it (``toxicity model``).
        device: what was asked for.
        threads: that torch uses.
    """

    model_id: str
    folder: Path
    called: str
    device: Device = "auto"
    threads: int = 1


def load_model(place: Place, kind: str, **settings: Any) -> Any:  # noqa: ANN401 - untyped library
    """A model in eval mode on its device.

    Args:
        place: where it is.
        kind: class of transformers, such as ``AutoModelForSequenceClassification``.
        settings: handed to ``from_pretrained`` as they are.

    Raises:
        InputError: transformers can't load it, or it needs code of its own.
    """
    import torch
    import transformers

    torch.set_num_threads(place.threads)
    has_safetensors = any(place.folder.glob("*.safetensors"))
    known: Mapping[str, Any] = {"use_safetensors": True} if has_safetensors else {"weights_only": True}
    model = _loaded(place, getattr(transformers, kind), {"dtype": torch.float32, **known, **settings})
    return model.eval().to(device_of(place.device))


def load_tokenizer(place: Place, **settings: Any) -> Any:  # noqa: ANN401 - untyped library
    """The model's tokenizer. Raises InputError when transformers can't load it."""
    import transformers

    return _loaded(place, transformers.AutoTokenizer, settings)


def device_of(wanted: Device) -> str:
    """The device that torch shall use: for ``auto`` a graphics processor where there is one."""
    import torch

    if wanted != "auto":
        return wanted
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _loaded(place: Place, loader: Any, settings: Mapping[str, Any]) -> Any:  # noqa: ANN401 - untyped library
    from transformers.utils import logging

    shows_progress = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # a bar for 0.1 s among our own says nothing
    try:
        return loader.from_pretrained(str(place.folder), local_files_only=True, trust_remote_code=False, **settings)
    except Exception as error:
        raise InputError(
            f"The {place.called} in {place.folder} can't be loaded by transformers: {type(error).__name__}: {error}"
        ) from error
    finally:
        if shows_progress:
            logging.enable_progress_bar()
