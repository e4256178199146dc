"""HuggingFaceHub: finds a model in the local cache of the hub or downloads it, and hashes its files."""

import contextlib
import errno
import hashlib
import json
import os
import socket
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import urlsplit

from ... import InputError
from ..paths import cache_folder

_REMEMBERED_BYTES: Final = 1 << 20  # of a folder from which on it is worth a file in the cache
_SETTLED_NS: Final = 2_000_000_000  # since the last change: a second change may leave no trace in the times of a file


def content_hash(folder: Path, environ: Mapping[str, str] = os.environ) -> str:
    """SHA-256 over the names and contents of the folder's files, so that a model is known wherever it lies."""
    digest = hashlib.sha256()
    for inside, found in file_hashes(folder, environ).items():
        digest.update(f"{inside}\0{found}\n".encode())
    return digest.hexdigest()


def file_hashes(folder: Path, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """SHA-256 of each file of the folder, in the order of their names; what is hidden is left out.

    Gigabytes are not read twice: the hashes are stored in the cache folder (see ``cache_folder``) for as long as size,
    time of change and inode of every file stay what they were.
    """
    files = _files(folder)
    sizes = {inside: path.stat() for inside, path in files.items()}
    state = [[inside, stat.st_size, stat.st_mtime_ns, stat.st_ino] for inside, stat in sizes.items()]
    if sum(stat.st_size for stat in sizes.values()) < _REMEMBERED_BYTES:
        return {inside: _file_hash(path) for inside, path in files.items()}
    stored = (
        cache_folder(environ) / "model_hashes" / f"{hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()}.json"
    )
    known = _read(stored, state)
    if known is not None:
        return known
    now = time.time_ns()
    found = {inside: _file_hash(path) for inside, path in files.items()}
    if all(stat.st_mtime_ns < now - _SETTLED_NS for stat in sizes.values()):
        _write(stored, {"files": state, "hashes": found})
    return found


def write_atomically(path: Path, text: str) -> None:
    """Write a file that others may read at the same time: they see the old one or the new one, whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def _files(folder: Path) -> dict[str, Path]:
    found = {}
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.is_file() and not any(part.startswith(".") for part in inside.parts):
            found[inside.as_posix()] = path
    return found


def _file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(path: Path, state: list[list[object]]) -> dict[str, str] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        hashes = found["hashes"]
        whole = found["files"] == state and list(hashes) == [inside for inside, *_ in state]
        return dict(hashes) if whole and all(_is_hash(value) for value in hashes.values()) else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and len(value) == hashlib.sha256().digest_size * 2


def _write(path: Path, found: Mapping[str, object]) -> None:
    with contextlib.suppress(OSError):  # a cache that can't be written costs time only
        write_atomically(path, json.dumps(found))


# While it loads, transformers puts functions of its own in the place of others, in the whole process, and afterwards
# puts back what it found. Two loads at once can so leave the wrong ones for good: weights that belong together are no
# longer tied, and every model with such weights that is loaded from then on gives wrong numbers without a word.
ONE_LOAD: Final = threading.RLock()


_PROBE_SECONDS = 1.5
# No Python files: code that comes with a model is never run, so it is not even brought here.
_WANTED_FILES: Final = ("*.json", "*.txt", "*.model", "*.jinja")
_UNWANTED_FILES: Final = ("onnx/*", "coreml/*", "*openvino*", "*training*", "checkpoint*/*", "runs/*")
_WEIGHTS: Final = (("*.safetensors",), ("*.bin",))  # in this order of preference
_NO_QUOTA: Final = getattr(errno, "EDQUOT", errno.ENOSPC)  # Windows has no number for it
_CANNOT_WRITE: Final = frozenset({errno.ENOSPC, errno.EFBIG, errno.EROFS, _NO_QUOTA})
_REFUSED: Final = frozenset({401, 403})  # HTTP: who asks is not known, or may not


class Hub(Protocol):
    """Where models that are named, not given as a folder, come from.

    ``files`` are patterns of what must be there in place of weights under the usual names: for a repository that holds
    several models, weights under another name, or nothing but a tokenizer that is wanted.
    """

    def cached(self, model: str, revision: str | None, files: Sequence[str] = ()) -> Path | None:
        """The folder of the model when it lies on this machine, whole; the folder's name is the commit."""
        ...

    def reachable(self) -> bool:
        """Whether it is worth trying a download; answers within about 1.5 s."""
        ...

    def download(self, model: str, revision: str | None, files: Sequence[str] = ()) -> Path | None:
        """Bring the model here. None when the hub can't be reached; InputError when it has no such model."""
        ...


class HuggingFaceHub:
    """The hub at huggingface.co, or at ``HF_ENDPOINT``; ``cache`` overrides where its library keeps models."""

    def __init__(self, environ: Mapping[str, str] | None = None, cache: Path | None = None) -> None:
        self._environ = os.environ if environ is None else environ
        self._cache = cache

    def cached(self, model: str, revision: str | None, files: Sequence[str] = ()) -> Path | None:
        """The newest commit of the model in the cache, if it is complete."""
        # The cache is read as its documentation lays it out: the library takes half a second to be imported.
        place = self._hub_cache() / f"models--{model.replace('/', '--')}"
        wanted = revision or "main"
        folder = place / "snapshots" / wanted
        try:
            if not folder.is_dir():
                folder = place / "snapshots" / (place / "refs" / wanted).read_text(encoding="utf-8").strip()
            return folder if _is_complete(folder, files) else None
        except (OSError, ValueError, LookupError, TypeError):  # not there, or not what it should be
            return None

    def reachable(self) -> bool:
        """Whether a connection can be opened to the hub, or to the proxy before it, in 1.5 s; tried once a process."""
        if self._environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}:
            return False
        return _answers(*self._way_out())

    def download(self, model: str, revision: str | None, files: Sequence[str] = ()) -> Path | None:
        """Bring the safetensors weights, or the older format where there is nothing else.

        None when the hub can't be reached, or the connection breaks off: what has arrived is used the next time.
        Raises InputError when the hub has no such model, asks for a token, or what it sends can't be written.
        """
        for weights in [tuple(files)] if files else _WEIGHTS:
            folder = self._brought(model, revision, weights)
            if folder is None or _is_complete(folder, files):
                return folder
        if files:
            raise InputError(f"The model '{model}' on the Hugging Face hub has no {' and no '.join(files)}.")
        raise InputError(f"The model '{model}' on the Hugging Face hub has no weights that can be loaded.")

    def _brought(self, model: str, revision: str | None, files: Sequence[str]) -> Path | None:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

        try:
            return Path(
                snapshot_download(
                    model,
                    revision=revision,
                    cache_dir=self._hub_cache(),
                    endpoint=self._environ.get("HF_ENDPOINT") or None,
                    token=self._environ.get("HF_TOKEN") or None,
                    allow_patterns=[*_WANTED_FILES, *files],
                    ignore_patterns=list(_UNWANTED_FILES),
                )
            )
        except (RepositoryNotFoundError, RevisionNotFoundError) as error:
            at = f" at revision '{revision}'" if revision else ""
            raise InputError(
                f"The Hugging Face hub shows no model '{model}'{at}: it is misspelt, or private "
                "(then set HF_TOKEN), or gated (then accept its terms on its page)."
            ) from error
        except Exception as error:  # noqa: BLE001 - a network can fail in many ways, and the caller has another model
            _raise_if_of_use(error, model, self._hub_cache())
            return None

    def _hub_cache(self) -> Path:
        if self._cache is not None:
            return self._cache
        own = self._environ.get("HF_HUB_CACHE") or self._environ.get("HUGGINGFACE_HUB_CACHE")
        if own:
            return Path(os.path.expandvars(own)).expanduser()
        home = self._environ.get("HF_HOME")
        if home:
            return Path(os.path.expandvars(home)).expanduser() / "hub"
        caches = self._environ.get("XDG_CACHE_HOME") or "~/.cache"
        return Path(os.path.expandvars(caches)).expanduser() / "huggingface" / "hub"

    def _way_out(self) -> tuple[str, int]:
        endpoint = urlsplit(self._environ.get("HF_ENDPOINT") or "https://huggingface.co")
        host = endpoint.hostname or "huggingface.co"
        proxy = urllib.request.getproxies().get(endpoint.scheme, "")
        if proxy and not urllib.request.proxy_bypass(host):
            endpoint = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        return endpoint.hostname or host, endpoint.port or (443 if endpoint.scheme == "https" else 80)


