"""Tiny language models whose weights and tokenizers are the same in every version of the libraries."""

from pathlib import Path

import numpy as np

END = "</s>"
_SPECIAL = ("<pad>", END, "<unk>")
_WORDS = ("the", "refund", "period", "is", "days", "two", "cats", "sleep", "order", "back", "within")
WINDOW = 64


def byte_tokenizer(window: int = WINDOW, ends: bool = False):
    """Byte-level BPE that knows a few words, with and without the space before them; ``ends`` adds the end token."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    merges: list[tuple[str, str]] = []
    for word in _WORDS:
        for end in range(1, len(word)):
            if (word[:end], word[end]) not in merges:
                merges.append((word[:end], word[end]))
    merges += [("Ġ", word) for word in _WORDS]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    pieces = [*_SPECIAL, *letters, *("".join(merge) for merge in merges)]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    if ends:
        tokenizer.post_processor = processors.TemplateProcessing(f"$A {END}", special_tokens=[(END, 1)])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token=END,
        unk_token="<unk>",
        model_max_length=window,
        model_input_names=["input_ids", "attention_mask"],
    )


def filled(model, seed: int = 0, scale: float = 0.4):
    """The model with weights from numpy's generator: torch's, and who asks it first, differ between versions."""
    import torch

    picker = np.random.default_rng(seed)
    with torch.no_grad():
        for name, weight in sorted(model.named_parameters()):
            drawn = picker.normal(size=tuple(weight.shape)) * (scale if weight.dim() > 1 else 0.1)
            is_gain = weight.dim() == 1 and name.endswith("weight")
            weight.copy_(torch.from_numpy(drawn + is_gain).float())
    return model.eval()


def causal_folder(
    folder: Path, layers: int = 2, width: int = 32, window: int = WINDOW, architecture: str = "gpt2", **settings: object
) -> Path:
    """Saves a causal model and its tokenizer; ``settings`` go to its configuration."""
    import transformers

    name, sizes = _CAUSAL[architecture]
    tokenizer = byte_tokenizer(window)
    given = {"layers": layers, "width": width, "wide": 4 * width, "heads": max(2, width // 32), "window": window}
    config = getattr(transformers, f"{name}Config")(
        vocab_size=len(tokenizer),
        bos_token_id=1,
        eos_token_id=1,
        pad_token_id=0,
        **{setting: given.get(value, value) for setting, value in sizes.items()} | settings,
    )
    suffix = "LMHeadModel" if name == "GPT2" else "ForCausalLM"
    filled(getattr(transformers, name + suffix)(config), scale=0.4 * (32 / width) ** 0.5).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


_LLAMA = {
    "num_hidden_layers": "layers", "hidden_size": "width", "intermediate_size": "wide",
    "num_attention_heads": "heads", "num_key_value_heads": "heads", "max_position_embeddings": "window",
}  # fmt: skip
_CAUSAL = {
    "gpt2": ("GPT2", {"n_layer": "layers", "n_embd": "width", "n_head": "heads", "n_positions": "window"}),
    "opt": (
        "OPT",
        {
            "num_hidden_layers": "layers",
            "hidden_size": "width",
            "num_attention_heads": "heads",
            "max_position_embeddings": "window",
            "ffn_dim": "wide",
            "word_embed_proj_dim": 16,
        },
    ),
    "gpt_neox": ("GPTNeoX", {name: value for name, value in _LLAMA.items() if name != "num_key_value_heads"}),
    "llama": ("Llama", _LLAMA),
    # What these do to their logits beside a multiplication: a soft cap, a scale, another.
    "gemma2": ("Gemma2", {**_LLAMA, "head_dim": 16, "final_logit_softcapping": 2.0, "sliding_window": 16}),
    "cohere": ("Cohere", {**_LLAMA, "logit_scale": 0.25}),
    "granite": ("Granite", {**_LLAMA, "logits_scaling": 3.0}),
    # No positions, but a slope for each head; and no attention at all.
    "bloom": ("Bloom", {"n_layer": "layers", "hidden_size": "width", "n_head": "heads"}),
    "mamba": ("Mamba", {"num_hidden_layers": "layers", "hidden_size": "width", "state_size": 4}),
    "mixtral": (
        "Mixtral",
        {**_LLAMA, "num_local_experts": 2, "num_experts_per_tok": 1},
    ),
}
ARCHITECTURES = tuple(_CAUSAL)


def encoder_decoder_folder(
    folder: Path, layers: int = 2, width: int = 32, window: int = WINDOW, architecture: str = "t5"
) -> Path:
    """Saves a model of encoder and decoder, and a tokenizer that puts the end token behind every text."""
    from transformers import BartConfig, BartForConditionalGeneration, T5Config, T5ForConditionalGeneration

    tokenizer = byte_tokenizer(window, ends=True)
    special = {"vocab_size": len(tokenizer), "pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
    heads = max(2, width // 32)
    if architecture == "t5":
        sizes = {"d_model": width, "d_ff": 4 * width, "d_kv": width // heads, "num_layers": layers, "num_heads": heads}
        model = T5ForConditionalGeneration(T5Config(**special, **sizes, feed_forward_proj="gated-gelu"))
    else:
        sizes = {f"{operand}_{name}": value for operand in ("encoder", "decoder") for name, value in (
            ("layers", layers), ("attention_heads", heads), ("ffn_dim", 4 * width))}  # fmt: skip
        model = BartForConditionalGeneration(
            BartConfig(**special, **sizes, d_model=width, max_position_embeddings=window, forced_eos_token_id=None)
        )
    filled(model, scale=0.4 * (32 / width) ** 0.5).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def unigram_folder(folder: Path, probabilities: dict[str, float]) -> Path:
    """Saves a GPT-2 for which a token is as likely as said, whatever stands before it; others share what is left."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    tokenizer = byte_tokenizer()
    count = len(tokenizer)
    said = {tokenizer(piece, add_special_tokens=False)["input_ids"][0]: value for piece, value in probabilities.items()}
    rest = (1 - sum(said.values())) / (count - len(said))
    config = GPT2Config(
        vocab_size=count, n_layer=1, n_embd=4, n_head=1, n_positions=WINDOW, bos_token_id=1, eos_token_id=1
    )
    model = GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.zero_()
        # The last normalisation gives (1, 0, 0, 0) for every token, so logits are the first column of the embeddings.
        model.transformer.ln_f.bias[0] = 1.0
        logits = [float(np.log(said.get(token, rest))) for token in range(count)]
        model.transformer.wte.weight[:, 0] = torch.tensor(logits)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
