"""Embedding models: sentence-transformers or LangChain embeddings behind one interface, found and opened by name."""

import importlib
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ... import InputError
from ..documents.document import encodable
from ..nearest import nearest_name
from .encoder import MODEL, REVISION, Embedded, Encoder, Precision, packaged_id, unit_rows
from .finding import ModelChoice, find
from .hub import ONE_LOAD, Hub

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
        readables = [encodable(text) for text in texts]
        with self._alone:
            vectors = self._model.encode(
                readables, batch_size=_TEXTS_A_RUN, convert_to_numpy=True, show_progress_bar=False
            )
            truncated = self._truncated(readables)
        return Embedded(unit_rows(np.asarray(vectors, dtype=np.float32), self.model_id), truncated)

    def token_vectors(self, texts: Sequence[str]) -> list[Embedded]:
        """For each text the unit vectors of its tokens, the special ones included. Shape (tokens, dimensions) each."""
        readables = [encodable(text) for text in texts]
        with self._alone:
            made = self._model.encode(readables, output_value="token_embeddings", show_progress_bar=False)
            truncated = self._truncated(readables)
        vectors = [unit_rows(np.asarray(one.cpu(), dtype=np.float32), self.model_id) for one in made]
        return [Embedded(one, truncated[place : place + 1]) for place, one in enumerate(vectors)]

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


@runtime_checkable
class Embeddings(Protocol):
    """The part of ``langchain_core.embeddings.Embeddings`` that is used."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector a text, in their order."""
        ...


class LangChainEncoder:
    """Wraps an Embeddings object; asks it for one vector when made, to learn the dimensions.

    LangChain does not tell how many tokens a model reads, so ``window`` is 0 and no text is reported as truncated.
    """

    window = 0
    embedded = False

    def __init__(self, embeddings: Embeddings, model_id: str) -> None:
        self.model_id = model_id
        self._alone = threading.Lock()  # nothing is known of what is behind it
        self._embeddings = embeddings
        self.dimensions = len(embeddings.embed_documents(["dimensions"])[0])

    def encode(self, texts: Sequence[str]) -> Embedded:
        """Embed the texts, in their order. Raises ValueError when the model gives other than one vector a text."""
        if not texts:
            return Embedded(np.empty((0, self.dimensions), np.float32), np.zeros(0, np.bool_))
        # Some endpoints refuse blank input, and a single blank is what they take for it.
        with self._alone:
            given = self._embeddings.embed_documents([encodable(text) or " " for text in texts])
        vectors = np.asarray(given, dtype=np.float32)
        if vectors.shape != (len(texts), self.dimensions):
            raise ValueError(
                f"{self.model_id} gave vectors of shape {vectors.shape} for {len(texts)} texts "
                f"of {self.dimensions} dimensions."
            )
        return Embedded(unit_rows(vectors, self.model_id), np.zeros(len(texts), np.bool_))


def load_embeddings(target: str) -> Embeddings:
    """The Embeddings that ``module:name`` names: an object, or a class or function that makes one without arguments."""
    module_name, _, name = target.partition(":")
    if not module_name or not name:
        raise InputError(
            f"The embedder 'langchain:{target}' names no object: write 'langchain:module:name', for instance "
            "'langchain:my_models:embeddings'."
        )
    try:
        with ONE_LOAD:  # what the module does, or what makes the object, may load a model of transformers
            found = getattr(importlib.import_module(module_name), name)
    except (ImportError, AttributeError) as error:
        raise InputError(f"The embedder 'langchain:{target}' can't be loaded: {error}.") from error
    with ONE_LOAD:
        made = found() if isinstance(found, type) or (not isinstance(found, Embeddings) and callable(found)) else found
    if not isinstance(made, Embeddings):
        raise InputError(
            f"The embedder 'langchain:{target}' is of type {type(made).__name__}, which has no embed_documents: "
            "a LangChain Embeddings object, or a function that returns one, was wanted."
        )
    return made


__all__ = ["Embedded", "EmbedderSettings", "Encoder", "Resolved", "open_encoder", "resolve"]

_PACKAGED_NAME = MODEL.rpartition("/")[2]
_KNOWN_MODELS = (_PACKAGED_NAME, MODEL, "BAAI/bge-small-en", "BAAI/bge-small-en-v1.5")
_LANGCHAIN = "langchain:"


