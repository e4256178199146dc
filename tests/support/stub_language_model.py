"""A language model that says what a test wants, and remembers what it was asked."""

from collections.abc import Sequence

from proctor.knowledge.models.language_models import Continuation, Likelihood


class StubLanguageModel:
    """Answers with the given likelihoods in turn, from the beginning again after the last; or raises."""

    model_id = "stub@1"

    def __init__(self, said: Sequence[Likelihood], error: Exception | None = None) -> None:
        self.asked: list[Continuation] = []
        self._said = said
        self._error = error

    async def likelihoods(self, texts: Sequence[Continuation]) -> list[Likelihood]:
        if self._error is not None:
            raise self._error
        first = len(self.asked)
        self.asked += texts
        return [self._said[place % len(self._said)] for place in range(first, len(self.asked))]
