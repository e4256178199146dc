"""Packs what training changed: low-rank factors in 8 bits of every matrix, small arrays whole, and temperatures.

Run: python tests/benchmarks/training/adapters.py CHECKPOINT ... OUT.npz [--onto FILE.npz]
       [--temperatures SUPPORT CORRECT]

Of several checkpoints of one training the mean of the weights is packed: it has what each was good at.
With ``--onto`` what is packed is the change from those adapters, of a lower rank and without places.
"""

import argparse
from pathlib import Path

import numpy as np
from network import LAYERS, load, names_of, packaged_network
from pool import CONFIG


def factors(change, rank):
    """The two factors of the best approximation of that rank, and the share of the change's energy that is lost."""
    left, sizes, right = np.linalg.svd(change.astype(np.float64), full_matrices=False)
    root = np.sqrt(sizes[:rank])
    lost = 1 - (sizes[:rank] ** 2).sum() / (sizes**2).sum()
    return left[:, :rank] * root, root[:, None] * right[:rank], lost


def in_bytes(matrix):
    scale = np.maximum(np.abs(matrix).max(1), 1e-12) / 127
    return np.rint(matrix / scale[:, None]).astype(np.int8), scale.astype(np.float32)


def packed(state, base, rank, temperatures):
    """The arrays of the file, and the mean share of energy lost."""
    found, lost = {}, []
    for layer in range(LAYERS):
        for ours, theirs in names_of(layer).items():
            for place, name in enumerate(theirs):
                size = len(state[f"{ours}.bias"]) // len(theirs)
                rows = slice(size * place, size * (place + 1))
                bias, weight = state[f"{ours}.bias"][rows], state[f"{ours}.weight"][rows]
                found[f"{name}.bias"] = bias if weight.ndim == 1 else bias.astype(np.float16)
                if weight.ndim == 1:
                    found[f"{name}.weight"] = weight
                    continue
                left, right, share = factors(weight - base[f"{ours}.weight"][rows], rank)
                lost.append(share)
                for operand, matrix in (("left", left), ("right", right)):
                    found[f"{name}.weight:{operand}"], found[f"{name}.weight:{operand}_scale"] = in_bytes(matrix)
    for end in ("weight", "bias"):
        found[f"embeddings.LayerNorm.{end}"] = state[f"norm.{end}"]
        found[f"heads.{end}"] = np.concatenate([state[f"support.{end}"], state[f"correct.{end}"]])
    found["embeddings.kinds.weight"] = state["kind.weight"] - base["kind.weight"]
    found["temperatures"] = np.array(temperatures, np.float32)
    return found, float(np.mean(lost))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path, nargs="+")
    parser.add_argument("out", type=Path)
    parser.add_argument("--onto", type=Path, help="adapters that are merged before these")
    parser.add_argument("--temperatures", type=float, nargs=2, default=(1.0, 1.0))
    given = parser.parse_args()
    base, *states = (
        {name: value.detach().numpy() for name, value in network.state_dict().items()}
        for network in (load(given.onto) if given.onto else packaged_network(), *map(load, given.checkpoint))
    )
    state = {name: np.mean([one[name] for one in states], axis=0, dtype=np.float32) for name in base}
    rank = (CONFIG["correctness"] if given.onto else CONFIG)["rank"]
    found, lost = packed(state, base, rank, given.temperatures)
    if not given.onto:
        found["embeddings.position_embeddings.weight"] = state["pos.weight"].astype(np.float16)
    np.savez(given.out, **found)
    print(f"{given.out.stat().st_size / 1e6:.1f} MB; {lost:.1%} of the energy of the changes is lost")


if __name__ == "__main__":
    main()