@dataclass(frozen=True, slots=True)
class Resolved:
    """Where a model was found, and what it is called from then on.

    Attributes:
        model_id: name, revision and arithmetic, as it stands on the manifest.
        source: which loader opens it.
        place: the folder, or the target after ``langchain:``; empty for the packaged model.
        warning: why this is not the model that was asked for, for the manifest; empty when it is.
    """

    model_id: str
    source: Literal["packaged", "folder", "langchain"]
    place: str = ""
    warning: str = ""

    @property
    def embedded(self) -> bool:
        """Whether this is the model that ships with Proctor."""
        return self.source == "packaged"


@dataclass(frozen=True)  # without slots, so that the resolution can be remembered
class EmbedderSettings:
    """Which embedder is wanted.

    Attributes:
        model: ``all-MiniLM-L6-v2`` (packaged), a folder, an id of the Hugging Face hub, or ``langchain:module:name``.
        revision: branch, tag or commit on the hub.
        precision: ``int8`` is about 2.5 times as fast as ``fp32`` at a cosine of about 0.99; packaged model only.
        threads: processor threads of the model.
        strict: whether another model in place of the wanted one is an error.
        allow_download: try the hub even when a quick probe finds no way to it.
    """

    model: str = _PACKAGED_NAME
    revision: str | None = None
    precision: Precision = "fp32"
    threads: int = 1
    strict: bool = False
    allow_download: bool = False

    @cached_property
    def resolved(self) -> Resolved:
        """Where the model is; looked for once. Raises InputError, see ``resolve``."""
        return resolve(self)

    @property
    def model_id(self) -> str:
        """The model's id; nothing is loaded for it, though a hub model may have to be downloaded."""
        return self.resolved.model_id


def open_encoder(settings: EmbedderSettings) -> Encoder:
    """Load the model. Raises InputError when it can't be found or loaded. Takes seconds unless it is packaged."""
    found = settings.resolved
    match found.source:
        case "packaged":
            from .encoder import open_packaged

            return open_packaged(settings.precision, settings.threads)
        case "folder":
            return SentenceEncoder(Path(found.place), found.model_id, settings.threads)
        case "langchain":
            return LangChainEncoder(load_embeddings(found.place), found.model_id)


def resolve(settings: EmbedderSettings, hub: Hub | None = None) -> Resolved:
    """Find the model: packaged, LangChain, a folder, the hub's cache, the hub, else the packaged one with a warning.

    Raises InputError when the name can't be one, when the hub says that there is no such model, and, under
    ``strict``, in place of the warning.
    """
    name = settings.model.strip()
    if not name:
        raise InputError("The embedder's name is empty: leave it out for the packaged all-MiniLM-L6-v2.")
    if settings.threads < 1:
        raise InputError(f"The embedder was given {settings.threads} threads: 1 or more were wanted.")
    if name in {_PACKAGED_NAME, MODEL} and _is_packaged_revision(settings.revision):
        return Resolved(packaged_id(settings.precision), "packaged")
    if settings.precision != "fp32":
        raise InputError(
            f"The embedder '{name}' can't run in {settings.precision}: only the packaged {_PACKAGED_NAME} can."
        )
    if name.startswith(_LANGCHAIN):
        return Resolved(name, "langchain", name.removeprefix(_LANGCHAIN).strip())
    wanted = ModelChoice(name, settings.revision, threads=settings.threads, allow_download=settings.allow_download)
    # sentence-transformers' own rule for a name without an owner
    found = find(wanted, "embedder", hub, owner="sentence-transformers", hint=_nearest(name))
    if found.folder is not None:
        return Resolved(found.model_id, "folder", str(found.folder))
    if found.trouble:
        raise InputError(found.trouble)
    missing = f"The embedder '{name}' is not on this machine and the Hugging Face hub can't be reached.{_nearest(name)}"
    if settings.strict:
        raise InputError(f"{missing} Give the folder of a model, or go online and allow downloads.")
    packaged = packaged_id("fp32")
    warning = f"{missing} {packaged} was used in its place: its scores can't be compared with those of '{name}'."
    return Resolved(packaged, "packaged", warning=warning)


def _is_packaged_revision(revision: str | None) -> bool:
    return revision is None or (len(revision) >= 7 and REVISION.startswith(revision))


def _nearest(name: str) -> str:
    near = nearest_name(name, _KNOWN_MODELS)
    return f" Did you mean '{near}'?" if near and near != name else ""
