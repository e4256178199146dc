"""Agreement: the answer's claims against the expected answer, and the expected claims against the answer."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ...tools import Embedder, Entailment, SupportModel
from ..verdict_calls import CompareClaims
from ..verdicts import Agreement, Verdict
from .matching import Signals, compared_words, declines, is_phrase, lacks, match, refuses
from .signals import evidence
from .support import Vectors, combining, log_odds_of, vectors_of
from .wording import Wording, wording

WEIGHTS: Final = {
    "coverage": 2.5,  # share of the claim's content words that the text says
    "precision": 1.0,  # share of the text's new content words that the claim has
    "similarity": 2.0,  # cosine
    "spelling": 2.5,  # letter trigrams of the claim in a stretch of the text
    "figure": -4.0,  # another number or date
    "name": -3.0,  # another name
    "negation": -5.0,  # the same words, denied by one side
    "opposite": -3.0,  # high for low
    "refusal": -2.0,
}
"""Log-odds that a text says an expected claim, for each unit of a signal.

The shares were fitted, and rounded, on one half of the questions of two sets of human verdicts; what contradicts was
set so that it decides where everything else agrees, and costs nothing there
(``tests/benchmarks/measure_correctness.py``).
"""
BASE: Final = -4.0
ENTAILED: Final = 4.0
"""Log-odds of an entailment model that is sure; a contradiction counts as much against. Phrases entail nothing."""

_CANDIDATES: Final = 8  # texts that a claim is compared with
_WHOLE_WORDS: Final = 300  # of an answer that is also compared as a whole, for claims spread over its sentences
_CONTRADICTS: Final = ("figure", "name", "negation", "opposite")
_SPOKEN: Final = {
    "figure": "another number or date",
    "name": "another name",
    "negation": "one side denies it",
    "opposite": "the opposite",
}


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """A claim beside a text that may say it."""

    claim: Wording
    text: Wording


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """How far a text says a claim: the log-odds, above 0 when it does, and what they were made of."""

    pair: Pair
    signals: Signals
    log_odds: float

    @property
    def says(self) -> bool:
        """Whether the text says the claim rather than not."""
        return self.log_odds >= 0

    @property
    def contradictions(self) -> tuple[str, ...]:
        """Names of the signals that contradict."""
        return tuple(name for name in _CONTRADICTS if getattr(self.signals, name))


Found = Mapping[tuple[str, str], Match]


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """The best match of each claim; None where there is no text to find it in.

    Attributes:
        covering: for each expected claim, the text of the answer that comes nearest to saying it.
        supporting: for each claim of the answer, the text of the expected answer that comes nearest to saying it.
        carrying: for each claim of the answer, the expected text that it comes nearest to saying.
    """

    covering: tuple[Match | None, ...]
    supporting: tuple[Match | None, ...]
    carrying: tuple[Match | None, ...]


async def agree(
    call: CompareClaims, embedder: Embedder, entailment: Entailment | None = None, model: SupportModel | None = None
) -> Agreement:
    """Decide which claims of the answer the expected answer supports, and which expected claims the answer covers.

    An expected claim is covered when a sentence of the answer, or the answer as a whole, says it. A claim of the answer
    is supported when the expected answer says it, or when it says an expected claim and perhaps more. Where all that is
    expected is a phrase (a name, a date) and the answer has it, the answer's other sentences can't be checked against
    it: they count as supported unless they have another figure, an opposite or a negation in its place.
    """
    compared = await compare(call, embedder, entailment, model)
    is_point = _is_point(call, compared.covering)
    found = zip(compared.supporting, compared.carrying, strict=True)
    return Agreement(
        answer_claims=tuple(_support(said, carried, is_point) for said, carried in found),
        expected_claims=tuple(_cover(best) for best in compared.covering),
    )


async def compare(
    call: CompareClaims, embedder: Embedder, entailment: Entailment | None = None, model: SupportModel | None = None
) -> Compared:
    """Match each claim with the texts of the other side; one call of each model."""
    answer = _texts(call.answer_claims, call.answer)
    expected = _texts(call.expected_claims, call.expected)
    claims = [wording(claim) for claim in call.answer_claims]
    covering = [_pairs(wording(claim), answer) for claim in call.expected_claims]
    supporting = [_pairs(claim, expected) for claim in claims]
    carrying = [[Pair(wanted, claim) for wanted in _near(claim, expected) if claim.words] for claim in claims]
    every = [pair for row in (*covering, *supporting, *carrying) for pair in row]
    found = await _matched(every, wording(call.question), embedder, entailment)
    if model is not None:
        said = [pair for row in (*covering, *carrying) for pair in row]  # each an expected claim and the answer's text
        found = await _weighed_by(model, call.question, found, said)
    best = [tuple(_best(row, found) for row in rows) for rows in (covering, supporting, carrying)]
    return Compared(*best)


def _texts(claims: Sequence[str], whole: str) -> tuple[Wording, ...]:
    """The claims and, when it is short enough, the whole text; those that have a word."""
    read = wording(whole)
    texts = [*claims, whole] if len(read.words) <= _WHOLE_WORDS or not claims else claims
    return tuple(text for text in map(wording, dict.fromkeys(texts)) if text.words)


def _pairs(claim: Wording, texts: Sequence[Wording]) -> list[Pair]:
    return [Pair(claim, text) for text in _near(claim, texts) if claim.words]


def _near(claim: Wording, texts: Sequence[Wording]) -> Sequence[Wording]:
    """The texts that share most words with the claim, the last one (the whole) always among them."""
    if len(texts) <= _CANDIDATES:
        return texts
    shared = sorted(range(len(texts) - 1), key=lambda place: (-len(claim.content & texts[place].content), place))
    return [texts[place] for place in sorted((*shared[: _CANDIDATES - 1], len(texts) - 1))]


async def _matched(
    pairs: Sequence[Pair], question: Wording, embedder: Embedder, entailment: Entailment | None
) -> Found:
    distinct = list({(pair.claim.text, pair.text.text): pair for pair in pairs}.values())
    vectors = await vectors_of((text for pair in distinct for text in _embedded(pair)), embedder)
    added = await _entailed(distinct, entailment) if entailment else {}
    matches = (_match(pair, question, vectors, added.get((pair.claim.text, pair.text.text), 0.0)) for pair in distinct)
    return {(one.pair.claim.text, one.pair.text.text): one for one in matches}


async def _weighed_by(model: SupportModel, question: str, found: Found, said: Sequence[Pair]) -> Found:
    """With what the support model says: how likely an answer that is expected so is right."""
    pairs = list(dict.fromkeys((pair.claim.text, pair.text.text) for pair in said))
    right = await model.right([(question, text, claim) for claim, text in pairs]) if pairs else []
    weights = combining()["correct"]
    made = dict(found)
    for pair, likely in zip(pairs, right, strict=True):
        added = weights["bias"] + weights["model"] * log_odds_of(float(likely))
        made[pair] = replace(found[pair], log_odds=weights["wording"] * found[pair].log_odds + added)
    return made


def _embedded(pair: Pair) -> Iterator[str]:
    """What has to be embedded: both texts, and all their words when the claim has one that the text lacks."""
    yield from (pair.claim.text, pair.text.text)
    if lacks(pair.text, pair.claim):
        yield from compared_words(pair.claim)
        yield from compared_words(pair.text)


async def _entailed(pairs: Sequence[Pair], entailment: Entailment) -> dict[tuple[str, str], float]:
    texts = [(pair.text.text, pair.claim.text) for pair in pairs if not is_phrase(pair.claim)]
    if not texts:
        return {}
    found = await entailment.probabilities(texts)
    return {(claim, text): ENTAILED * float(one[0] - one[2]) for (text, claim), one in zip(texts, found, strict=True)}


def _match(pair: Pair, question: Wording, vectors: Vectors, entailed: float) -> Match:
    signals = match(question, pair.claim, pair.text, vectors)
    return Match(pair, signals, BASE + entailed + weighed(signals))


def weighed(signals: Signals) -> float:
    """The log-odds that signals add up to, without the base."""
    return sum(WEIGHTS[name] * value for name, value in zip(signals._fields, signals, strict=True))


def _best(pairs: Iterable[Pair], found: Found) -> Match | None:
    matches = [found[pair.claim.text, pair.text.text] for pair in pairs]
    return max(matches, key=lambda one: one.log_odds, default=None)


def _is_point(call: CompareClaims, covering: Sequence[Match | None]) -> bool:
    """Whether all that is expected is a phrase, and the answer says it."""
    if len(covering) != 1 or not is_phrase(wording(call.expected)):
        return False
    return covering[0] is not None and covering[0].says


def _cover(best: Match | None) -> Verdict:
    """Whether the answer covers an expected claim, by the text of it that comes nearest."""
    if best is None:
        return Verdict(False, why="the answer says nothing")
    if best.says:
        return Verdict(True)
    if declines(best.pair.claim.text):
        return Verdict(False, why="expected is that the answer says that it does not know")
    if refuses(best.pair.text.text):
        return Verdict(False, why="the answer says that it does not know")
    return Verdict(False, why=_why_not(best, "missing"))


def _support(said: Match | None, carried: Match | None, is_point: bool) -> Verdict:
    """Whether a claim of the answer is supported by the expected answer."""
    if said is None or carried is None:
        return Verdict(False, why="there is nothing to compare")
    if said.says or carried.says:
        return Verdict(True)
    # Other sentences have other names as a rule.
    if is_point and not set(carried.contradictions) - {"name"}:
        return Verdict(True, why="says more than the expected answer, which is only a phrase")
    if declines(said.pair.claim.text):
        return Verdict(False, why="says that it does not know")
    return Verdict(False, why=_why_not(said, "not expected"))


def _why_not(best: Match, missing: str) -> str:
    """What speaks against a claim, and which of its words the text lacks."""
    found = evidence(best.pair.claim, [best.pair.text])
    denied = bool(best.signals.negation)
    conflicts = [one for one in found.conflicts if one.kind != "word" and (one.kind != "negation" or denied)]
    against = [_SPOKEN[one.kind] if one.kind == "negation" else str(one) for one in conflicts]
    against = against or [_SPOKEN[name] for name in best.contradictions]
    told = {one.claimed for one in conflicts}
    lacking = [word for word in found.missing if word not in told]
    parts = [("contradicted: ", against), (f"{missing}: ", lacking)]
    return "; ".join(label + ", ".join(words) for label, words in parts if words) or "not said in such words"
