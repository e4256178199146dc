"""Tiny AlignScore and LettuceDetect models with random weights and a byte-level tokenizer, built in code."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

_ROBERTA: Final = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
_MODERNBERT: Final = ("[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]")
_TEXT: Final = ("the refund period is 14 days the", "two cats sleep the whole day", "Paris is the capital of France")
_VOCABULARY: Final = 400
WINDOW: Final = 64


def byte_tokenizer(marks: tuple[str, ...], window: int, between: str) -> Any:
    """A byte-level BPE tokenizer that knows a few words; a character of several bytes is several tokens.

    Args:
        marks: beginning, padding, end, unknown and mask, which have the ids 0 to 4.
        window: tokens that it says the model takes.
        between: what stands between the texts of a pair.
    """
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    begin, pad, end, unknown, mask = marks
    tokenizer = Tokenizer(models.BPE(unk_token=unknown))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    letters = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=_VOCABULARY, special_tokens=list(marks), initial_alphabet=letters, show_progress=False
    )
    tokenizer.train_from_iterator([*_TEXT] * 10, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}",
        pair=f"{begin} $A {between} $B:0 {end}:0",
        special_tokens=[(begin, 0), (end, 2)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=begin,
        cls_token=begin,
        pad_token=pad,
        eos_token=end,
        sep_token=end,
        unk_token=unknown,
        mask_token=mask,
        model_max_length=window,
        model_input_names=["input_ids", "attention_mask"],
    )


def alignscore_network(layers: int = 2, width: int = 128, window: int = WINDOW, seed: int = 0) -> Any:
    """AlignScore as its authors have it: RoBERTa with its pooler, three heads, and the language model's head."""
    import torch
    from transformers import RobertaConfig, RobertaModel

    torch.manual_seed(seed)
    config = RobertaConfig(
        vocab_size=_VOCABULARY,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=max(1, width // 64),
        intermediate_size=2 * width,
        max_position_embeddings=window + 2,
        type_vocab_size=1,
        layer_norm_eps=1e-5,
        initializer_range=0.5,
    )
    network = torch.nn.Module()
    network.base_model = RobertaModel(config)
    for name, outputs in (("bin_layer", 2), ("tri_layer", 3), ("reg_layer", 1), ("mlm_head", _VOCABULARY)):
        setattr(network, name, torch.nn.Linear(width, outputs))
    with torch.no_grad():
        network.tri_layer.weight.mul_(2)  # so that its outputs differ
    return network.eval()


def alignscore_folder(folder: Path, layers: int = 2, width: int = 128, window: int = WINDOW, seed: int = 0) -> Path:
    """Saves such a model the way a published checkpoint is prepared."""
    from proctor.knowledge.models.preparing import alignscore_config, alignscore_weights
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    weights = alignscore_weights(alignscore_network(layers, width, window, seed).state_dict())
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    (folder / "config.json").write_text(json.dumps(alignscore_config(weights)))
    byte_tokenizer(_ROBERTA, window, "</s> </s>").save_pretrained(folder)
    return folder


def span_detector_folder(folder: Path, layers: int = 2, width: int = 32, window: int = 256, **config: Any) -> Path:
    """Saves a ModernBERT with two labels for each token, the way transformers does."""
    import torch
    from transformers import ModernBertConfig, ModernBertForTokenClassification

    torch.manual_seed(0)
    known: Mapping[str, Any] = {
        "vocab_size": _VOCABULARY,
        "hidden_size": width,
        "num_hidden_layers": layers,
        "num_attention_heads": max(2, width // 32),
        "intermediate_size": 2 * width,
        "max_position_embeddings": window,
        "local_attention": 16,
        "initializer_range": 0.5,
        "initializer_cutoff_factor": 3.0,
        "pad_token_id": 1,
        "bos_token_id": 0,
        "cls_token_id": 0,
        "eos_token_id": 2,
        "sep_token_id": 2,
        "num_labels": 2,
    }
    model = ModernBertForTokenClassification(ModernBertConfig(**{**known, **config}))
    model.eval().save_pretrained(folder)
    byte_tokenizer(_MODERNBERT, int(1e30), "[SEP]").save_pretrained(folder)
    return folder


def golden_detector_folder(folder: Path, golden: Mapping[str, Any]) -> Path:
    """Saves the model that ``lettucedetect.json`` writes down."""
    import torch
    from safetensors.torch import save_file

    folder.mkdir()
    weights = {name: torch.tensor(values, dtype=torch.float32) for name, values in golden["weights"].items()}
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    marks = {"cls_token": "[CLS]", "pad_token": "[PAD]", "sep_token": "[SEP]", "unk_token": "[UNK]"}
    config = {"tokenizer_class": "PreTrainedTokenizerFast", **marks}
    for name, said in (("config", golden["config"]), ("tokenizer", golden["tokenizer"]), ("tokenizer_config", config)):
        (folder / f"{name}.json").write_text(json.dumps(said), encoding="utf-8")
    return folder
