"""Makes calibration.json: means corrected by prediction-powered inference, by ppi-python, and kappa by scikit-learn.

Run: python tests/golden/make_calibration.py (needs ppi-python and scikit-learn, and nothing of ours)
"""

import importlib.metadata
import json
import random
from pathlib import Path

import numpy as np
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from sklearn.metrics import accuracy_score, cohen_kappa_score, recall_score

WEIGHTS = (0.0, 0.3, 1.0)  # the library tunes with another variance, so its own weight is for the worked example


def estimate(data: dict[str, list[float]], weight: float | None) -> dict[str, float | None]:
    """Point estimate and 95 % interval with a weight; None lets the library choose it."""
    given = [np.array(data[name], float) for name in ("labels", "verdicts", "others")]
    low, high = ppi_mean_ci(*given, alpha=0.05, lam=weight)
    mean = ppi_mean_pointestimate(*given, lam=weight)
    return {"weight": weight, "mean": float(mean[0]), "low": float(low[0]), "high": float(high[0])}


def case(data: dict[str, list[float]]) -> dict[str, object]:
    """The data with what the libraries say of them."""
    made: dict[str, object] = {**data, "estimates": [estimate(data, weight) for weight in WEIGHTS]}
    if set(data["labels"] + data["verdicts"]) <= {0, 1}:
        pair = data["labels"], data["verdicts"]
        made["agreement"] = float(accuracy_score(*pair))
        made["kappa"] = float(cohen_kappa_score(*pair))
        for name, label in (("sensitivity", 1), ("specificity", 0)):
            made[name] = float(recall_score(*pair, pos_label=label)) if label in data["labels"] else None
    return made


def drawn(picker: random.Random, binary: bool) -> dict[str, list[float]]:
    """Labels, verdicts that follow them with some noise, and verdicts on more rows."""

    def value() -> float:
        return float(picker.random() < 0.6) if binary else round(picker.random(), 3)

    labels = [value() for _ in range(picker.randint(8, 60))]
    verdicts = [label if picker.random() < 0.8 else value() for label in labels]
    return {"labels": labels, "verdicts": verdicts, "others": [value() for _ in range(picker.randint(5, 200))]}


def main() -> None:
    picker = random.Random(20261121)
    example: dict[str, list[float]] = {
        "labels": [1, 0, 1, 1, 0, 1, 0, 1, 1, 0],
        "verdicts": [1, 0, 1, 0, 0, 1, 1, 1, 1, 1],
        "others": [1] * 28 + [0] * 12,
    }
    golden = {
        "library": "ppi-python, scikit-learn",
        "version": ", ".join(importlib.metadata.version(name) for name in ("ppi-python", "scikit-learn")),
        "made_by": "tests/golden/make_calibration.py",
        "worked_example": {**case(example), "tuned": estimate(example, None)},
        "cases": [case(drawn(picker, binary)) for binary in (True, False) for _ in range(12)],
    }
    Path(__file__).with_name("calibration.json").write_text(json.dumps(golden) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
