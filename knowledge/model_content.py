"""Hashes by which the files of a model are known, remembered while the files stay as they are."""

import contextlib
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from .cache_folder import cache_folder

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

    Gigabytes are not read twice: the hashes are kept in the cache folder (see ``cache_folder``) for as long as size,
    time of change and inode of every file stay what they were.
    """
    files = _files(folder)
    sizes = {inside: path.stat() for inside, path in files.items()}
    state = [[inside, stat.st_size, stat.st_mtime_ns, stat.st_ino] for inside, stat in sizes.items()]
    if sum(stat.st_size for stat in sizes.values()) < _REMEMBERED_BYTES:
        return {inside: _file_hash(path) for inside, path in files.items()}
    kept = cache_folder(environ) / "model_hashes" / f"{hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()}.json"
    known = _read(kept, state)
    if known is not None:
        return known
    now = time.time_ns()
    found = {inside: _file_hash(path) for inside, path in files.items()}
    if all(stat.st_mtime_ns < now - _SETTLED_NS for stat in sizes.values()):
        _keep(kept, {"files": state, "hashes": found})
    return found


def write_whole(path: Path, text: str) -> None:
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


def _read(kept: Path, state: list[list[object]]) -> dict[str, str] | None:
    try:
        found = json.loads(kept.read_text(encoding="utf-8"))
        hashes = found["hashes"]
        whole = found["files"] == state and list(hashes) == [inside for inside, *_ in state]
        return dict(hashes) if whole and all(_is_hash(value) for value in hashes.values()) else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and len(value) == hashlib.sha256().digest_size * 2


def _keep(kept: Path, found: Mapping[str, object]) -> None:
    with contextlib.suppress(OSError):  # a cache that can't be written costs time only
        write_whole(kept, json.dumps(found))
