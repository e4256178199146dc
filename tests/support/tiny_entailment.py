"""Tiny entailment models of the real architectures, the same whichever version of a library makes them."""

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tiny_models

LABELS = ("entailment", "contradiction", "neutral")  # in the order of SummaC's own model


def albert_folder(folder: Path, layers: int = 2, width: int = 32, labels: Sequence[str] = LABELS) -> Path:
    """Saves an ALBERT that reads 512 tokens, one output for each label."""
    return _saved(folder, "Albert", labels, width, num_hidden_layers=layers, embedding_size=16)


def bert_folder(folder: Path, labels: Sequence[str]) -> Path:
    """Saves a BERT."""
    return _saved(folder, "Bert", labels)


def roberta_folder(folder: Path, labels: Sequence[str]) -> Path:
    """Saves a RoBERTa, which counts positions from behind that of padding."""
    return _saved(folder, "Roberta", labels, max_position_embeddings=514, type_vocab_size=1, pad_token_id=1)


def deberta_folder(folder: Path, labels: Sequence[str]) -> Path:
    """Saves a DeBERTa with positions by distance, of the second kind."""
    return _saved(folder, "DebertaV2", labels, relative_attention=True, pos_att_type=["p2c", "c2p"], type_vocab_size=0)


def _saved(folder: Path, kind: str, labels: Sequence[str], width: int = 32, **settings: Any) -> Path:
    import transformers

    plain: dict[str, Any] = {
        "vocab_size": 120,
        "hidden_size": width,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 2 * width,
        "max_position_embeddings": 512,
        "id2label": dict(enumerate(labels)),
        "label2id": {label: number for number, label in enumerate(labels)},
    }
    config = getattr(transformers, f"{kind}Config")(**plain | settings)
    model = getattr(transformers, f"{kind}ForSequenceClassification")(config).eval()
    fill(model)
    model.save_pretrained(folder)
    tokenizer = tiny_models.bert_tokenizer()
    tokenizer.model_max_length = 512
    if settings.get("type_vocab_size", 2) < 2:
        tokenizer.model_input_names = ["input_ids", "attention_mask"]
    tokenizer.save_pretrained(folder)
    return folder


def fill(model: Any) -> None:
    """Gives every weight numbers that depend on its name and shape alone; outputs are then not all equal."""
    import torch

    for name, weight in model.named_parameters():
        # Not the newer generators: only this one's numbers are promised to stay.
        picker = np.random.RandomState(zlib.crc32(name.encode()))
        numbers = 0.4 * picker.standard_normal(tuple(weight.shape))
        is_scale = "norm" in name.lower() and name.endswith("weight")
        with torch.no_grad():
            weight.copy_(torch.from_numpy(numbers * 0.2 + 1 if is_scale else numbers))
