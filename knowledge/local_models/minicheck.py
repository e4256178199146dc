"""MiniCheck: models of whether a document supports a sentence, on FLAN-T5 or on an encoder."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ... import InputError
from .checking import LoadedChecker, Prompt, PromptReader
from .loading import Place, load_model, load_tokenizer
from .sequences import window_of

TASK: Final = "predict: "
UNSUPPORTED, SUPPORTED = 3, 209  # the two words of FLAN-T5's vocabulary that the model was trained to begin with
WINDOW: Final = 2048  # of models without a position for each token, as the authors set it


def open_generator(place: Place) -> LoadedChecker:
    """MiniCheck-Flan-T5: the word with which a reply would begin, one of two. Raises InputError for other models."""
    import torch

    model = load_model(place, "AutoModelForSeq2SeqLM")
    if model.config.vocab_size <= SUPPORTED:
        raise InputError(f"The {place.called} in {place.folder} has too few words to be a MiniCheck model.")
    tokenizer = _tokenizer(place)
    start = model.config.decoder_start_token_id or 0

    def supported(tokens: Mapping[str, Any]) -> NDArray[np.float32]:
        begun = torch.full((len(tokens["input_ids"]), 1), start, dtype=torch.int64, device=model.device)
        logits = model(**tokens, decoder_input_ids=begun).logits[:, 0, [UNSUPPORTED, SUPPORTED]]
        return _second(logits)

    prompt = Prompt(TASK, tokenizer.eos_token)
    return LoadedChecker(PromptReader(model, tokenizer, prompt, WINDOW), supported)


def open_encoder(place: Place) -> LoadedChecker:
    """MiniCheck on RoBERTa or DeBERTa: the second of two outputs. Raises InputError when it can't be loaded."""
    model = load_model(place, "AutoModelForSequenceClassification")
    tokenizer = _tokenizer(place)
    is_relative = getattr(model.config, "position_biased_input", True) is False  # DeBERTa-v3
    window = WINDOW if is_relative else window_of(model, tokenizer)

    def supported(tokens: Mapping[str, Any]) -> NDArray[np.float32]:
        return _second(model(**tokens).logits)

    prompt = Prompt("", tokenizer.eos_token or tokenizer.sep_token)
    return LoadedChecker(PromptReader(model, tokenizer, prompt, window), supported)


def _second(logits: Any) -> NDArray[np.float32]:  # noqa: ANN401 - a tensor
    """The probability of the second of two outputs; logits have the shape (n, 2)."""
    found: NDArray[np.float32] = logits.softmax(-1)[:, 1].float().cpu().numpy()
    return found


def _tokenizer(place: Place) -> Any:  # noqa: ANN401 - untyped library
    tokenizer = load_tokenizer(place)
    if not tokenizer.is_fast or not (tokenizer.eos_token or tokenizer.sep_token):
        raise InputError(f"The {place.called} in {place.folder} has no tokenizer with a mark for the end of a text.")
    return tokenizer
