"""Evidence: what of a claim's wording some texts hold, what is missing, and what speaks against it."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from typing import Final, NamedTuple

from ...porter import stem
from .word_lists import HEDGES, NEGATING_PREFIXES, OPPOSITES, QUANTITIES
from .wording import Word, Wording, wording

_ALIGNED_WORDS: Final = 400  # of either text; alignment takes the product of both
_NEGATED_WITHIN: Final = 3  # words before the negated one, or after
_SAME_MATTER: Final = 0.6  # of a claim's content words; a text that has fewer denies something else
_SLOT: Final = 5  # words that may stand in the place of others; beyond, the texts merely differ
_LEAST_ROOT: Final = 4  # letters that a word has behind a prefix that negates it


class Conflict(NamedTuple):
    """A word of the claim, and what the texts say in its place."""

    kind: str  # opposite, negation, number, date, name or word
    claimed: str
    found: str

    def __str__(self) -> str:
        return f"{self.claimed} ({self.found})" if self.found else self.claimed


@dataclass(frozen=True, slots=True)
class Evidence:
    """How the wording of a claim stands to some texts; shares are between 0 and 1.

    Attributes:
        coverage: share of the claim's content words that the texts hold; 1 when it has none.
        pairs: share of its neighbouring content words that are neighbours there too; 1 when it has none.
        run: longest run of words, as a share of the claim, that the nearest text holds word by word.
        order: share of the claim's words that stand in the same order in the nearest text.
        missing: content words that no text holds, as they were written, names and numbers among them.
        missing_names: capitalised words that no text holds.
        missing_numbers: numbers, years, months and weekdays that no text holds.
        conflicts: what the texts say otherwise: opposites, a negation on one side only, another number, name or
            word in the same place.
        hedged: whether one side says that something may be, and the other that it is.
    """

    coverage: float
    pairs: float
    run: float
    order: float
    missing: tuple[str, ...]
    missing_names: tuple[str, ...]
    missing_numbers: tuple[str, ...]
    conflicts: tuple[Conflict, ...]
    hedged: bool

    def why(self, excused: Container[str] = ()) -> str:
        """What is contradicted and what is missing, but for excused words, in a line; blank when nothing is."""
        contradicted = [str(one) for one in self.conflicts if one.kind != "word"]
        told = {one.claimed for one in self.conflicts if one.kind != "word"}
        missing = [word for word in self.missing if word not in told and word not in excused]
        parts = [("contradicted: ", contradicted), ("missing: ", missing)]
        return "; ".join(label + ", ".join(words) for label, words in parts if words)


def evidence(claim: str | Wording, premises: Sequence[str | Wording]) -> Evidence:
    """Compare a claim with texts that are taken together; conflicts and order are with the nearest of them.

    >>> evidence("The tower opened in 1889.", ["The tower opened in 1887 in Paris."]).why()
    'contradicted: 1889 (1887)'
    """
    read = wording(claim) if isinstance(claim, str) else claim
    texts = [wording(one) if isinstance(one, str) else one for one in premises]
    held = frozenset[str]().union(*(text.content for text in texts))
    missing = [word for word in read.of_kind("word", "name", "number", "date") if word.key not in held]
    near = nearest(read, texts)
    aligned = _align(read, near) if near else _Alignment(0.0, 0.0, ())
    pairs = frozenset[tuple[str, str]]().union(*(text.pairs for text in texts))
    return Evidence(
        coverage=_share(read.content, held),
        pairs=_share(read.pairs, pairs),
        run=aligned.run,
        order=aligned.order,
        missing=tuple(word.text for word in missing),
        missing_names=tuple(word.text for word in missing if word.kind == "name"),
        missing_numbers=tuple(word.text for word in missing if word.kind in {"number", "date"}),
        conflicts=_conflicts(read, near, missing, aligned) if near else (),
        hedged=near is not None and _hedges(read) != _hedges(near),
    )


def nearest(claim: Wording, texts: Sequence[Wording]) -> Wording | None:
    """The text that holds most of the claim's content words, neighbours counting again; the first of equal ones."""
    if not texts:
        return None
    return max(texts, key=lambda text: len(claim.content & text.content) + len(claim.pairs & text.pairs))


def _share(wanted: frozenset[object] | frozenset[str], held: frozenset[object] | frozenset[str]) -> float:
    return len(wanted & held) / len(wanted) if wanted else 1.0


class _Alignment(NamedTuple):
    run: float
    order: float
    replaced: tuple[tuple[tuple[Word, ...], tuple[Word, ...]], ...]  # stretches of the claim, and of the text


def _align(claim: Wording, text: Wording) -> _Alignment:
    ours, theirs = claim.words[:_ALIGNED_WORDS], text.words[:_ALIGNED_WORDS]
    if not ours:
        return _Alignment(0.0, 0.0, ())
    matcher = SequenceMatcher(None, [word.key for word in ours], [word.key for word in theirs], autojunk=False)
    blocks = [block.size for block in matcher.get_matching_blocks()]
    replaced = tuple(
        (ours[start:end], theirs[other_start:other_end])
        for tag, start, end, other_start, other_end in matcher.get_opcodes()
        if tag == "replace"
    )
    return _Alignment(max(blocks) / len(ours), sum(blocks) / len(ours), replaced)


