"""Tiny checkers on T5, random weights, saved the way transformers saves them; and those that a golden file holds."""

import json
import string
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any, Literal

WORDS = ("the", "refund", "period", "is", "days", "two", "cats", "sleep")
_OF_PROMPTS = ("Determine", "if", "hypothesis", "true", "given", "premise?", "Premise:", "Hypothesis:", "predict:")
VOCABULARY = 260


def t5_tokenizer():
    """A unigram tokenizer with T5's marks, in which each of ``WORDS`` is one token, and each word of the prompts."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    signs = [*string.ascii_letters, *string.digits, *".,:?!'-_<>"]
    pairs = ["".join(pair) for pair in product("aeiounrst", repeat=2)]
    pieces = ["<pad>", "</s>", "<unk>", "▁", *(f"▁{word}" for word in (*WORDS, *_OF_PROMPTS)), *signs, *pairs]
    pieces += [f"▁{letter}" for letter in string.ascii_letters]
    pieces += [f"<extra_{number}>" for number in range(VOCABULARY - len(pieces))]
    scores = [0.0 if piece.startswith("<") else -10.0 + len(piece) for piece in pieces]
    tokenizer = Tokenizer(models.Unigram(list(zip(pieces, scores, strict=True)), unk_id=2, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tokenizer.post_processor = processors.TemplateProcessing("$A </s>", "$A </s> $B </s>", [("</s>", 1)])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="<unk>",
        pad_token="<pad>",
        eos_token="</s>",
        model_input_names=["input_ids", "attention_mask"],
    )


def t5_folder(
    folder: Path,
    made_for: Literal["TokenClassification", "ConditionalGeneration"],
    layers: int = 2,
    width: int = 32,
    window: int = 512,
    seed: int = 0,
    **settings: object,
) -> Path:
    """Saves HHEM 2.1 in small (for token classification) or MiniCheck-Flan-T5 (for conditional generation).

    The window is what the tokenizer says, as T5's do: the models read more.
    """
    import torch
    import transformers

    torch.manual_seed(seed)
    known: dict[str, object] = {
        "vocab_size": VOCABULARY,
        "d_model": width,
        "d_kv": 16,
        "d_ff": 2 * width,
        "num_layers": layers,
        "num_heads": max(2, width // 16),
        "feed_forward_proj": "gated-gelu",
        "tie_word_embeddings": False,
        "initializer_factor": 1.0,
        "num_labels": 2,
        "pad_token_id": 0,
        "eos_token_id": 1,
        "decoder_start_token_id": 0,
    }
    config = transformers.T5Config(**(known | settings))
    getattr(transformers, f"T5For{made_for}")(config).eval().save_pretrained(folder)
    tokenizer = t5_tokenizer()
    tokenizer.model_max_length = window
    tokenizer.save_pretrained(folder)
    return folder


def golden_folder(folder: Path, case: Mapping[str, Any]) -> Path:
    """Saves the model that a case of ``checkers.json`` writes down."""
    import torch
    from safetensors.torch import save_file

    folder.mkdir(parents=True)
    for name in ("config", "tokenizer", "tokenizer_config"):
        (folder / f"{name}.json").write_text(json.dumps(case[name]), encoding="utf-8")
    weights = {name: torch.tensor(values, dtype=torch.float32) for name, values in case["weights"].items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder
