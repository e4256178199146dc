"""LanguageModel: how likely a text is, by itself or after another, as a model on this machine has it."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Protocol

from ... import InputError
from .causal import CausalModel
from .completions import Completion
from .encoder_decoder import NEEDS_PREFIX, EncoderDecoder
from .loading import Place, load_config
from .running import LoadedModel, LocalModel, Said


class Continued(Protocol):
    """A completion whose likelihood is asked for."""

    @property
    def completion(self) -> str:
        """The text that is scored. Without a prefix its first token is not: nothing stands before it."""
        ...

    @property
    def before(self) -> str:
        """The prefix up to the source text."""
        ...

    @property
    def source(self) -> str:
        """The text within the prefix that may be cut from its end, where all together is too long."""
        ...

    @property
    def after(self) -> str:
        """The prefix from the source text on."""
        ...

    @property
    def stride(self) -> int | None:
        """For a completion without a prefix that is longer than the window: by how many tokens the window moves on."""
        ...


@dataclass(frozen=True, slots=True)
class Likelihood:
    """How likely a language model finds a completion.

    Attributes:
        mean_nll: mean negative log-likelihood of a token, natural logarithm; NaN where no token is scored.
        tokens: how many tokens were scored.
        truncated: whether the source or the completion was cut.
    """

    mean_nll: float
    tokens: int
    truncated: bool = False


def open_language_model(place: Place) -> LoadedModel:
    """Load a causal model or one of encoder and decoder, as its configuration says. Raises InputError."""
    return EncoderDecoder(place) if load_config(place).is_encoder_decoder else CausalModel(place)


class LanguageModel(LocalModel[LoadedModel]):
    """A language model that metrics ask; calls of all rows in flight are gathered into batches."""

    async def likelihoods(self, texts: Sequence[Continued]) -> list[Likelihood]:
        """How likely each completion is, in their order.

        Raises:
            InputError: the model can't be loaded, or needs a prefix and one has none.
        """
        said = await self.ask([_item(text) for text in texts])
        return [self._likelihood(one) for one in said]

    def _likelihood(self, said: Said) -> Likelihood:
        mean, tokens = said.values.tolist()
        if tokens == NEEDS_PREFIX:
            raise InputError(
                f"The model {self.model_id} reads one text and writes another (encoder and decoder), so it can't say "
                "how likely a text is by itself. Name a causal model, such as distilbert/distilgpt2."
            )
        return Likelihood(mean if tokens else nan, int(tokens), said.truncated)


def _item(text: Continued) -> Completion:
    stride = "" if text.stride is None else str(text.stride)
    return Completion(text.completion, text.before, text.source, text.after, stride)
