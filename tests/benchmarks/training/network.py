"""The encoder in torch, for training: MiniLM with six kinds of tokens in place of two segments, and two heads."""

from pathlib import Path

import numpy as np
import torch
from proctor.knowledge.models.encoder import _read_weights, packaged_folder
from proctor.knowledge.models.support_model import merged
from safetensors.torch import load_file
from torch import nn
from torch.nn import functional

WIDTH, HEADS, INNER, LAYERS, EPSILON = 384, 12, 1536, 6, 1e-12


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.o = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
        self.n1, self.n2 = nn.LayerNorm(WIDTH, EPSILON), nn.LayerNorm(WIDTH, EPSILON)

    def forward(self, value, mask):
        rows, length, _ = value.shape
        query, key, content = self.qkv(value).view(rows, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        with torch.autocast("cpu", enabled=False):  # in 16 bits its backward step takes four times as long
            mixed = functional.scaled_dot_product_attention(query.float(), key.float(), content.float(), attn_mask=mask)
        value = self.n1(value + self.o(mixed.transpose(1, 2).reshape(rows, length, WIDTH)))
        return self.n2(value + self.down(functional.gelu(self.up(value))))


class Network(nn.Module):
    """Logits of support (n, 3) and of correctness (n, 2), from the first token's vector and the mean of all."""

    def __init__(self):
        super().__init__()
        self.word, self.pos, self.kind = nn.Embedding(30522, WIDTH), nn.Embedding(512, WIDTH), nn.Embedding(6, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.support, self.correct = nn.Linear(2 * WIDTH, 3), nn.Linear(2 * WIDTH, 2)
        self.word.weight.requires_grad_(False)  # 47 MB that the packaged model has already

    def forward(self, ids, kinds, real):
        value = self.norm(self.word(ids) + self.pos.weight[: ids.shape[1]] + self.kind(kinds))
        for layer in self.layers:
            value = layer(value, real[:, None, None, :])
        mean = (value * real[:, :, None]).sum(1) / real.sum(1, keepdim=True)
        both = torch.cat([value[:, 0], mean], 1)
        return self.support(both), self.correct(both)


def packaged_network(seed: int = 1) -> Network:
    """With the packaged weights, and heads by chance."""
    torch.manual_seed(seed)
    network = Network()
    base = load_file(packaged_folder() / "model.safetensors")
    state = network.state_dict()
    state["word.weight"] = base["embeddings.word_embeddings.weight"]
    state["pos.weight"] = base["embeddings.position_embeddings.weight"]
    state["kind.weight"] = base["embeddings.token_type_embeddings.weight"].repeat(3, 1)
    for end in ("weight", "bias"):
        state[f"norm.{end}"] = base[f"embeddings.LayerNorm.{end}"]
        for layer in range(LAYERS):
            for ours, theirs in names_of(layer).items():
                state[f"{ours}.{end}"] = torch.cat([base[f"{one}.{end}"] for one in theirs])
    for head in ("support", "correct"):
        state[f"{head}.weight"] = torch.randn_like(state[f"{head}.weight"]) * 0.02
        state[f"{head}.bias"] = torch.zeros_like(state[f"{head}.bias"])
    network.load_state_dict(state)
    return network


def names_of(layer: int) -> dict[str, list[str]]:
    """Our modules of a layer, and what they are called in the packaged weights."""
    ours, theirs = f"layers.{layer}.", f"encoder.layer.{layer}."
    return {
        f"{ours}qkv": [f"{theirs}attention.self.{one}" for one in ("query", "key", "value")],
        f"{ours}o": [f"{theirs}attention.output.dense"],
        f"{ours}n1": [f"{theirs}attention.output.LayerNorm"],
        f"{ours}up": [f"{theirs}intermediate.dense"],
        f"{ours}down": [f"{theirs}output.dense"],
        f"{ours}n2": [f"{theirs}output.LayerNorm"],
    }


def load(path: Path) -> Network:
    """A checkpoint of ``train.py``, or the adapters that ship, to go on from."""
    network = packaged_network()
    network.load_state_dict(torch.load(path)["net"] if path.suffix == ".pt" else _unpacked(path, network))
    return network


def _unpacked(path: Path, network: Network) -> dict[str, torch.Tensor]:
    weights, _ = merged(_read_weights(packaged_folder() / "model.safetensors"), path)
    found = {name: torch.from_numpy(np.array(value, np.float32)) for name, value in weights.items()}
    state = network.state_dict()
    state["pos.weight"] = found["embeddings.position_embeddings.weight"]
    state["kind.weight"] = found["embeddings.kinds.weight"]
    for end in ("weight", "bias"):
        state[f"norm.{end}"] = found[f"embeddings.LayerNorm.{end}"]
        state[f"support.{end}"], state[f"correct.{end}"] = found[f"heads.{end}"][:3], found[f"heads.{end}"][3:]
        for layer in range(LAYERS):
            for ours, theirs in names_of(layer).items():
                state[f"{ours}.{end}"] = torch.cat([found[f"{one}.{end}"] for one in theirs])
    return state
