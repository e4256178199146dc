"""Makes graded.json: nDCG of graded relevance by scikit-learn's ``ndcg_score``.

Run: python tests/golden/make_graded.py (needs scikit-learn and numpy, and nothing of ours).
"""

import importlib.metadata
import json
import random
from pathlib import Path

from sklearn.metrics import ndcg_score


def ndcg(gains: list[int], k: int) -> float:
    """The gains are in the order of their ranks; what has no gain at all is 0 in scikit-learn, too."""
    ranked = [list(range(len(gains), 0, -1))]
    return float(ndcg_score([gains], ranked, k=k or None))


def main() -> None:
    picker = random.Random(20261123)
    lists = [[3, 0, 2], [0, 0, 0, 1], [3, 3, 3], [1, 2, 3], [0, 0]]
    lists += [[picker.randint(0, 3) for _ in range(picker.randint(2, 12))] for _ in range(20)]
    cases = [
        {
            "grades": grades,
            "k": k,
            "linear": ndcg(grades, k),
            "exponential": ndcg([2**grade - 1 for grade in grades], k),
        }
        for grades in lists
        for k in (0, 1, 3, 5)
    ]
    made = {
        "library": {"scikit-learn": importlib.metadata.version("scikit-learn")},
        "version": 1,
        "made_by": "tests/golden/make_graded.py",
    }
    lines = ",\n  ".join(json.dumps(case) for case in cases)
    text = json.dumps(made, indent=1).removesuffix("\n}") + f',\n "cases": [\n  {lines}\n ]\n}}\n'
    Path(__file__).with_name("graded.json").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
