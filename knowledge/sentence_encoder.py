"""SentenceEncoder: any sentence-transformers model that lies in a folder."""

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import InputError
from .encoder import Embedded, readable, unit_rows
from .one_load import ONE_LOAD

_TEXTS_A_RUN = 32
_MOST_SPECIAL_TOKENS = 8


class SentenceEncoder:
    """A sentence-transformers model on the processor. Loads when it is made; code in the folder is never run.

    Raises InputError when the folder holds no such model. ``threads`` is set for the whole process: torch knows
    no other way.
    """

    embedded = False

    def __init__(self, folder: Path, model_id: str, threads: int = 1) -> None:
        refuse_foreign_code(folder)
        self.model_id = model_id
        self._alone = threading.Lock()  # a tokenizer of transformers can't be used by two threads at once
        self._model = _load(folder, threads)
        self._tokenizer = self._model.tokenizer
        self.dimensions: int = int(self._model.get_embedding_dimension())
        self.window: int = int(self._model.max_seq_length or 0)

    def encode(self, texts: Sequence[str]) -> Embedded:
        """Embed the texts, in their order; the model's own default prompt is applied, if it has one."""
        if not texts:
            return Embedded(np.empty((0, self.dimensions), np.float32), np.zeros(0, np.bool_))
        readables = [readable(text) for text in texts]
        with self._alone:
            vectors = self._model.encode(
                readables, batch_size=_TEXTS_A_RUN, convert_to_numpy=True, show_progress_bar=False
            )
            truncated = self._truncated(readables)
        return Embedded(unit_rows(np.asarray(vectors, dtype=np.float32), self.model_id), truncated)

    def _truncated(self, texts: list[str]) -> NDArray[np.bool_]:
        return np.array([self._is_truncated(text) for text in texts], dtype=np.bool_)

    def _is_truncated(self, text: str) -> bool:
        # No tokenizer makes more tokens than there are bytes, so most texts need no second look.
        if not self.window or len(text.encode()) + _MOST_SPECIAL_TOKENS <= self.window:
            return False
        return len(self._tokenizer(text, truncation=False, verbose=False)["input_ids"]) > self.window


def _load(folder: Path, threads: int) -> Any:  # noqa: ANN401 - untyped library
    """The model from a local folder, without a network and without code of its own."""
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    torch.set_num_threads(threads)
    has_safetensors = any(folder.rglob("*.safetensors"))
    with ONE_LOAD:
        shows_progress = logging.is_progress_bar_enabled()
        logging.disable_progress_bar()  # a bar for 0.1 s among our own says nothing
        try:
            return SentenceTransformer(
                str(folder),
                device="cpu",
                trust_remote_code=False,
                local_files_only=True,
                model_kwargs={"use_safetensors": True} if has_safetensors else {},
            )
        except Exception as error:
            raise InputError(
                f"The embedder in {folder} can't be loaded by sentence-transformers: {type(error).__name__}: {error}"
            ) from error
        finally:
            if shows_progress:
                logging.enable_progress_bar()


def refuse_foreign_code(folder: Path) -> None:
    """Raise InputError when the model is built of classes that it brings itself: the library would run them."""
    listed = folder / "modules.json"
    if not listed.is_file():
        return
    try:
        types = [str(module["type"]) for module in json.loads(listed.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InputError(f"{listed} is not a list of sentence-transformers modules: {error}.") from error
    foreign = [name for name in types if not name.startswith("sentence_transformers.")]
    if foreign:
        raise InputError(
            f"The model in {folder} needs its own code ({', '.join(foreign)}), which is never run: "
            "choose a model that is built of sentence-transformers modules."
        )