def _conflicts(claim: Wording, text: Wording, missing: Sequence[Word], aligned: _Alignment) -> tuple[Conflict, ...]:
    found = list(_opposed(claim, text))
    if len(claim.content & text.content) >= _SAME_MATTER * len(claim.content):
        found += negated(claim, text)
    for ours, theirs in aligned.replaced:
        found += _replaced(ours, theirs, missing, claim)
    found += _other_figures(claim, text, missing)
    return tuple({one.claimed: one for one in reversed(found)}.values())[::-1]


def _opposed(claim: Wording, text: Wording) -> Iterable[Conflict]:
    """Words whose opposite the text has, and not the word itself."""
    theirs = {word.key: word for word in text.words}
    keys = {word.key for word in claim.words}
    for word in claim.words:
        if word.key in theirs or word.kind == "stop":
            continue
        for other in (*opposites().get(word.key, ()), *_with_prefix(word, theirs)):
            if other in theirs and other not in keys:
                yield Conflict("opposite", word.text, theirs[other].text)
                break


def _with_prefix(word: Word, theirs: dict[str, Word]) -> Iterable[str]:
    """Keys of the word with a prefix that negates it, and of what is left without one."""
    if word.kind not in {"word", "name"}:
        return
    lower = word.text.lower()
    for prefix in NEGATING_PREFIXES:
        if len(lower) >= _LEAST_ROOT and stem(prefix + lower) in theirs:
            yield stem(prefix + lower)
        rest = lower.removeprefix(prefix)
        if rest != lower and len(rest) >= _LEAST_ROOT and stem(rest) in theirs:
            yield stem(rest)


def negated(claim: Wording, text: Wording) -> Iterable[Conflict]:
    """A negation near words that both have, on one side only."""
    shared = claim.content & text.content
    ours, theirs = _denied(claim) & shared, _denied(text) & shared
    if ours - theirs and not theirs:
        yield Conflict("negation", claim.words[claim.negations[0]].text, "")
    elif theirs - ours and not claim.negations:
        yield Conflict("negation", "not", f"{text.words[text.negations[0]].text} in the text")


def _denied(text: Wording) -> frozenset[str]:
    """Keys of the content words that follow a negation closely."""
    near = [word for place in text.negations for word in _content_after(text, place)]
    return frozenset(word.key for word in near)


def _content_after(text: Wording, place: int) -> Sequence[Word]:
    after = text.words[place + 1 : place + 1 + 2 * _NEGATED_WITHIN]
    return [word for word in after if word.kind != "stop"][:_NEGATED_WITHIN]


def _replaced(
    ours: Sequence[Word], theirs: Sequence[Word], missing: Sequence[Word], claim: Wording
) -> Iterable[Conflict]:
    """What stands in the place of a missing word, when it is of the same kind and the claim lacks it."""
    lacking = {word.key for word in missing}
    if max(len(ours), len(theirs)) > _SLOT:
        return
    known = opposites()
    for word in ours:
        opposed = [other for other in theirs if other.key in known.get(word.key, ())]
        if word.kind == "stop" and opposed:
            yield Conflict("opposite", word.text, opposed[0].text)
        if word.key in lacking:
            others = [other for other in theirs if other.kind == word.kind and other.key not in claim.content]
            if others and (word.kind != "name" or _led_alike(ours, theirs)):
                yield Conflict(word.kind, word.text, others[0].text)


def _led_alike(ours: Sequence[Word], theirs: Sequence[Word]) -> bool:
    """Whether the function words of two stretches agree, as far as both have any: by Rome is not in Paris."""
    first, second = ({word.key for word in words if word.kind == "stop"} for words in (ours, theirs))
    return first <= second or second <= first


def _other_figures(claim: Wording, text: Wording, missing: Sequence[Word]) -> Iterable[Conflict]:
    """A missing number or date, when the text has another one of its sort that the claim lacks."""
    for word in missing:
        if word.kind in {"number", "date"}:
            others = [one for one in text.of_kind(word.kind) if one.key not in claim.content and _like(one, word)]
            if len(others) == 1:
                yield Conflict(word.kind, word.text, others[0].text)


def _like(first: Word, second: Word) -> bool:
    """Both figures or both names of days and months; both shares or neither."""
    return first.key[0].isdigit() == second.key[0].isdigit() and first.key.endswith("%") == second.key.endswith("%")


def _hedges(text: Wording) -> bool:
    return any(word.text.lower() in HEDGES for word in text.words)


def quantities(text: Wording) -> frozenset[str]:
    """The words for how many or how much, such as all, some and only."""
    return frozenset(word.key for word in text.words if word.key in QUANTITIES)


@cache
def opposites() -> dict[str, frozenset[str]]:
    """Opposites by key; words that are no content are not stemmed when a text is read."""
    found: dict[str, set[str]] = {}
    for pair in OPPOSITES:
        first, second = (wording(word).words[0].key if wording(word).words else stem(word) for word in pair)
        found.setdefault(first, set()).add(second)
        found.setdefault(second, set()).add(first)
    return {key: frozenset(others) for key, others in found.items()}
