"""Expected claims: what of an expected answer can be looked for in documents by its wording."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ...metrics.judge.embedded.claims import claims_of
from ...metrics.judge.embedded.matching import refuses
from ...metrics.judge.embedded.wording import wording

if TYPE_CHECKING:
    from ...knowledge.questions import Question

_MOST_CLAIMS: Final = 8
_MOST_ANSWERS: Final = 5
_VERDICTS: Final = frozenset({"yes", "no", "true", "fals", "mayb", "correct", "wrong", "none", "unknown", "n", "a"})
_FIRST_PERSON: Final = re.compile(
    r"\W*(?:i|we|sorry|unfortunately|there (?:is|was|are) no|no information|this (?:is|was) not)\b", re.IGNORECASE
)
# The number of an item of a list: it is no figure of the answer.
_ITEM: Final = re.compile(
    r"(?:^|(?<=\s)|(?<=[:;,]))\(?\d{1,2}\)(?=\s)|^\s*\d{1,2}\.(?=\s)|(?<=[:;,])\s\d{1,2}\.(?=\s)", re.M
)
_SHORT: Final = 4  # words of a refusal that is a whole answer: Not mentioned in the documents


def expected_claims(question: Question) -> tuple[tuple[str, ...], ...]:
    """For each accepted answer its claims that have words of their own; answers without one are left out.

    No claims are a mere yes or no, and that nothing is known: no document could support them by its wording.
    """
    found = (_checkable(text) for text in question.expected[:_MOST_ANSWERS])
    return tuple(dict.fromkeys(claims for claims in found if claims))


def _checkable(text: str) -> tuple[str, ...]:
    claims = [
        " ".join(claim.split())
        for claim in claims_of(_ITEM.sub(" ", text))
        if wording(claim).content - _VERDICTS and not _says_nothing(claim)
    ]
    return tuple(claims[:_MOST_CLAIMS])


def _says_nothing(claim: str) -> bool:
    """Whether a claim is that nothing is known, rather than something of a thing that is not available."""
    return refuses(claim) and (_FIRST_PERSON.match(claim) is not None or len(claim.split()) <= _SHORT)
