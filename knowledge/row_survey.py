"""One look at all rows of a file before they are used: are they right, how many, what do they provide."""

import hashlib
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import islice

from .. import InputError
from .questions import DRAFT, PERTURBS
from .row_fields import ReadRow, RowReader
from .row_files import RowSource
from .row_ids import IdMaker, first_clash, hashes, made_id, repeated
from .rows import Reading


@dataclass(frozen=True, slots=True)
class Survey:
    """What one look at a file found.

    Attributes:
        count: rows.
        fingerprint: SHA-256 in hex of the bytes that were read.
        provides: how many rows have each of the things that fields fill.
        groups: how many rows each group has.
        repeated_ids: hashes of the made ids that more than one row would get.
        repeated_texts: hashes of the question texts that stand in more than one row.
        left_out: how many rows were left out, by why.
        warnings: sentences for the user.
        misspelt: by what it should fill, a key that is not known.
    """

    count: int
    fingerprint: str
    provides: dict[str, int]
    groups: dict[Hashable, int]
    repeated_ids: frozenset[int]
    repeated_texts: frozenset[int]
    left_out: dict[str, int]
    warnings: tuple[str, ...]
    misspelt: dict[str, str]


def _nothing(_: ReadRow) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a file, or the first ``limit`` of them, taken apart.

    ``reader`` makes a fresh reader; ``group`` says within what an id must be unique; ``leaves_out`` says why a row
    is none that counts, blank for one that does.
    """

    file: RowSource
    reader: Callable[[], RowReader]
    group: Callable[[ReadRow], Hashable]
    limit: int | None = None
    leaves_out: Callable[[ReadRow], str] = _nothing

    def read(self, repeated_ids: frozenset[int]) -> Iterator[tuple[int, str, ReadRow]]:
        """Yield (line, id, row); the id is made where the file gives none."""
        read, group, maker = self.reader().read, self.group, IdMaker(repeated_ids)
        taken_apart = ((line, read(row, line)) for line, row in self.file.rows(Reading()))
        counting = ((line, taken) for line, taken in taken_apart if not self.leaves_out(taken))
        for line, taken in islice(counting, self.limit):
            yield line, taken.id or maker.make(_content(taken), group(taken)), taken

    def survey(self, called: str) -> Survey:
        """Read every row once; ``called`` is what the rows are, for messages.

        Raises:
            InputError: a row is wrong, an id stands twice, or there are no rows.
        """
        if self.limit is not None and self.limit < 1:
            raise InputError(f"The limit must be 1 or more, not {self.limit}.")
        reading, reader = Reading(hashlib.sha256()), self.reader()
        given, made, texts = hashes(), hashes(), hashes()
        provides: dict[str, int] = {}
        groups: dict[Hashable, int] = {}
        left_out: dict[str, int] = {}
        with_text = 0
        for line, row in self.file.rows(reading):
            taken = reader.read(row, line)
            if why := self.leaves_out(taken):
                left_out[why] = left_out.get(why, 0) + 1
                continue
            group = self.group(taken)
            groups[group] = groups.get(group, 0) + 1
            if taken.id:
                given.append(hash((taken.id, group)))
            else:
                made.append(hash((made_id(_content(taken)), group)))
            # of questions that were made of others, some may be alike
            texts.append(hash((taken.text, line) if PERTURBS in taken.values else taken.text))
            if taken.text:
                with_text += 1
            for name in taken.values:
                provides[name] = provides.get(name, 0) + 1
            if len(texts) == self.limit:
                break
        if not texts:
            raise InputError(f"{self.file.path} holds no {called}{_besides(left_out, self.file)}.")
        repeated_ids = repeated(made)
        if given and made:  # a given id may be one that would be made, so the final ids are looked at
            given = hashes()
            given.extend(hash(key) for key, _ in self._keys(repeated_ids))
        self._refuse_repeats(repeated(given), repeated_ids)
        return Survey(
            len(texts),
            self._fingerprint_without_some(repeated_ids) if left_out else self._fingerprint(reading),
            {**provides, "text": with_text},
            groups,
            repeated_ids,
            repeated(texts),
            left_out,
            (*reader.warnings, *_repairs(reading, self.file)),
            dict(reader.misspelt),
        )

    def _keys(self, repeated_ids: frozenset[int]) -> Iterator[tuple[tuple[str, Hashable], int]]:
        for line, identity, taken in self.read(repeated_ids):
            yield (identity, self.group(taken)), line

    def _refuse_repeats(self, suspects: frozenset[int], repeated_ids: frozenset[int]) -> None:
        clash = first_clash(self._keys(repeated_ids), suspects) if suspects else None
        if clash is None:
            return
        key, first, second = clash
        identity, group = key
        whose = "" if group is None else f" for {group}"
        raise InputError(
            f'{self.file.path}:{second}: the id "{identity}" was used in line {first} already{whose}. '
            "Give every row an id of its own, or leave the ids out."
        )

    def _fingerprint_without_some(self, repeated_ids: frozenset[int]) -> str:
        """Of the rows that count alone: what is left out may change, and they stay what they are."""
        digest = hashlib.sha256()
        for _, identity, taken in self.read(repeated_ids):
            digest.update(f"{(identity, taken.text, taken.values, taken.extra)!r}\n".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def _fingerprint(self, reading: Reading) -> str:
        if reading.digest is None:
            raise ValueError("a survey hashes what it reads")
        if self.limit is not None and self.file.kind in ("json", "yaml"):  # these are read whole all the same
            reading.digest.update(f"\0first {self.limit}".encode())
        return reading.digest.hexdigest()


def _content(taken: ReadRow) -> str:
    return taken.text or str(taken.values.get("answer", ""))


def _besides(left_out: dict[str, int], file: RowSource) -> str:
    if not left_out:
        return ""
    waiting = left_out.get(DRAFT, 0)
    if not waiting:
        return ", only drafts that were decided on"
    drafts = "1 draft" if waiting == 1 else f"{waiting:,} drafts"
    return f" yet, only {drafts}; 'proctor questions review {file.path}' shows them"


def _repairs(reading: Reading, file: RowSource) -> list[str]:
    if not reading.repaired:
        return []
    rows = "1 row has" if reading.repaired == 1 else f"{reading.repaired} rows have"
    return [
        f"{file.path}: {rows} characters that can't be stored (NUL or half a surrogate pair), replaced by U+FFFD; "
        f"the first is in line {reading.first_repaired}."
    ]
