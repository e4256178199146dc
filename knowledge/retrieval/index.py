"""PassageIndex: finds the passages nearest to a vector; what is unchanged on disk is not embedded again."""

import io
import itertools
import json
import math
import os
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..documents.document import Document, Passage
from ..models.encoder import Embedded

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


class BulkEmbedder(Protocol):
    """What an index asks of an embedder; a BatchingEmbedder is one."""

    @property
    def model_id(self) -> str:
        """Name and revision of the model."""
        ...

    def embed_now(self, texts: Sequence[str]) -> Embedded:
        """Embed a long list, in its order."""
        ...


class PassageIndex:
    """Passages of documents under FAISS, searched exactly (inner product of unit vectors, which is their cosine).

    Exact search takes about 3 ms of one core in 50,000 passages of 384 dimensions and 7 ms in 100,000, twice that where
    some are left out, which no approximate index would make noticeable beside a model's answer.

    Attributes:
        embedded_now: how many passages were embedded when it was opened.
        warnings: what could not be read or saved, for the manifest.
    """

    def __init__(self, passages: Sequence[Passage], vectors: NDArray[np.float32]) -> None:
        """Index the passages; ``vectors`` of shape (passages, dimensions) are float32 rows of unit length."""
        self.embedded_now = 0
        self.warnings: tuple[str, ...] = ()
        self._passages = tuple(passages)
        self._dimensions = vectors.shape[1]
        self._flat = _flat_index(vectors) if len(vectors) else None

    @classmethod
    def open(
        cls,
        folder: Path | None,
        documents: Sequence[Document],
        cut: Callable[[Document], list[Passage]],
        settings_key: str,
        embedder: BulkEmbedder,
        is_part: bool = False,
    ) -> "PassageIndex":
        """Index the documents, embedding only those that are new or changed since the folder was written.

        Args:
            folder: where the index is stored, one file for each pair of settings and model; None keeps nothing. Losing
                it costs time only, a damaged file is made again, and processes may share it.
            documents: all that the index is to hold, in the order that decides between equal passages.
            cut: cuts a document into passages; called for new and changed documents only.
            settings_key: names all that ``cut`` depends on.
            embedder: called once, with the new passages; this blocks.
            is_part: the documents are some of those that are stored; what else is stored of these stays so.
        """
        path = folder and folder / f"passages-{_name(settings_key, embedder.model_id)}.zip"
        warnings: list[str] = []
        stored = IndexFile(settings_key, embedder.model_id)
        if path is not None:
            try:
                stored = read_index_file(path, settings_key, embedder.model_id)
            except FileNotFoundError:
                pass
            except (OSError, ValueError) as error:
                warnings.append(f"The index {path.name} can't be read ({error}); it is made again.")
        parts, embedded_now = _all_parts(documents, stored, cut, embedder)
        wanted = [*parts, *_others(stored, parts)] if is_part else parts
        is_new = bool(embedded_now) if is_part else _fingerprints(parts) != _fingerprints(stored.documents)
        if path is not None and is_new:
            try:
                write_index_file(path, IndexFile(settings_key, embedder.model_id, wanted))
            except OSError as error:
                warnings.append(f"The index {path.name} can't be saved ({error}); it will be made again next time.")
        index = cls([passage for part in parts for passage in part.passages], _stacked(parts))
        index.embedded_now = embedded_now
        index.warnings = tuple(warnings)
        return index

    @property
    def passages(self) -> tuple[Passage, ...]:
        """All passages, in the order of the documents."""
        return self._passages

    @property
    def size(self) -> int:
        """How many passages there are."""
        return len(self._passages)

    def search(self, vector: NDArray[np.float32], k: int) -> list[tuple[Passage, float]]:
        """The k nearest passages with their cosines, nearest first; equal ones in the order of the documents.

        ``vector`` has shape (dimensions,) or (1, dimensions) and unit length. Fewer than k when there are fewer.
        Raises ValueError when the vector is of another model's size.
        """
        return [(self._passages[place], score) for place, score in self.search_places(vector, k)]

    def search_places(
        self, vector: NDArray[np.float32], k: int, allowed: NDArray[np.bool_] | None = None
    ) -> list[tuple[int, float]]:
        """As ``search``, with the places of the passages in their stead.

        Where ``allowed`` of shape (passages,) is given, the others are as if they were not there: what
        is found is what an index without them would find, with the same cosines.
        """
        k = min(k, self.size if allowed is None else int(np.count_nonzero(allowed)))
        if k < 1 or self._flat is None:
            return []
        query = np.ascontiguousarray(vector, dtype=np.float32).reshape(1, -1)
        if query.shape[1] != self._dimensions:
            raise ValueError(f"A vector of {query.shape[1]} dimensions, where the index has {self._dimensions}.")
        with _one_thread():
            scores, places = self._flat.search(query, k, params=None if allowed is None else _only(allowed))
        # FAISS keeps the first of equal passages (a test holds it to that), but lists them in any order.
        found = [(float(s), int(p)) for s, p in zip(scores[0], places[0], strict=True) if p >= 0]
        found.sort(key=lambda pair: (-pair[0], pair[1]))
        return [(place, score) for score, place in found]


def _fingerprints(parts: Sequence[Indexed]) -> list[str]:
    return [part.fingerprint for part in parts]


def _others(stored: IndexFile, parts: Sequence[Indexed]) -> list[Indexed]:
    """What is stored of documents that are not among the parts."""
    there = set(_fingerprints(parts))
    return [one for one in stored.documents if one.fingerprint not in there]


def _all_parts(
    documents: Sequence[Document],
    stored: IndexFile,
    cut: Callable[[Document], list[Passage]],
    embedder: BulkEmbedder,
) -> tuple[list[Indexed], int]:
    """One part for each document, in their order, and how many passages were embedded for it."""
    known = {part.fingerprint: part for part in stored.documents}
    fingerprints = [document.fingerprint for document in documents]
    new: dict[str, list[Passage]] = {}
    for document, fingerprint in zip(documents, fingerprints, strict=True):
        if fingerprint not in known and fingerprint not in new:
            new[fingerprint] = cut(document)
    texts = [passage.text for passages in new.values() for passage in passages]
    if texts:
        vectors = embedder.embed_now(texts).vectors
        start = 0
        for fingerprint, passages in new.items():
            end = start + len(passages)
            known[fingerprint] = Indexed(fingerprint, tuple(passages), vectors[start:end])
            start = end
    empty = np.empty((0, 0), dtype=np.float32)
    return [known.get(f) or Indexed(f, (), empty) for f in fingerprints], len(texts)


def _stacked(parts: Sequence[Indexed]) -> NDArray[np.float32]:
    filled = [part.vectors for part in parts if len(part.passages)]
    return np.concatenate(filled) if filled else np.empty((0, 0), dtype=np.float32)


def _flat_index(vectors: NDArray[np.float32]) -> Any:  # noqa: ANN401 - untyped library
    import faiss

    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(np.ascontiguousarray(vectors))
    return index


@contextmanager
def _one_thread() -> Iterator[None]:
    """Keep FAISS to one thread: over one question several spend ten times the work, most of it waiting for another."""
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def _only(allowed: NDArray[np.bool_]) -> Any:  # noqa: ANN401 - untyped library
    """What keeps FAISS to some passages; a bit for each, so that it costs the same however many these are."""
    import faiss

    library: Any = faiss  # its stubs don't know what its Python classes take
    return library.SearchParameters(sel=library.IDSelectorBitmap(np.packbits(allowed, bitorder="little")))


def _name(settings_key: str, model_id: str) -> str:
    return blake2b(f"{settings_key}\0{model_id}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
