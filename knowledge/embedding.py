"""EmbedderSettings: which sentence-embedding model is meant, where it is found, and how it is opened."""

import difflib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from .. import InputError
from .encoder import Embedded, Encoder
from .local_models.finding import ModelSettings, find
from .model_hub import Hub
from .onnx_bert import Precision
from .onnx_encoder import MODEL, REVISION, packaged_id

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
            from .onnx_encoder import PackagedEncoder

            return PackagedEncoder(settings.precision, settings.threads)
        case "folder":
            from .sentence_encoder import SentenceEncoder

            return SentenceEncoder(Path(found.place), found.model_id, settings.threads)
        case "langchain":
            from .langchain_encoder import LangChainEncoder, load_embeddings

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
    wanted = ModelSettings(name, settings.revision, threads=settings.threads, allow_download=settings.allow_download)
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
    near = difflib.get_close_matches(name, _KNOWN_MODELS, n=1)
    return f" Did you mean '{near[0]}'?" if near and near[0] != name else ""
