"""HHEM: Vectara's models of whether a text is consistent with another, versions 1.0 and 2.1."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ... import InputError
from .checking import LoadedChecker, Prompt, PromptReader
from .loading import Place, load_model, load_tokenizer
from .sequences import SequenceReader

# The prompt that 2.1 has learnt, as its own code and its card have it. What is read off is the leading <pad>.
PROMPT: Final = Prompt(
    "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: ",
    "\n\nHypothesis: ",
)
# 2.1 knows only how far tokens are apart, so its own code sets no limit; but the memory that it takes grows with the
# square of the tokens: 1.6 GB for so many, and half a minute on one processor.
WINDOW: Final = 4096


def open_cross_encoder(place: Place) -> LoadedChecker:
    """HHEM 1.0, or any other cross-encoder with one output, whose sigmoid is the probability.

    Source and claim are a pair of at most the model's window (512 tokens for HHEM 1.0). Where they are longer, the end
    of the longer one is cut until both fit (``longest_first``), as sentence-transformers' ``CrossEncoder`` does.
    Raises InputError when the folder holds no such model.
    """
    model = load_model(place, "AutoModelForSequenceClassification")

    def supported(tokens: Mapping[str, Any]) -> NDArray[np.float32]:
        logits = model(**tokens).logits[:, 0].float()
        likely = logits.sigmoid().where(logits.isfinite(), float("nan"))  # infinity would make a probability of 1
        found: NDArray[np.float32] = likely.cpu().numpy()
        return found

    return LoadedChecker(SequenceReader(model, load_tokenizer(place)), supported)


def open_token_classifier(place: Place) -> LoadedChecker:
    """HHEM 2.1, as the token classifier of T5 that its own code wraps. Raises InputError when the folder has none."""
    model = load_model(place, "AutoModelForTokenClassification")
    tokenizer = load_tokenizer(place)
    first = tokenizer(PROMPT.before, verbose=False)["input_ids"][0]
    if model.config.num_labels != 2 or not tokenizer.is_fast or first != tokenizer.pad_token_id:
        raise InputError(
            f"The {place.called} in {place.folder} is not HHEM 2.1: two outputs for each token, and a tokenizer that "
            "knows <pad>, were wanted."
        )

    def supported(tokens: Mapping[str, Any]) -> NDArray[np.float32]:
        return consistent(model(**tokens).logits)

    return LoadedChecker(PromptReader(model, tokenizer, PROMPT, WINDOW), supported)


def consistent(logits: Any) -> NDArray[np.float32]:  # noqa: ANN401 - a tensor
    """The probability of the second of two outputs at the first token; logits have the shape (n, tokens, 2)."""
    found: NDArray[np.float32] = logits[:, 0, :].softmax(-1)[:, 1].float().cpu().numpy()
    return found
