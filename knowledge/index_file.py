"""IndexFile: the passages of an index and their vectors in one zip file, without pickle.

The file is an ordinary zip of ``manifest.json``, ``passages.jsonl`` (one line a passage) and ``vectors.npy``. It is
one file so that it is replaced as a whole: processes that share it see the old one or the new one.
"""

import io
import itertools
import json
import math
import os
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .documents import Passage

_FORMAT = 1


@dataclass(frozen=True, slots=True, eq=False)
class Indexed:
    """One document's passages, with a unit vector for each: float32 of shape (passages, dimensions)."""

    fingerprint: str
    passages: tuple[Passage, ...]
    vectors: NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class IndexFile:
    """All documents of an index, and what their vectors depend on."""

    settings_key: str
    model_id: str
    documents: Sequence[Indexed] = ()


def read_index_file(path: Path, settings_key: str, model_id: str) -> IndexFile:
    """Read and check the file. Raises ValueError when it is damaged or made under other settings, or OSError."""
    try:
        with zipfile.ZipFile(path) as file:
            if any(member.compress_type != zipfile.ZIP_STORED for member in file.infolist()):
                raise ValueError("it is packed, and an index is not")  # what is not can't be larger than its file
            # Reading a member whole checks its CRC.
            manifest = json.loads(file.read("manifest.json"))
            lines = file.read("passages.jsonl").decode("ascii").splitlines()
            vectors = _vectors(file.read("vectors.npy"))
        if (manifest["format"], manifest["settings"], manifest["model"]) != (_FORMAT, settings_key, model_id):
            raise ValueError("it was made under other settings")
        passages = [_passage(json.loads(line)) for line in lines]
        counts = [(str(document["fingerprint"]), int(document["passages"])) for document in manifest["documents"]]
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, TypeError, RuntimeError) as error:
        raise ValueError(f"it is damaged: {type(error).__name__}") from error
    _check(passages, vectors, [count for _, count in counts])
    ends = itertools.accumulate(count for _, count in counts)
    return IndexFile(
        settings_key,
        model_id,
        tuple(
            Indexed(fingerprint, tuple(passages[end - count : end]), vectors[end - count : end])
            for (fingerprint, count), end in zip(counts, ends, strict=True)
        ),
    )


def _vectors(written: bytes) -> NDArray[Any]:
    """The table of an npy file; its header is not believed before memory is taken for what it says."""
    stream = io.BytesIO(written)
    if np.lib.format.read_magic(stream) == (1, 0):
        shape, _, kind = np.lib.format.read_array_header_1_0(stream)
        if math.prod(shape) * kind.itemsize != len(written) - stream.tell():
            raise ValueError("its vectors are not as large as they say")
        stream.seek(0)
        return np.lib.format.read_array(stream, allow_pickle=False)
    raise ValueError("its vectors are of an unknown version")


def write_index_file(path: Path, content: IndexFile) -> None:
    """Write the file and put it in place at once. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    filled = [document.vectors for document in content.documents if document.passages]
    vectors = np.concatenate(filled) if filled else np.empty((0, 0), dtype=np.float32)
    manifest = {
        "format": _FORMAT,
        "settings": content.settings_key,
        "model": content.model_id,
        "dimensions": int(vectors.shape[1]),
        "documents": [
            {"fingerprint": document.fingerprint, "passages": len(document.passages)} for document in content.documents
        ],
    }
    lines = (_line(passage) for document in content.documents for passage in document.passages)
    handle, name = tempfile.mkstemp(prefix=path.name, suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream, zipfile.ZipFile(stream, "w") as file:
            file.writestr("manifest.json", json.dumps(manifest, indent=1))
            _write_lines(file, lines)
            with file.open("vectors.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.ascontiguousarray(vectors), allow_pickle=False)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _write_lines(file: zipfile.ZipFile, lines: Iterable[str]) -> None:
    with file.open("passages.jsonl", "w", force_zip64=True) as member:
        for line in lines:
            member.write(line.encode("ascii"))


def _line(passage: Passage) -> str:
    # ASCII, so that a lone surrogate comes back as it was.
    fields = {"document": passage.document, "start": passage.start, "end": passage.end, "text": passage.text}
    return json.dumps(fields) + "\n"


def _passage(fields: dict[str, Any]) -> Passage:
    return Passage(str(fields["document"]), int(fields["start"]), int(fields["end"]), str(fields["text"]))


def _check(passages: Sequence[Passage], vectors: NDArray[Any], counts: Sequence[int]) -> None:
    if vectors.dtype != np.float32 or vectors.ndim != 2:
        raise ValueError("its vectors are not a float32 table")
    if not len(passages) == len(vectors) == sum(counts) or min(counts, default=0) < 0:
        raise ValueError(f"it holds {len(passages)} passages, {len(vectors)} vectors and lists {sum(counts)}")
    if not np.isfinite(vectors).all():
        raise ValueError("its vectors hold NaN or infinity")
