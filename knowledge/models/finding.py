"""Finding: locates a local model by its folder or its name on the hub, and gives it an id."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

from ... import InputError
from .hub import Hub, HuggingFaceHub, content_hash
from .preparing import Source, Unprepared, prepared, prepared_before

Kind = Literal["classifier", "checker", "entailment", "language_model", "reranker", "similarity", "span_detector"]


@dataclass(frozen=True, slots=True)
class Role:
    """What one local model is wanted for.

    Attributes:
        name: what the role is called in a suite; metrics ask for ``<name>_model``. ``rerank`` is for bots alone.
        kind: what such a model does.
        model: the hub id of the model that takes it where none is named.
        revision: the commit of that model; None where it is not known, so that the newest is taken.
        megabytes: about how much is downloaded.
        licence: as the model's card states it.
        file: its weights, where the repository holds several models or has them under an unusual name.
    """

    name: str
    kind: Kind
    model: str
    revision: str | None
    megabytes: int
    licence: str
    file: str = ""

    @property
    def tool(self) -> str:
        """The name by which metrics ask for the model."""
        return f"{self.name}_model"


_ROLES: Final = (
    Role("hallucination", "checker", "vectara/hallucination_evaluation_model",
         "8f6b0b5865cb7a6a09c299be3f788f91e22313b0", 440, "Apache-2.0"),
    Role("perplexity", "language_model", "distilbert/distilgpt2",
         "2290a62682d06624634c1f46a6ad5be0f47f38aa", 353, "Apache-2.0"),
    Role("gptscore", "language_model", "openai-community/gpt2-medium",
         "6dcaa7a952f72f9298047fd5137cd6e4f05f41da", 1520, "MIT"),
    Role("toxicity", "classifier", "unitary/toxic-bert",
         "4d6c22e74ba2fdd26bc4f7238f50766b045a0d94", 438, "Apache-2.0"),
    Role("fairness_bias", "classifier", "d4data/bias-detection-model", None, 268, "not stated", "tf_model.h5"),
    Role("summac", "entailment", "tals/albert-xlarge-vitaminc-mnli", None, 235, "not stated"),
    Role("minicheck", "checker", "lytang/MiniCheck-Flan-T5-Large",
         "96eafd01cee2d16cf81aaa2fb226b14f422a37b3", 3130, "MIT"),
    Role("alignscore", "checker", "yzha/AlignScore",
         "8509e78d25bb914939fc585c626500c9b2944249", 1967, "MIT", "AlignScore-base.ckpt"),
    Role("lettucedetect", "span_detector", "KRLabsOrg/lettucedect-base-modernbert-en-v1", None, 600, "MIT"),
    Role("similarity", "similarity", "cross-encoder/stsb-distilroberta-base", None, 329, "Apache-2.0"),
    Role("rerank", "reranker", "cross-encoder/ms-marco-MiniLM-L6-v2", None, 91, "Apache-2.0"),
)  # fmt: skip
ROLES: Final[Mapping[str, Role]] = MappingProxyType({role.name: role for role in _ROLES})


Device = Literal["auto", "cpu", "cuda", "mps"]
Notify = Callable[[str], None]
_HUB_NAME: Final = re.compile(r"[\w-][\w.-]*(/[\w.-]+)?")
_DESCRIPTIONS: Final = ("config.json", "modules.json")
_SHORT: Final = 12  # letters of a commit or hash in an id


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """Which model is wanted, and how it is to run.

    Attributes:
        model: a folder, or an id of the Hugging Face hub.
        revision: branch, tag or commit on the hub; None for the newest.
        device: ``auto`` takes a graphics processor where there is one.
        threads: processor threads of torch, set for the whole process: torch knows no other way.
        allow_download: try the hub even when a quick probe finds no way to it.
        file: which weights of the repository on the hub, where it holds several models (``AlignScore-large.ckpt``) or
            has them under an unusual name; empty for the usual ones.
    """

    model: str
    revision: str | None = None
    device: Device = "auto"
    threads: int = 1
    allow_download: bool = False
    file: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """Where a model is, or why it isn't here.

    Attributes:
        model_id: name and revision, as they stand on the manifest and in the version of scores. With a commit as
            revision it is the same before the weights are here and after.
        folder: where it lies, as transformers loads it; None when it is not on this machine, or can't be used.
        source: what ``folder`` was prepared from, or the folder itself; None when it is not on this machine.
        trouble: why what is here can't be used; empty when it can, and when nothing is here.
    """

    model_id: str
    folder: Path | None = None
    source: Path | None = None
    trouble: str = ""


def find(
    settings: ModelChoice,
    called: str,
    hub: Hub | None = None,
    owner: str = "",
    hint: str = "",
    notify: Notify | None = None,
) -> Found:
    """Look in this order: a folder, the hub's cache, the hub. What can't be loaded as it is there is prepared.

    Args:
        settings: what is wanted.
        called: what messages call the model (``toxicity model``).
        hub: where named models come from.
        owner: of models that are named without one.
        hint: ends the message about a name that can't be one.
        notify: gets a sentence before a download and before what takes long after it.

    Raises:
        InputError: the name can't be one, or the hub was reached and has no such model.
    """
    hub = hub or HuggingFaceHub()
    place = _placed(settings, called, hub, owner, hint)
    if place.is_absent and (settings.allow_download or hub.reachable()):
        place = _brought(place, settings, called, hub, notify)
    return _prepared(place, called, hub, notify, goes_online=settings.allow_download)


def look(settings: ModelChoice, called: str, hub: Hub | None = None, owner: str = "") -> Found:
    """What ``find`` would find without a network and without preparing anything. Raises InputError like ``find``."""
    hub = hub or HuggingFaceHub()
    place = _placed(settings, called, hub, owner, "")
    return _prepared(place, called, hub, makes=False)


def fetch(
    settings: ModelChoice, called: str, hub: Hub | None = None, owner: str = "", notify: Notify | None = None
) -> Found:
    """Bring the model here, the newest where no revision is named, and prepare it. A folder is taken as it is.

    Raises:
        InputError: it can't be had or prepared; what is missing or in the way is said.
    """
    hub = hub or HuggingFaceHub()
    place = _placed(settings, called, hub, owner, "")
    if place.on_hub and place.made_before is None:
        if not settings.allow_download and not hub.reachable():
            raise InputError(
                f"The {called} '{settings.model}' can't be fetched: the Hugging Face hub can't be reached, or "
                "HF_HUB_OFFLINE is set."
            )
        place = _brought(place, settings, called, hub, notify)
        if place.folder is None:
            raise InputError(
                f"The {called} '{settings.model}' did not arrive: the connection to the Hugging Face hub broke off, or "
                "could not be made. Run the same again: what has arrived is not downloaded again."
            )
    found = _prepared(place, called, hub, notify, goes_online=True)
    if found.folder is None:
        raise InputError(found.trouble)
    return found


def with_default(settings: ModelChoice, role: Role) -> ModelChoice:
    """The settings with revision and file that belong to the default model, where that is the one that is wanted."""
    if settings.model != role.model:
        return settings
    return replace(settings, revision=settings.revision or role.revision, file=settings.file or role.file)


@dataclass(frozen=True, slots=True)
class _Place:
    model_id: str
    source: Source
    on_hub: bool
    made_before: Path | None = None  # prepared from what is no longer in the hub's cache

    @property
    def folder(self) -> Path | None:
        return self.source.folder

    @property
    def is_absent(self) -> bool:
        return self.folder is None and self.made_before is None


def _placed(settings: ModelChoice, called: str, hub: Hub, owner: str, hint: str) -> _Place:
    name = settings.model.strip()
    if not name:
        raise InputError(f"The {called}'s name is empty: a folder or a model id was wanted.")
    if settings.threads < 1:
        raise InputError(f"The {called} was given {settings.threads} threads: 1 or more were wanted.")
    folder = Path(name).expanduser()
    if folder.is_dir():
        folder = folder.resolve()
        try:
            if not _holds_model(folder, settings.file):
                raise InputError(
                    f"The {called} in {folder} is no model: the folder has neither config.json nor modules.json, nor a "
                    "checkpoint (.ckpt)."
                )
            known = f"{folder.name}@{content_hash(folder)[:_SHORT]}"
        except OSError as error:
            raise InputError(f"The {called} in {folder} can't be read: {error.strerror or error}.") from error
        return _Place(f"{known} (folder)", Source(folder, known, settings.file), on_hub=False)
    if folder.exists() or not _HUB_NAME.fullmatch(name):
        raise InputError(f"The {called} '{name}' is neither a folder nor a model id.{hint}")
    model = f"{owner}/{name}" if owner and "/" not in name else name
    files = (settings.file,) if settings.file else ()
    return _on_hub(model, hub.cached(model, settings.revision, files), settings)


def _holds_model(folder: Path, file: str) -> bool:
    """Whether a model lies in the folder itself. Of any other folder, all that is below would be read for its hash."""
    described = any((folder / name).is_file() for name in _DESCRIPTIONS)
    return described or bool(file and (folder / file).is_file()) or any(folder.glob("*.ckpt"))


def _on_hub(model: str, folder: Path | None, settings: ModelChoice) -> _Place:
    revision = folder.name if folder is not None else settings.revision or "newest"
    of_file = f" ({settings.file})" if settings.file else ""
    source = Source(folder, f"{model}@{revision}", settings.file)
    before = prepared_before(source) if folder is None else None
    return _Place(f"{model}@{revision[:_SHORT]}{of_file}", source, on_hub=True, made_before=before)


def _brought(place: _Place, settings: ModelChoice, called: str, hub: Hub, notify: Notify | None) -> _Place:
    model = place.source.known.rpartition("@")[0]
    if notify is not None:
        notify(f"Downloading the {called} {place.model_id}.")
    files = (settings.file,) if settings.file else ()
    folder = hub.download(model, settings.revision, files)
    return place if folder is None else _on_hub(model, folder, settings)


def _prepared(
    place: _Place, called: str, hub: Hub, notify: Notify | None = None, *, makes: bool = True, goes_online: bool = False
) -> Found:
    if place.folder is None:
        return Found(place.model_id, place.made_before)
    try:
        ready = prepared(place.source, hub, notify, makes=makes, goes_online=goes_online)
    except Unprepared as error:
        return Found(place.model_id, None, place.folder, f"The {called} {place.model_id} can't be used: {error}")
    except OSError as error:
        why = error.strerror or error
        return Found(place.model_id, None, place.folder, f"The {called} in {place.folder} can't be read: {why}.")
    return Found(place.model_id, ready, place.folder)
