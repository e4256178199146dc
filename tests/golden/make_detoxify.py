"""Makes detoxify.json: what Detoxify says of some sentences with tiny models, whose weights are written down as well.

Run: python tests/golden/make_detoxify.py (needs detoxify without its dependencies, torch, transformers; none of ours)
"""

import importlib.metadata
import json
import string
import tempfile
from pathlib import Path

import numpy as np
import torch
from detoxify import Detoxify
from transformers import BertConfig, BertForSequenceClassification

WINDOW = 24
LABELS = {
    "original": ["toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate"],
    "unbiased": [
        *("toxicity", "severe_toxicity", "obscene", "identity_attack", "insult", "threat", "sexual_explicit"),
        *("male", "female", "muslim"),
    ],
}
SENTENCES = [
    "You are a fool.",
    "Go.",
    "Have a nice day and thank you for your patience with us.",
    "I will find you and then you will see what comes of it all.",
    "a",
    "",
    "Nobody like you should be let in here, they said, and so on and on.",
]
# Each word is a token or two, each other letter one: some sentences are longer than the window.
VOCABULARY = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "you", "are", "a", "fool", "have", "nice", "day", "and", "the"),
    *("will", "find", "##s", "##ed", "said", ".", ","),
    *(letter for letter in string.ascii_lowercase if letter != "a"),
    *(f"##{letter}" for letter in string.ascii_lowercase if letter != "s"),
]


def tiny(labels: list[str], seed: int) -> BertForSequenceClassification:
    """A model whose weights have three decimals, so that they can be written down."""
    config = BertConfig(
        vocab_size=len(VOCABULARY), hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=12,
        max_position_embeddings=WINDOW, num_labels=len(labels),
    )  # fmt: skip
    model = BertForSequenceClassification(config).eval()
    picker = np.random.default_rng(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            # So large that what is said of the sentences differs.
            mean, spread = (1, 0.1) if name.endswith("LayerNorm.weight") else (0, 1.2 if parameter.dim() > 1 else 0.2)
            weights = picker.normal(mean, spread, size=tuple(parameter.shape)).round(3)
            parameter.copy_(torch.tensor(weights, dtype=torch.float32))
    return model


def case(name: str, seed: int) -> dict[str, object]:
    labels = LABELS[name]
    model = tiny(labels, seed)
    state = {key: tensor for key, tensor in model.state_dict().items() if tensor.is_floating_point()}
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        model.config.save_pretrained(folder)
        (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
        config = {"tokenizer_class": "BertTokenizer", "model_max_length": WINDOW, "do_lower_case": True}
        (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
        named = {"model_name": "BertForSequenceClassification", "tokenizer_name": "BertTokenizer"}
        arch = {"model_type": str(folder), "num_classes": len(labels), **named}
        checkpoint = {"config": {"arch": {"args": arch}, "dataset": {"args": {"classes": labels}}}, "state_dict": state}
        torch.save(checkpoint, folder / "tiny.ckpt")
        upstream = Detoxify(checkpoint=str(folder / "tiny.ckpt"), huggingface_config_path=str(folder))
        values = [upstream.predict(sentence) for sentence in SENTENCES]
        read = [len(upstream.tokenizer(sentence)["input_ids"]) for sentence in SENTENCES]
    return {
        "name": name,
        "labels": labels,
        "config": {key: value for key, value in model.config.to_diff_dict().items() if key not in NOT_KEPT},
        "weights": {key: np.round(tensor.double().numpy(), 3).tolist() for key, tensor in state.items()},
        "sentences": SENTENCES,
        "tokens": read,
        "values": values,
    }


NOT_KEPT = ("id2label", "label2id", "transformers_version", "dtype")


def main() -> None:
    golden = {
        "library": {
            "detoxify": importlib.metadata.version("detoxify"),
            "torch": torch.__version__.partition("+")[0],
            "transformers": importlib.metadata.version("transformers"),
        },
        "made_by": "tests/golden/make_detoxify.py",
        "vocabulary": VOCABULARY,
        "window": WINDOW,
        "cases": [case(name, seed) for seed, name in enumerate(LABELS)],
    }
    text = json.dumps(golden, separators=(",", ":"))
    Path(__file__).with_name("detoxify.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
