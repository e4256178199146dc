"""Tiny sequence classifiers of several architectures, random weights, saved the way transformers saves them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tiny_models import bert_tokenizer

TOXIC_BERT = ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")
WINDOW = 64
# Of RoBERTa's 66 positions the first two are never used: they count from behind that of padding.
_KINDS = {
    "bert": ("Bert", {"max_position_embeddings": WINDOW}),
    "distilbert": ("DistilBert", {"max_position_embeddings": WINDOW}),
    "albert": ("Albert", {"max_position_embeddings": WINDOW, "embedding_size": 16}),
    "roberta": ("Roberta", {"max_position_embeddings": WINDOW + 2, "pad_token_id": 1}),
    "deberta": ("DebertaV2", {"max_position_embeddings": WINDOW, "relative_attention": True, "pos_att_type": ["p2c"]}),
}
ARCHITECTURES = tuple(_KINDS)


def classifier_folder(
    folder: Path,
    architecture: str = "bert",
    labels: Sequence[str] = TOXIC_BERT,
    layers: int = 2,
    width: int = 32,
    window: int = WINDOW,
    seed: int = 0,
    **settings: object,
) -> Path:
    """Saves a classifier with a tokenizer that knows of no window, so that the model's own counts."""
    import torch
    import transformers

    kind, own = _KINDS[architecture]
    positions = {"max_position_embeddings": own["max_position_embeddings"] - WINDOW + window}
    heads = {"num_attention_heads": max(2, width // 32), "n_heads": max(2, width // 32)}
    sizes = {"num_hidden_layers": layers, "n_layers": layers, "hidden_size": width, "dim": width}
    wide = {"intermediate_size": 4 * width, "hidden_dim": 4 * width}
    named = {"id2label": dict(enumerate(labels)), "label2id": {label: place for place, label in enumerate(labels)}}
    is_distil = architecture == "distilbert"
    known = {
        name: value
        for name, value in {**heads, **sizes, **wide}.items()
        if (name in ("n_heads", "n_layers", "dim", "hidden_dim")) == is_distil
    }
    config = getattr(transformers, f"{kind}Config")(
        **{
            "vocab_size": 120,
            "initializer_range": 0.25 * (32 / width) ** 0.5,
            "pad_token_id": 0,
            **known,
            **own,
            **positions,
            **named,
        }
        | settings
    )
    torch.manual_seed(seed)
    getattr(transformers, f"{kind}ForSequenceClassification")(config).eval().save_pretrained(folder)
    tokenizer = bert_tokenizer()
    tokenizer.model_max_length = int(1e30)
    tokenizer.save_pretrained(folder)
    return folder


def golden_folder(folder: Path, golden: Mapping[str, Any], case: Mapping[str, Any]) -> Path:
    """Saves the model that a case of ``detoxify.json`` writes down, with its vocabulary."""
    import torch
    from safetensors.torch import save_file

    folder.mkdir()
    labels = dict(enumerate(case["labels"]))
    config = {**case["config"], "id2label": labels, "architectures": ["BertForSequenceClassification"]}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "vocab.txt").write_text("\n".join(golden["vocabulary"]) + "\n", encoding="utf-8")
    tokenizer_config = {"tokenizer_class": "BertTokenizer", "model_max_length": golden["window"], "do_lower_case": True}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer_config), encoding="utf-8")
    weights = {name: torch.tensor(values, dtype=torch.float32) for name, values in case["weights"].items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder
