"""Same answers: whether two answers to one question say the same, contradict each other, or merely differ."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from ...metrics.judge.embedded.agreement import Match, compare
from ...metrics.judge.embedded.claims import claims_of
from ...metrics.judge.embedded.matching import declines, is_phrase, refuses
from ...metrics.judge.embedded.wording import wording
from ...metrics.judge.verdict_calls import CompareClaims
from ...metrics.text import token_set

if TYPE_CHECKING:
    from ...metrics.tools import Embedder

Relation = Literal["same", "contradicts", "differs"]
_AT_ONCE: Final = 512
_MOST_CHARACTERS: Final = 4_000  # of an answer; a longer one is not read to its end


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """Two answers to a question."""

    question: str
    first: str
    second: str


async def relate(pairs: Sequence[AnswerPair], embedder: Embedder) -> list[Relation]:
    """How the two answers of each pair stand to each other; both sides weigh the same."""
    distinct = list(dict.fromkeys(pairs))
    found: dict[AnswerPair, Relation] = {}
    for start in range(0, len(distinct), _AT_ONCE):
        part = distinct[start : start + _AT_ONCE]
        told = await asyncio.gather(*(_relate(pair, embedder) for pair in part))
        found.update(zip(part, told, strict=True))
    return [found[pair] for pair in pairs]


async def _relate(pair: AnswerPair, embedder: Embedder) -> Relation:
    first, second = pair.first[:_MOST_CHARACTERS].strip(), pair.second[:_MOST_CHARACTERS].strip()
    words = token_set(first), token_set(second)
    if words[0] == words[1] and wording(first).negations == wording(second).negations:
        return "same" if words[0] or first == second else "differs"
    silent = [declines(text) or refuses(text) for text in (first, second)]
    if any(silent):
        return "same" if all(silent) else "differs"
    if not all(words):
        return "differs"
    call = CompareClaims(
        expected=first, answer=second, answer_claims=_claims(second), expected_claims=_claims(first),
        question=pair.question,
    )  # fmt: skip
    compared = await compare(call, embedder)
    covered = [_says(one) for one in compared.covering]
    carried = [_says(said) or _says(other) for said, other in zip(compared.supporting, compared.carrying, strict=True)]
    against = [one for one in (*compared.covering, *compared.supporting) if one is not None and _contradicts(one)]
    if against and not (all(covered) and all(carried)):
        return "contradicts"
    # The point of a short answer stands in a longer one with other things beside it.
    phrase = is_phrase(wording(first)) or is_phrase(wording(second))
    if (all(covered) and all(carried)) or (phrase and (all(covered) or all(carried))):
        return "same"
    return "differs"


def _claims(text: str) -> tuple[str, ...]:
    return claims_of(text) or (text,)


def _says(match: Match | None) -> bool:
    return match is not None and match.says


def _contradicts(match: Match) -> bool:
    """Whether a text that is about the same matter says it otherwise; a bare phrase has no other matter."""
    if match.says or not match.contradictions:
        return False
    return match.signals.coverage >= 0.5 or is_phrase(match.pair.claim)
