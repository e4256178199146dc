"""Makes lettucedetect.json: which spans LettuceDetect marks with a tiny model, whose weights are written down as well.

Run: python tests/golden/make_lettucedetect.py (needs lettucedetect without its dependencies, openai, torch,
transformers; none of ours)
"""

import importlib.metadata
import json
import tempfile
from pathlib import Path

import numpy as np
import torch
from lettucedetect.models.inference import HallucinationDetector
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import ModernBertConfig, ModernBertForTokenClassification, PreTrainedTokenizerFast

MARKS = ["[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"]
CASES = [
    (["Refunds take 14 days."], "How long?", "It takes 14 days. We pay in cash."),
    (["Refunds take 14 days.", "Send it by post."], "How, and how long?", "Fourteen days, by post 📦."),
    (["Die Gebühr beträgt 5 €."], None, "Die Gebühr: 5 €.\r\n\r\nSie ist fällig."),
    (["漢字 are used.", ""], "Which letters?", "  漢字, naïve cafe\u0301, 👩‍👩‍👧  "),
    (["a"], "b", "c"),
    (["One. " * 40], "How many?", "One."),
    (["x {context} $question"], "{text} ${context}", "Braces { } and $ are letters like others."),
]


def tokenizer() -> PreTrainedTokenizerFast:
    """Every byte is a token."""
    letters = {piece: number for number, piece in enumerate([*MARKS, *sorted(pre_tokenizers.ByteLevel.alphabet())])}
    made = Tokenizer(models.BPE(letters, [], unk_token="[UNK]"))
    made.normalizer = normalizers.NFC()
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:0 [SEP]:0", special_tokens=[("[CLS]", 0), ("[SEP]", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made, cls_token="[CLS]", pad_token="[PAD]", sep_token="[SEP]", unk_token="[UNK]",
        model_input_names=["input_ids", "attention_mask"],
    )  # fmt: skip


def tiny(vocabulary: int) -> ModernBertForTokenClassification:
    """A model whose weights have two decimals, so that they can be written down."""
    config = ModernBertConfig(
        vocab_size=vocabulary, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=8,
        max_position_embeddings=1024, local_attention=16, num_labels=2, pad_token_id=1, bos_token_id=0, cls_token_id=0,
        eos_token_id=2, sep_token_id=2,
    )  # fmt: skip
    model = ModernBertForTokenClassification(config).eval()
    picker = np.random.default_rng(3)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            mean = 1 if "norm" in name and name.endswith("weight") else 0
            weights = picker.normal(mean, 0.1 if mean else 0.7, size=tuple(parameter.shape)).round(2)
            parameter.copy_(torch.tensor(weights, dtype=torch.float32))
    return model


def main() -> None:
    """Write the file beside this script."""
    words = tokenizer()
    model = tiny(len(words))
    with tempfile.TemporaryDirectory() as made:
        model.save_pretrained(made)
        words.save_pretrained(made)
        config = json.loads(Path(made, "config.json").read_text("utf-8"))
        tokens = json.loads(Path(made, "tokenizer.json").read_text("utf-8"))
        detector = HallucinationDetector(method="transformer", model_path=made, device="cpu")
        cases = [
            {
                "contexts": contexts,
                "question": question,
                "answer": answer,
                "spans": detector.predict(contexts, answer, question, output_format="spans"),
            }
            for contexts, question, answer in CASES
        ]
    weights = {name: np.round(value.double().numpy(), 2).tolist() for name, value in model.state_dict().items()}
    libraries = ("lettucedetect", "torch", "transformers")
    golden = {
        "library": {name: importlib.metadata.version(name).partition("+")[0] for name in libraries},
        "made_by": "tests/golden/make_lettucedetect.py",
        "config": config,
        "tokenizer": tokens,
        "weights": weights,
        "cases": cases,
    }
    text = json.dumps(golden, ensure_ascii=False, separators=(",", ":"))
    Path(__file__).with_name("lettucedetect.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
