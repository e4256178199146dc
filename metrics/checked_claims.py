"""CheckedClaims: sentences of an answer with how likely the contexts support each, as a local checker has it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from .chunks import Chunk
from .local_tools import Checker
from .text import shown

LIKELY: Final = 0.5  # more than this is supported


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A claim and the evidence for it.

    Attributes:
        text: the claim, a sentence of the answer.
        probability: that it is supported, by the chunk that supports it best.
        contexts: ranks of the contexts that support it on their own, counted from 1.
        chunk: the chunk that supports it best.
        truncated: whether a chunk and the claim were too long for the model.
    """

    text: str
    probability: float
    contexts: tuple[int, ...]
    chunk: Chunk
    truncated: bool = False

    @property
    def supported(self) -> bool:
        """Whether it is more likely supported than not."""
        return self.probability > LIKELY


@dataclass(frozen=True, slots=True)
class CheckedClaims:
    """Claims with the evidence for each, and the model that was asked; there is at least one claim."""

    claims: tuple[CheckedClaim, ...]
    model: str

    @property
    def share(self) -> float:
        """Share of the claims that are supported."""
        return sum(claim.supported for claim in self.claims) / len(self.claims)

    def evidence(self) -> dict[str, object]:
        """What stands in a score's details: the claims with how their best chunks begin, the model, if it read all."""
        claims = [
            {
                "claim": shown(claim.text),
                "supported": claim.supported,
                "probability": claim.probability,
                "contexts": list(claim.contexts),
                "best_chunk": {"contexts": list(claim.chunk.contexts), "text": shown(claim.chunk.text)},
            }
            for claim in self.claims
        ]
        return {"claims": claims, "model": self.model, "truncated": any(claim.truncated for claim in self.claims)}


async def checked_claims(claims: Sequence[str], chunks: Sequence[Chunk], checker: Checker) -> CheckedClaims:
    """Each claim against each chunk, which takes the greatest probability; there must be one of either."""
    said = await checker.check([(chunk.text, claim) for claim in claims for chunk in chunks])
    probabilities = said.probabilities.reshape(len(claims), len(chunks))
    truncated = said.truncated.reshape(len(claims), len(chunks))
    found = [
        _claim(claim, chunks, probabilities[place].tolist(), bool(truncated[place].any()))
        for place, claim in enumerate(claims)
    ]
    return CheckedClaims(tuple(found), checker.model_id)


def _claim(text: str, chunks: Sequence[Chunk], probabilities: Sequence[float], truncated: bool) -> CheckedClaim:
    likely = [chunk for chunk, probability in zip(chunks, probabilities, strict=True) if probability > LIKELY]
    alone = {chunk.contexts[0] for chunk in likely if len(chunk.contexts) == 1}
    best = max(range(len(chunks)), key=probabilities.__getitem__)
    return CheckedClaim(text, probabilities[best], tuple(sorted(alone)), chunks[best], truncated)
