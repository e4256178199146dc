"""The FAQ bot: the stored answer of the entry whose question is most similar, or none."""

import difflib
import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import InputError
from ..knowledge import open_rows
from ..knowledge.questions.rows import Reading, Row, kind_of
from ..metrics.text import token_set
from ..metrics.tools import Embedded
from .bot import Identity, Reply

_SAME = 1e-6  # cosines of equal texts differ by less, wherever in the matrix they stand


@dataclass(frozen=True, slots=True)
class FaqEntry:
    """A stored question and its answer."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Match:
    """The entry that is most similar, by its place in the list, and its similarity."""

    entry: int
    similarity: float


class FreshEmbedder(Protocol):
    """Embeds texts; ``embed_fresh`` does so each time, for the honest latency of a question."""

    @property
    def model_id(self) -> str:
        """Name and revision of the model."""
        ...

    async def embed(self, texts: Sequence[str]) -> Embedded:
        """Vectors of the texts; known ones come from the cache."""
        ...

    async def embed_fresh(self, texts: Sequence[str]) -> Embedded:
        """Vectors of the texts, computed now."""
        ...


class LexicalIndex:
    """Cosine of binary token vectors: for each token the entries that contain it, so a question touches only those.

    Counts are whole numbers and are compared as a fraction, so that equal cosines are equal and ties go to
    the first entry. Source: the metric ``faq_similarity``.
    """

    def __init__(self, questions: Sequence[str]) -> None:
        token_sets = [token_set(question) for question in questions]
        holders: dict[str, list[int]] = {}
        for number, tokens in enumerate(token_sets):
            for token in tokens:
                holders.setdefault(token, []).append(number)
        self._holders = {token: np.array(numbers, dtype=np.intp) for token, numbers in holders.items()}
        self._sizes = np.array([len(tokens) for tokens in token_sets], dtype=np.float64)

    def best(self, question: str) -> Match | None:
        """The most similar entry; None when there is no entry.

        Without any shared token all entries tie at 0, and the first is given.
        """
        if not len(self._sizes):
            return None
        tokens = token_set(question)
        found = [self._holders[token] for token in tokens if token in self._holders]
        if not found:
            return Match(0, 0.0)
        shared = np.bincount(np.concatenate(found), minlength=len(self._sizes))
        entry = int(np.argmax(shared * shared / np.maximum(self._sizes, 1)))
        return Match(entry, float(shared[entry]) / math.sqrt(len(tokens) * self._sizes[entry]))


class EmbeddingIndex:
    """Cosine of the embeddings of the questions."""

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        """``vectors`` has one row of unit length for each entry."""
        self._vectors = vectors

    def best(self, vector: NDArray[np.float32]) -> Match | None:
        """The most similar entry to a vector of unit length; the first of equals."""
        if not len(self._vectors):
            return None
        cosines = self._vectors @ vector
        entry = int(np.argmax(cosines >= cosines.max() - _SAME))
        return Match(entry, float(cosines[entry]))


class FaqBot:
    """Gives the stored answer, or abstains below ``min_similarity``; no language model takes part.

    It has no retriever, so its replies have no contexts; the matched question and its similarity are in the trace.
    """

    def __init__(
        self,
        name: str,
        entries: Sequence[FaqEntry],
        *,
        abstain: str,
        min_similarity: float = 0.0,
        match: Literal["lexical", "embedding"] = "lexical",
        embedder: FreshEmbedder | None = None,
        warnings: Sequence[str] = (),
    ) -> None:
        """``embedder`` is needed, and only used, for ``match="embedding"``."""
        if match == "embedding" and embedder is None:
            raise ValueError("match='embedding' needs an embedder")
        self.name = name
        self.entries = tuple(entries)
        self.warnings = tuple(warnings)
        self._abstain = abstain
        self._min_similarity = min_similarity
        self._embedder = embedder if match == "embedding" else None
        self._lexical: LexicalIndex | None = None
        self._embedding: EmbeddingIndex | None = None

    @property
    def identity(self) -> Identity:
        """The entries, the settings, and the embedder where it is used."""
        digest = hashlib.sha256()
        for entry in self.entries:
            digest.update(f"{entry.question}\0{entry.answer}\0".encode("utf-8", "surrogatepass"))
        return Identity(
            kind="faq",
            settings={
                "min_similarity": self._min_similarity,
                "match": "embedding" if self._embedder else "lexical",
                "abstain": self._abstain,
            },
            embedded=True,
            parts={"entries": digest.hexdigest()},
            models={"embedder": self._embedder.model_id} if self._embedder else {},
        )

    async def prepare(self) -> None:
        """Index the entries."""
        questions = [entry.question for entry in self.entries]
        if self._embedder is None:
            self._lexical = LexicalIndex(questions)
        else:
            self._embedding = EmbeddingIndex((await self._embedder.embed(questions)).vectors)

    async def reply(self, question: str) -> Reply:
        """The best entry's answer, or the abstaining sentence; it abstains on a question without any word."""
        match = await self._best(question)
        if match is None:
            return Reply(self._abstain, abstained=True, trace={"similarity": 0.0})
        entry = self.entries[match.entry]
        trace = {"faq_question": entry.question, "similarity": match.similarity}
        if match.similarity < self._min_similarity or not token_set(question):
            return Reply(self._abstain, abstained=True, trace=trace)
        return Reply(entry.answer, abstained=False, trace=trace)

    async def close(self) -> None:
        """Nothing to release."""

    async def _best(self, question: str) -> Match | None:
        if self._lexical is None and self._embedding is None:
            await self.prepare()
        if self._lexical is not None:
            return self._lexical.best(question)
        if self._embedding is None or self._embedder is None:
            return None
        return self._embedding.best((await self._embedder.embed_fresh([question])).vectors[0])


_QUESTION = ("question",)
_ANSWER = ("answer", "expected_answer")
_LISTED_UNDER = ("entries", "faq", "questions")
_SHOWN = 3  # duplicates that a warning names


@dataclass(frozen=True, slots=True)
class FaqFile:
    """The entries of a file in their order, and sentences about what looks wrong in it."""

    entries: tuple[FaqEntry, ...]
    warnings: tuple[str, ...]


def read_faq(path: Path) -> FaqFile:
    """Read a FAQ file: columns or keys ``question`` and ``answer``; others are ignored.

    Raises:
        InputError: the file can't be read, holds no entry, or an entry has no question or no answer; with the line.
    """
    reading = Reading()
    entries: list[FaqEntry] = []
    first_lines: dict[str, int] = {}
    repeats: list[tuple[int, int]] = []
    for line, row in open_rows(path, "a FAQ file with questions and answers", _LISTED_UNDER).rows(reading):
        entry = FaqEntry(_text(row, _QUESTION, path, line), _text(row, _ANSWER, path, line))
        first = first_lines.setdefault(" ".join(entry.question.lower().split()), line)
        if first != line:
            repeats.append((line, first))
        entries.append(entry)
    if not entries:
        raise InputError(f"{path} holds no entry; a FAQ bot needs at least one question with its answer.")
    return FaqFile(tuple(entries), (*_repeated(repeats, path), *_repaired(reading, path)))


def _text(row: Row, names: tuple[str, ...], path: Path, line: int) -> str:
    """The text under the first of the names that the row has, whatever their case."""
    keys = {key.strip().lower(): key for key in row}
    key = next((keys[name] for name in names if name in keys), None)
    if key is None:
        near = difflib.get_close_matches(names[0], keys, n=1, cutoff=0.6)
        hint = f"is `{keys[near[0]]}` meant? Rename it" if near else f"it has {', '.join(row) or 'nothing'}"
        raise InputError(f"{path}:{line}: there is no `{names[0]}`; {hint}.")
    value = row[key]
    if not isinstance(value, str):
        raise InputError(f"{path}:{line}: `{key}` must be a text, not {kind_of(value)}.")
    if not value.strip():
        raise InputError(f"{path}:{line}: `{key}` is blank.")
    return value.strip()


def _repeated(repeats: list[tuple[int, int]], path: Path) -> tuple[str, ...]:
    if not repeats:
        return ()
    shown = ", ".join(f"line {line} (first on line {first})" for line, first in repeats[:_SHOWN])
    more = f" and {len(repeats) - _SHOWN} more" if len(repeats) > _SHOWN else ""
    return (f"{path}: questions that stand there already are never answered from: {shown}{more}.",)


def _repaired(reading: Reading, path: Path) -> tuple[str, ...]:
    if not reading.repaired:
        return ()
    return (
        f"{path}:{reading.first_repaired}: characters that can't be stored were replaced "
        f"(in {reading.repaired} entries).",
    )
