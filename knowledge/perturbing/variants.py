"""Variants: questions made from other questions, each with how it was made and what must happen."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from heapq import nsmallest
from typing import Final

from ..questions import PERTURBS, Question
from .chance import Chance
from .kinds import IDENTITY, KINDS, Kind, Reword
from .rewording import Refused, Reworded

TAG: Final = "perturbed"
_TRIES: Final = 8  # draws for a variant that differs from its source and from the ones before it
_NO_OTHER: Final = "no further variant differs from the others"

# Texts that a judge wrote, by kind and id of the question; a text in place of them says why there are none.
Texts = Mapping[tuple[str, str], Sequence[str] | str]


@dataclass(frozen=True, slots=True)
class Recipe:
    """Which variants are made of a question.

    Attributes:
        kinds: in the order in which their variants follow each other.
        intensities: shares of the units that are changed, above 0 and at most 1.
        variants: how many are made alike.
        seed: another number draws other variants.
        control: whether an identity copy is made although it is not among the kinds.
    """

    kinds: Sequence[Kind]
    intensities: Sequence[float] = (0.1,)
    variants: int = 1
    seed: int = 0
    control: bool = True

    @property
    def all_kinds(self) -> tuple[Kind, ...]:
        """The kinds, and the control first where there is one."""
        others = tuple(kind for kind in self.kinds if kind.name != IDENTITY)
        is_wanted = self.control or len(others) < len(self.kinds)
        return (KINDS[IDENTITY], *others) if is_wanted else others

    @property
    def written(self) -> tuple[Kind, ...]:
        """The kinds for which a judge writes."""
        return tuple(kind for kind in self.all_kinds if not kind.offline)

    def shares(self, kind: Kind) -> tuple[float, ...]:
        """At which intensities a kind is made: a copy at 0, and what has no degrees at 1."""
        if kind.graded:
            return tuple(dict.fromkeys(self.intensities))
        return (0.0,) if kind.name == IDENTITY else (1.0,)


@dataclass(slots=True)
class Tally:
    """What was made of each kind, and what could not be made.

    Attributes:
        made: variants by kind.
        refused: variants that could not be made, by kind.
        reasons: why, by kind, each with how often.
        examples: a text before and after, by kind.
        sources: how many questions were reworded.
        passed_over: questions that are variants themselves, of which none are made.
    """

    made: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, Counter[str]] = field(default_factory=dict)
    examples: dict[str, tuple[str, str]] = field(default_factory=dict)
    sources: int = 0
    passed_over: int = 0

    def take(self, kind: Kind, before: str, after: str) -> None:
        """One more was made."""
        self.made[kind.name] += 1
        self.examples.setdefault(kind.name, (before, after))

    def refuse(self, kind: Kind, why: str) -> None:
        """One could not be made."""
        self.refused[kind.name] += 1
        self.reasons.setdefault(kind.name, Counter())[why] += 1


def reworded(
    questions: Iterable[Question], recipe: Recipe, tally: Tally, written: Texts | None = None
) -> Iterator[Question]:
    """The variants of questions, question after question; the tally grows on the way.

    What is drawn depends on seed, question, kind, intensity and number of the variant alone, so that another order,
    other questions or other kinds change nothing. What is no change is no variant, except for the identity copy.

    Args:
        questions: sources; those that are variants themselves are passed over.
        recipe: what is made.
        tally: told of everything.
        written: what a judge wrote, for the kinds that need one.
    """
    for question in questions:
        if PERTURBS in question.extra:
            tally.passed_over += 1
            continue
        tally.sources += 1
        for kind in recipe.all_kinds:
            for share in recipe.shares(kind):
                yield from _variants(question, kind, share, recipe, tally, written or {})


def some_questions(questions: Iterable[Question], most: int | None = None, seed: int = 0) -> list[Question]:
    """At most so many questions drawn by chance, in their order; variants are never among them.

    A question that is added to the set takes the place of at most one.
    """
    sources = [(place, question) for place, question in enumerate(questions) if PERTURBS not in question.extra]
    if most is not None and len(sources) > most:
        sources = sorted(nsmallest(most, sources, key=lambda source: _lot(seed, source[1].id)))
    return [question for _, question in sources]


def _lot(seed: int, identity: str) -> bytes:
    return blake2b(f"{seed}\0{identity}".encode("utf-8", "replace"), digest_size=16).digest()


def _variants(
    question: Question, kind: Kind, share: float, recipe: Recipe, tally: Tally, written: Texts
) -> Iterator[Question]:
    count = 1 if kind.name == IDENTITY else recipe.variants
    texts: set[str] = set() if kind.name == IDENTITY else {question.text}
    for number in range(count):
        try:
            if kind.reword is None:
                found = _written(question, kind, number, written)
            else:
                parts = (recipe.seed, question.id, kind.name, share, number)
                found = _drawn(question.text, kind.reword, share, parts, texts)
        except Refused as refused:
            tally.refuse(kind, str(refused))
            continue
        texts.add(found.text)
        tally.take(kind, question.text, found.text)
        yield variant(question, kind, share, number, found)


def _drawn(text: str, reword: Reword, share: float, parts: Sequence[str | float], others: set[str]) -> Reworded:
    """A text that is none of the others. Raises Refused where there is none."""
    for attempt in range(_TRIES):
        found = reword(text, share, Chance(*parts, attempt))
        if found.text not in others and not found.text.isspace():
            return found
    raise Refused(_NO_OTHER)


def _written(question: Question, kind: Kind, number: int, written: Texts) -> Reworded:
    texts = written.get((kind.name, question.id), "no judge wrote any")
    if isinstance(texts, str):
        raise Refused(texts)
    if number >= len(texts):
        raise Refused("the judge wrote fewer than were asked for")
    return Reworded(texts[number], 1, 1)


def _short(share: float) -> str:
    """As it is usually written, unless another share would be written alike."""
    text = f"{share:g}"
    return text if float(text) == share else repr(share)


def variant(question: Question, kind: Kind, share: float, number: int, found: Reworded) -> Question:
    """The question that a text becomes.

    Expected answers, constraints and evidence of the source hold only where the same answer is right. A variant
    belongs to the cluster of its source.
    """
    mark: dict[str, object] = {
        "id": question.id, "kind": kind.name, "intensity": share, "variant": number, "must": kind.must,
    }  # fmt: skip
    if kind.offline and found.units:
        mark |= {"changed": found.changed, "units": found.units}
    made = replace(
        question,
        id=f"{question.id}~{kind.name}-{_short(share)}-{number}",
        text=found.text,
        tags=tuple(dict.fromkeys((*question.tags, TAG))),
        source_document=question.source_document or question.id,
        extra={**question.extra, PERTURBS: mark},
    )
    if kind.must == "same":
        return made
    answerable = False if kind.must == "decline" else None
    return replace(made, expected=(), constraints=(), evidence=(), answerable=answerable)
