"""Makes ndcg.json: nDCG by scikit-learn of rankings in which every piece of evidence is one passage.

Run: python tests/golden/make_ndcg.py (needs scikit-learn, and nothing of ours)
"""

import importlib.metadata
import json
import random
from pathlib import Path

import numpy as np
from sklearn.metrics import ndcg_score


def case(picker: random.Random) -> dict[str, object]:
    """Ranks of the evidence, None where it was not retrieved, and nDCG at some cuts."""
    retrieved, groups = picker.randint(1, 12), picker.randint(1, 5)
    ranks = [rank if rank <= retrieved else None for rank in picker.sample(range(1, retrieved + 4), groups)]
    # What was not retrieved stands behind every cut: it counts in the best order only.
    missed = sum(rank is None for rank in ranks)
    relevant = [float(rank in ranks) for rank in range(1, retrieved + 1)]
    values = {}
    for cut in (1, 3, 5, 10):
        behind = [0.0] * max(2, cut - retrieved)
        shown = np.array([*relevant, *behind, *[1.0] * missed])
        values[str(cut)] = float(ndcg_score([shown], [np.arange(len(shown), 0, -1)], k=cut))
    return {"ranks": ranks, "retrieved": retrieved, "values": values}


def main() -> None:
    picker = random.Random(20261121)
    golden = {
        "library": "scikit-learn",
        "version": importlib.metadata.version("scikit-learn"),
        "made_by": "tests/golden/make_ndcg.py",
        "cases": [case(picker) for _ in range(60)],
    }
    text = json.dumps(golden)
    Path(__file__).with_name("ndcg.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