@cache
def _answers(host: str, port: int) -> bool:
    opened = threading.Event()

    def probe() -> None:
        try:
            socket.create_connection((host, port), timeout=_PROBE_SECONDS).close()
        except OSError:
            return
        opened.set()

    # In a thread of its own, because looking a name up has no time limit.
    threading.Thread(target=probe, daemon=True).start()
    return opened.wait(_PROBE_SECONDS)


def _raise_if_of_use(error: Exception, model: str, path: Path) -> None:
    """Raise InputError for what another try would not fix: a token that is refused, a folder that can't be written."""
    for cause in _causes(error):
        status = getattr(getattr(cause, "response", None), "status_code", None)
        if status in _REFUSED:
            raise InputError(
                f"The Hugging Face hub refused '{model}' (HTTP {status}): the token in HF_TOKEN, or the one that was "
                "logged in with, is wrong or has expired or may not read it."
            ) from error
        # What fails with the name of a file has failed on this machine's disk, not on the way.
        if isinstance(cause, OSError) and (cause.filename is not None or cause.errno in _CANNOT_WRITE):
            why = os.strerror(cause.errno or 0)
            raise InputError(
                f"The model '{model}' can't be written below {path}: {why}. Make room, or set HF_HOME to another place."
            ) from error


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _is_complete(folder: Path, files: Sequence[str]) -> bool:
    if files:
        return all(any(path.is_file() for path in folder.glob(pattern)) for pattern in files)
    weights = [*folder.rglob("*.safetensors"), *folder.rglob("pytorch_model*.bin")]
    is_described = (folder / "modules.json").is_file() or (folder / "config.json").is_file()
    return any(path.is_file() for path in weights) and is_described and not _missing_parts(folder)


def _missing_parts(folder: Path) -> set[str]:
    """Of weights in several files those that are named in the list beside them, and are not here."""
    missing: set[str] = set()
    for listed in folder.glob("*.safetensors.index.json"):
        named = set(json.loads(listed.read_text(encoding="utf-8"))["weight_map"].values())
        missing |= {name for name in named if not (folder / name).is_file()}
    return missing
