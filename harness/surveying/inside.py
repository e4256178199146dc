"""Inside: what is wrong inside the documents: copies, contradictions, old versions, boilerplate, debris, languages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ...knowledge.examining.copies import CopyFinder
from ...knowledge.examining.legibility import illegible
from ...knowledge.examining.repeated_lines import repeated_lines
from ...knowledge.examining.versions import find_versions
from ...reports.surveys.finding import Finding
from .concerned import Concerned
from .contradictions import by_documents, find_contradictions
from .document_languages import ENGLISH, Languages, document_languages, spoken
from .inside_pairs import MOSTLY_COPIED, PairFindings
from .inside_text import TextFindings
from .same_matter import SameMatter
from .stolen_ranks import stolen_ranks

if TYPE_CHECKING:
    from ...metrics.tools import Entailment
    from ..ground.answers import Answers
    from ..ground.ground import Ground

_ORDER: Final = {"high": 0, "medium": 1, "low": 2}


@dataclass(frozen=True, slots=True)
class Inside:
    """What was found inside the documents.

    Attributes:
        findings: worst first.
        warnings: sentences on what was not looked at.
    """

    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()


def look_inside(
    ground: Ground,
    answers: Answers | None,
    entailment: Entailment | None = None,
    told: Callable[[str], None] | None = None,
) -> Inside:
    """All that is wrong inside the documents; this blocks.

    What hits answers or gold evidence is worse than what only stands there; among equals comes first what hits more
    questions, then what is met first in the documents.

    Args:
        ground: documents and questions, with the gold in place.
        answers: what bots said and read; without them the present setting is searched for stolen ranks.
        entailment: a model that decides on contradictions; without one figures, names and negations do.
        told: told a sentence before what takes long.
    """
    say = told or (lambda _: None)
    documents = ground.documents
    say("Looking for copies and boilerplate in the documents")
    repeated = repeated_lines(documents)
    finder = CopyFinder(documents, {name: one.spans for name, one in repeated.items()})
    copied = finder.find()
    versions = find_versions(documents, copied)
    stolen = stolen_ranks(ground, answers)
    say("Looking for text that can't be read, and for other languages")
    languages = document_languages(documents, ground.questions)
    debris = [one for document in documents for one in illegible(document)]
    say("Looking for sentences of the documents that contradict each other")
    states = {frozenset((one.older, one.newer)) for one in versions}
    copies = {frozenset((one.first, one.second)) for one in copied if one.share >= MOSTLY_COPIED}
    matter = SameMatter(documents, states, copies)
    foreign = languages.not_in(ENGLISH, documents)
    contradictions = find_contradictions(documents, matter, entailment, foreign, say)
    contradicting = by_documents(contradictions.found)
    concerned = Concerned(ground, answers)
    about_pairs = PairFindings(ground, concerned, stolen)
    about_text = TextFindings(ground, concerned)
    found = [
        *about_pairs.contradictions(contradicting, states),
        *about_pairs.stale(versions, contradicting, copied),
        *about_pairs.copies(copied, states),
        *about_text.illegible(debris),
        *about_text.boilerplate(repeated.values()),
        *about_text.languages(languages),
    ]
    warnings = (*_copies_left_out(finder.left_out), *contradictions.warnings, *_in_english(languages, foreign))
    return Inside(ordered(found), warnings)


def _copies_left_out(number: int) -> Iterator[str]:
    if number:
        yield (
            f"{number:,} pairs of documents that have some words in common were not compared for copies, since others "
            "have more in common: there are too many. Survey a part of the documents at a time."
        )


def _in_english(languages: Languages, foreign: Iterable[str]) -> Iterator[str]:
    """What is not done for documents in other languages."""
    names = tuple(foreign)
    if names:
        codes = dict.fromkeys(languages.documents.get(name, languages.usual) for name in names)
        who = f"1 document, {names[0]}, is" if len(names) == 1 else f"{len(names):,} documents are"
        yield (
            f"{who} not in English ({', '.join(map(spoken, codes))}): of sentences there, figures are compared to "
            "find contradictions, names and denials are not."
        )


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Worst first, then those that hit more questions; equal ones as they were."""
    return tuple(sorted(findings, key=lambda one: (_ORDER[one.severity], -len(one.questions))))
