"""LocalModels: the models of a run by role; each is loaded once, when it is first used."""

import contextlib
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from ... import InputError
from .finding import ROLES, Found, Kind, ModelChoice, Notify, Role, fetch, find, look, with_default
from .hub import Hub, HuggingFaceHub, file_hashes
from .loading import Place, device_of
from .preparing import ORIGIN
from .running import LoadedModel, LocalModel

# Module and names in it: what opens such a model, and what metrics ask. Imported when a model of the kind is loaded.
_OPENED_BY: Final[Mapping[Kind, tuple[str, str, str]]] = {
    "classifier": (".classifier", "open_classifier", "Classifier"),
    "checker": (".checkers", "open_checker", "Checker"),
    "entailment": (".classifier", "open_entailment", "EntailmentModel"),
    "language_model": (".language_models", "open_language_model", "LanguageModel"),
    "reranker": (".reranker", "open_reranker", "Reranker"),
    "similarity": (".checkers", "open_similarity", "Checker"),
    "span_detector": (".span_detector", "LoadedSpanDetector", "SpanDetector"),
}
_WEIGHTS: Final = frozenset({".safetensors", ".bin"})


@dataclass(frozen=True, slots=True)
class ListedModel:
    """The model of a role: what wants it, and whether it is on this machine.

    Attributes:
        role: what it is wanted for.
        model_id: name and revision.
        metrics: what wants it.
        settings: which model takes the role, and how it is to run; None for that of a server.
        folder: where it lies, ready to be loaded; None when it isn't here or can't be used.
        megabytes: what it takes where it lies; of a model that isn't here what would be downloaded, None when that is
            not known, and for the model of a server.
        licence: as the model's card states it; empty when it is not known.
        trouble: why it can't be used though it is here, or can't be found; empty otherwise.
        is_served: whether a server runs it.
    """

    role: Role
    model_id: str
    metrics: tuple[str, ...] = ()
    settings: ModelChoice | None = None
    folder: Path | None = None
    megabytes: int | None = None
    licence: str = ""
    trouble: str = ""
    is_served: bool = False

    @property
    def is_here(self) -> bool:
        """Whether it can be loaded without a network; true for that of a server as well."""
        return self.is_served or self.folder is not None

    @property
    def as_object(self) -> dict[str, object]:
        """All that is known of it, for programs."""
        return {
            "role": self.role.name,
            "kind": self.role.kind,
            "model_id": self.model_id,
            "settings": None if self.settings is None else asdict(self.settings),
            "needed_by": list(self.metrics),
            "megabytes": self.megabytes,
            "licence": self.licence or None,
            "here": self.is_here,
            "folder": None if self.folder is None else str(self.folder),
            "server": self.is_served,
            "trouble": self.trouble or None,
        }


