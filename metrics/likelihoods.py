"""Likelihoods: what a language model says of the texts of a row, and how that stands in details."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from .declaring import Wanted
from .local_tools import Continuation, LanguageModel, Likelihood
from .score import NotApplicable, Reason

Stride = Annotated[
    int | None, Wanted("a number of tokens, 1 or more", lambda stride: stride is None or _is_count(stride))
]


@dataclass(frozen=True, slots=True)
class Scored:
    """What a language model says of some texts, in their order."""

    likelihoods: tuple[Likelihood, ...]
    model: str

    @property
    def means(self) -> list[float]:
        """Mean negative log-likelihood of a token of each text, natural logarithm."""
        return [one.mean_nll for one in self.likelihoods]

    def evidence(self) -> dict[str, object]:
        """For details: model, how many tokens were scored, and whether something was cut."""
        found: dict[str, object] = {"model": self.model, "tokens": sum(one.tokens for one in self.likelihoods)}
        return found | ({"truncated": True} if any(one.truncated for one in self.likelihoods) else {})


async def scored(model: LanguageModel, texts: Sequence[Continuation]) -> Scored:
    """Ask how likely each text is. Raises NotApplicable where one has no token that can be scored."""
    found = tuple(await model.likelihoods(texts))
    if any(one.tokens < 1 for one in found):
        raise NotApplicable(Reason.TOO_SHORT)
    return Scored(found, model.model_id)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
