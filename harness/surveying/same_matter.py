"""Same matter: whether two statements are about one thing, as far as names in titles and headings tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Final

from ...knowledge.documents import Document
from ...knowledge.examining.dates import family
from ...knowledge.examining.statements import Statement
from ...metrics.judge.embedded.wording import wording
from .differences import Disagreement

_SHARED_WITHIN: Final = 4  # content words that two statements of one document must share
_SHARED_ENTRY: Final = 3  # that two entries of lists must share, which say little besides
_LONG: Final = 12  # content words that two sentences share only where one was made from the other
_BODY: Final = 20_000  # characters of a document in which names are looked for
_OTHER_NAMES: Final = 2  # names in common that outweigh other titles


class SameMatter:
    """What documents and their parts are about.

    Args:
        documents: all of them.
        versions: pairs of ids that are states of one thing, so that the same words in both are about the same.
        copies: pairs of ids of which one says most of what the other says.
    """

    def __init__(
        self,
        documents: Sequence[Document],
        versions: Collection[frozenset[str]] = (),
        copies: Collection[frozenset[str]] = (),
    ) -> None:
        self._documents = {document.id: document for document in documents}
        self._versions = versions
        self._copies = copies
        self._names = lru_cache(4_096)(self._find_names)

    def are_versions(self, first: Statement, second: Statement) -> bool:
        """Whether their documents are states of one thing."""
        return frozenset((first.document, second.document)) in self._versions

    def may_be_one(self, first: Statement, second: Statement) -> bool:
        """Whether two statements may be about one thing.

        Within a document they may only under one heading, in tables only under the same columns.
        """
        if first.columns is not None and second.columns is not None:
            heads = [frozenset(wording(columns).content) for columns in (first.columns, second.columns)]
            if heads[0] != heads[1]:
                return False
        if self.are_versions(first, second):
            return _heading(first) == _heading(second)
        return first.document != second.document or _heading(first) == _heading(second)

    def are_one(self, first: Statement, second: Statement, found: Disagreement) -> bool:
        """Whether two statements that differ are about one thing."""
        if self.are_versions(first, second):
            return True
        sorts = {difference.sort for difference in found.differences}
        if are_entries(first, second) and not _is_one_entry(first, second, found):
            return False
        if first.document == second.document:
            # A document tells of several days and people in the same words.
            few = found.shared < _SHARED_WITHIN or len(found.differences) > 1 or found.loose
            return not few and not sorts & {"date", "name"}
        if first.columns is not None and not self._same_title(first, second):
            return False
        others = self._other_names(first, second)
        if self._other_numbers(first, second):
            return False
        if not others and (frozenset((first.document, second.document)) in self._copies or found.shared >= _LONG):
            return True
        large = found.names | self._written_large(first.document) | self._written_large(second.document)
        if "name" in sorts and found.subject not in large:
            return False
        if "date" in sorts and not found.names and found.subject not in large:
            return False
        if not others:
            return True
        own = self._names(first) | self._names(second)
        return bool(found.names & own) or len(found.names) >= _OTHER_NAMES

    def are_named_alike(self, first: Statement, second: Statement) -> bool:
        """Whether two statements share a name, or nothing tells that their documents are about other things."""
        shared = _names_in(first.text) & _names_in(second.text)
        return bool(shared) or not self._other_names(first, second)

    def _same_title(self, first: Statement, second: Statement) -> bool:
        titles = [family(self._documents[one.document].title or one.document) for one in (first, second)]
        return titles[0] == titles[1]

    def _other_names(self, first: Statement, second: Statement) -> bool:
        """Whether each stands under a name that the other doesn't stand under."""
        ours, theirs = self._names(first), self._names(second)
        return bool(ours - theirs and theirs - ours)

    def _other_numbers(self, first: Statement, second: Statement) -> bool:
        """Whether their titles have numbers, and none in common: season 14 and season 15."""
        found = [
            {word.key for word in wording(self._documents[one.document].title).of_kind("number", "date")}
            for one in (first, second)
        ]
        return bool(found[0] and found[1]) and not found[0] & found[1]

    def _find_names(self, statement: Statement) -> frozenset[str]:
        """Words of the title and the heading that the document writes with a capital within its sentences."""
        document = self._documents[statement.document]
        title = document.title or document.id.rsplit("/", maxsplit=1)[-1].rpartition(".")[0].replace("_", " ")
        told = wording(f"{title}. {statement.heading}").content
        return frozenset(told & self._written_large(statement.document))

    def _written_large(self, document: str) -> frozenset[str]:
        return _written_large(self._documents[document].text[:_BODY])


@lru_cache(maxsize=4_096)
def _written_large(text: str) -> frozenset[str]:
    """Words that are names within sentences of a text, and rarely anything else."""
    counts: Counter[tuple[str, bool]] = Counter()
    for line in text.split("\n"):
        if not line.lstrip().startswith(("#", "|")):
            counts.update((word.key, word.kind == "name") for word in wording(line).words if word.kind != "stop")
    return frozenset(key for (key, large), count in counts.items() if large and count > counts[key, False])


def are_entries(first: Statement, second: Statement) -> bool:
    """Whether one of two statements is no whole sentence; entries of lists say little of what they are about."""
    return first.columns is None and not (first.is_sentence and second.is_sentence)


def _is_one_entry(first: Statement, second: Statement, found: Disagreement) -> bool:
    """Whether entries of two lists are one but for a figure: no day of a month, and no number with several parts."""
    if first.document == second.document or found.loose or found.shared < _SHARED_ENTRY:
        return False
    is_dated = any(wording(one.text).of_kind("date") for one in (first, second))
    return not is_dated and [difference.sort for difference in found.differences] == ["number"]


def _names_in(text: str) -> frozenset[str]:
    return frozenset(word.key for word in wording(text).of_kind("name"))


def _heading(statement: Statement) -> str:
    return family(statement.heading)