class LocalModels:
    """The local models of a run.

    Roles that name the same model share it. Only one model runs at a time, so that one batch bounds the memory of all.

    Args:
        settings: which model takes a role; roles that are left out have their default.
        hub: where named models come from.
        notify: gets a sentence when a model is downloaded, prepared or loaded; the last from the model's thread.
    """

    def __init__(
        self, settings: Mapping[str, ModelChoice] | None = None, hub: Hub | None = None, notify: Notify | None = None
    ) -> None:
        self._settings = dict(settings or {})
        self._hub = hub or HuggingFaceHub()
        self._notify = notify
        self._turn = _Turn()
        self._found = cache(self._find)
        self._opened: dict[tuple[str, Kind], LocalModel[Any]] = {}
        self._steps_back = False
        self._asked_for: dict[str, None] = {}  # roles, in the order in which they were

    def found(self, role: str) -> Found:
        """Where the model of a role lies; looked for once. Raises InputError, see ``find``."""
        return self._found(role)

    def settings_of(self, role: str) -> ModelChoice:
        """Which model takes the role."""
        return with_default(self._settings.get(role) or ModelChoice(ROLES[role].model), ROLES[role])

    def tool(self, role: str) -> Any:  # noqa: ANN401 - one of the protocols of metrics, as the role has it
        """The model of a role, as its metrics ask it; one that is not here raises InputError when it is asked."""
        settings, found, kind = self.settings_of(role), self.found(role), ROLES[role].kind
        self._asked_for[role] = None
        module, opens, asks = _OPENED_BY[kind]
        key = (f"{found.model_id} {settings.device} {settings.threads}", kind)
        if key not in self._opened:
            opener = _opener(ROLES[role], settings, found, module, opens, _Notifying(self._notify))
            facade = getattr(import_module(module, __package__), asks)
            self._opened[key] = facade(opener, found.model_id, self._turn)
            if self._steps_back:
                self._opened[key].lower_priority()
        return self._opened[key]

    def described(self) -> dict[str, dict[str, object]]:
        """For the manifest: by role, of those whose tool was asked for, which model it is, by id and by content.

        ``sha256`` is of the files of weights that are loaded; ``made_from`` of what they were prepared from, where
        they were. A model that is not here has neither.
        """
        return {role: self._described(role) for role in self._asked_for}

    def presence(self, role: str, metrics: tuple[str, ...] = ()) -> ListedModel:
        """Whether the model of a role is here, from what lies on this machine alone: no network, nothing is loaded."""
        settings, default = self.settings_of(role), ROLES[role]
        is_default = settings.model == default.model
        licence = default.licence if is_default else ""
        size = default.megabytes if is_default else None
        try:
            found = look(settings, f"{role} model", self._hub)
        except InputError as error:
            return ListedModel(default, settings.model, metrics, settings, None, size, licence, str(error))
        size = _megabytes(found.folder) if found.folder is not None else size
        return ListedModel(default, found.model_id, metrics, settings, found.folder, size, licence, found.trouble)

    def fetch(self, role: str) -> Found:
        """Bring the model of a role here and prepare it. Raises InputError when it can't be had, see ``fetch``."""
        return fetch(self.settings_of(role), f"{role} model", self._hub, notify=self._notify)

    def lower_priority(self) -> None:
        """Run at low CPU priority from now on; models that are asked for later too."""
        self._steps_back = True
        for model in self._opened.values():
            model.lower_priority()

    def close(self) -> None:
        """Stop after the batch in progress, or the loading, and drop all models. No other is loaded meanwhile."""
        self._turn.close()
        for model in self._opened.values():
            model.close()
        self._opened.clear()
        self._turn = _Turn()

    def _find(self, role: str) -> Found:
        return find(self.settings_of(role), f"{role} model", self._hub, notify=self._notify)

    def _described(self, role: str) -> dict[str, object]:
        settings, found = self.settings_of(role), self.found(role)
        described: dict[str, object] = {"model": found.model_id, "device": settings.device, "threads": settings.threads}
        if found.folder is None:
            return described
        with contextlib.suppress(OSError):  # it has gone since, or can't be read: said when the model is asked
            hashes = file_hashes(found.folder)
            if weights := {name: value for name, value in hashes.items() if Path(name).suffix in _WEIGHTS}:
                described["sha256"] = weights
            origin = found.folder / ORIGIN
            if origin.is_file():
                described["made_from"] = json.loads(origin.read_text(encoding="utf-8"))["made_from"]
        with contextlib.suppress(InputError):  # a device that isn't there is said when the model is asked
            described["device"] = device_of(settings.device)
        return described


class _Turn:
    """Lets one model load or run at a time; who still waits when it is closed gets RuntimeError in place of a turn."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_closed = False

    def __enter__(self) -> None:
        self._lock.acquire()
        if self._is_closed:
            self._lock.release()
            raise RuntimeError("The model was closed.")

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def close(self) -> None:
        """Let no further model run."""
        self._is_closed = True

    def __reduce__(self) -> "tuple[Callable[[], _Turn], tuple[()]]":
        return _turn_here, ()  # in another program models take turns there


@cache
def _turn_here() -> _Turn:
    return _Turn()


@dataclass(frozen=True, slots=True)
class _Notifying:
    """Notifies in this program alone: what loads a model may be sent to another one."""

    notify: Notify | None

    def __call__(self, sentence: str) -> None:
        if self.notify is not None:
            self.notify(sentence)

    def __reduce__(self) -> "tuple[type[_Notifying], tuple[None]]":
        return _Notifying, (None,)


def _opener(
    role: Role, settings: ModelChoice, found: Found, module: str, opens: str, notify: _Notifying
) -> Callable[[], LoadedModel]:
    """What loads the model on its thread; it knows nothing of the pool, so that the pool can be dropped."""

    def open_model() -> LoadedModel:
        if found.folder is None:
            raise InputError(found.trouble or missing(role, settings))
        notify(f"Loading the {role.name} model {found.model_id}.")
        place = Place(found.model_id, found.folder, f"{role.name} model", settings.device, settings.threads)
        opened: LoadedModel = getattr(import_module(module, __package__), opens)(place)
        return opened

    return open_model


def missing(role: Role, settings: ModelChoice) -> str:
    """What to do about a model that is not on this machine."""
    is_default = settings.model == role.model
    size = f", about {role.megabytes} MB" if is_default else ""
    named = "" if is_default else f" --local-model {role.name}={settings.model}"
    return (
        f"The {role.name} model '{settings.model}' is not on this machine{size}. Run 'proctor models fetch "
        f"{role.name}{named}' once with a network, or name its folder under 'local_models' in the suite."
    )


def _megabytes(folder: Path) -> int:
    return round(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6)
