"""AlignScore: a RoBERTa model whose three-way head says how likely a source supports a claim."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ... import InputError
from .checking import LoadedChecker
from .loading import Place, load_model, load_tokenizer
from .sequences import SequenceReader

_LABELS: Final = ("aligned", "neutral", "contradicted")
_ALIGNED: Final = 0
_HEAD_WIDTH: Final = 64  # of an attention head, in all sizes of RoBERTa

# The checkpoint's names. The pooler with a linear layer on it is what transformers calls a classification head, so that
# the renamed weights are a plain sequence classifier; the other heads and the language model's are left out.
_RENAMED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "base_model.embeddings.": "roberta.embeddings.",
        "base_model.encoder.": "roberta.encoder.",
        "base_model.pooler.dense.": "classifier.dense.",
        "tri_layer.": "classifier.out_proj.",
    }
)
_BUFFERS: Final = (".position_ids", ".token_type_ids")


def open_alignscore(place: Place) -> LoadedChecker:
    """Load AlignScore from a prepared folder; the probability is that of the first of three outputs.

    A pair that is too long loses the end of its source; where the claim alone is too long, both lose theirs. Raises
    InputError when the folder holds no such model.
    """
    model = load_model(place, "AutoModelForSequenceClassification")
    if model.config.num_labels != len(_LABELS):
        raise InputError(
            f"The {place.called} in {place.folder} has {model.config.num_labels} outputs: AlignScore's {len(_LABELS)} "
            "were wanted."
        )

    def aligned(tokens: Mapping[str, Any]) -> NDArray[np.float32]:
        likely: NDArray[np.float32] = model(**tokens).logits.float().softmax(dim=-1)[:, _ALIGNED].cpu().numpy()
        return likely

    return LoadedChecker(SequenceReader(model, load_tokenizer(place), keeps_second=True), aligned)


def converted(state: Mapping[str, Any]) -> dict[str, Any]:
    """The weights of a published checkpoint under the names of a sequence classifier of transformers.

    Args:
        state: ``state_dict`` of the checkpoint: tensors by name.

    Raises:
        InputError: it holds no AlignScore.
    """
    found = {
        new + name.removeprefix(old): tensor.float().contiguous()
        for name, tensor in state.items()
        for old, new in _RENAMED.items()
        if name.startswith(old) and not name.endswith(_BUFFERS)
    }
    missing = [old for old, new in _RENAMED.items() if not any(name.startswith(new) for name in found)]
    if missing:
        raise InputError(f"The checkpoint is not one of AlignScore: it has no weights named {', '.join(missing)}")
    return found


def config_of(weights: Mapping[str, Any]) -> dict[str, object]:
    """The configuration for converted weights, which a checkpoint doesn't bring: what RoBERTa has, in their size."""
    words, width = weights["roberta.embeddings.word_embeddings.weight"].shape
    layers = {name.split(".")[3] for name in weights if name.startswith("roberta.encoder.layer.")}
    return {
        "architectures": ["AlignScore"],
        "model_type": "roberta",
        "vocab_size": words,
        "hidden_size": width,
        "num_hidden_layers": len(layers),
        "num_attention_heads": max(1, width // _HEAD_WIDTH),
        "intermediate_size": weights["roberta.encoder.layer.0.intermediate.dense.weight"].shape[0],
        "max_position_embeddings": weights["roberta.embeddings.position_embeddings.weight"].shape[0],
        "type_vocab_size": weights["roberta.embeddings.token_type_embeddings.weight"].shape[0],
        "layer_norm_eps": 1e-5,
        "bos_token_id": 0,
        "pad_token_id": 1,
        "eos_token_id": 2,
        "id2label": {str(place): label for place, label in enumerate(_LABELS)},
        "label2id": {label: place for place, label in enumerate(_LABELS)},
    }
