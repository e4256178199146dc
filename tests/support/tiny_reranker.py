"""Tiny rerankers: cross-encoders with one output, saved as those of the hub are."""

from collections.abc import Sequence
from pathlib import Path

import tiny_entailment


def reranker_folder(folder: Path, labels: Sequence[str] = ("LABEL_0",)) -> Path:
    """Saves a BERT that reads 512 tokens; its scores depend on every letter of both texts."""
    return tiny_entailment.bert_folder(folder, labels)


def score_of(folder: Path, question: str, passage: str) -> float:
    """What the model says of a pair by transformers alone, without padding."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    read = tokenizer([question], [passage], truncation=True, max_length=512, return_tensors="pt")
    with torch.inference_mode():
        logits = model(**read).logits[0]
    return float(logits[1] - logits[0] if len(logits) == 2 else logits[0])
