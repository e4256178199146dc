"""Archive: the work directory of a run as one ZIP, byte for byte the same for equal runs."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path
from shutil import copyfileobj
from typing import BinaryIO

from .report import Report, without_times
from .work_dir import fill_work_dir

STAMP = (1980, 1, 1, 0, 0, 0)  # the earliest that a ZIP can say
PERMISSIONS = 0o644 << 16
UNIX = 3


def write_archive(report: Report, file: BinaryIO, near: Path) -> None:
    """Write the ZIP. The files are laid out in a folder beside ``near`` first, which is gone afterwards.

    Equal runs (the same bots, questions, answers and scores) give equal bytes, whatever they are called, whenever they
    ran and however long it took: names, dates and measured times are left out. The bytes also rest on the version of
    zlib. Entries are sorted, their paths are relative and their dates fixed.
    """
    with tempfile.TemporaryDirectory(prefix=".proctor-", dir=near) as name:
        folder = Path(name)
        fill_work_dir(without_times(report), folder)
        pack(folder, file)


def pack(folder: Path, file: BinaryIO) -> None:
    """Put every file of a folder into a ZIP, in the order of their names, with nothing of the machine in it."""
    paths = sorted((path for path in folder.rglob("*") if path.is_file()), key=lambda path: _entry(path, folder))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in paths:
            entry = zipfile.ZipInfo(_entry(path, folder), STAMP)
            entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, PERMISSIONS, UNIX
            entry.file_size = path.stat().st_size
            with path.open("rb") as source, archive.open(entry, "w") as target:
                copyfileobj(source, target, 1 << 20)


def _entry(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()
