"""Makes classification.json: accuracy, precision, recall, F1 and confusion matrices by scikit-learn.

Run: python tests/golden/make_classification.py (needs scikit-learn, and nothing of ours)
"""

import importlib.metadata
import json
import random
from pathlib import Path

from sklearn.metrics import accuracy_score, confusion_matrix, precision_recall_fscore_support

# The first is the worked example of the metric specification, the second its binary one.
CASES: list[tuple[list[str], list[str], str | None]] = [
    (["spam", "ham", "ham", "spam", "ham", "other"], ["spam", "ham", "spam", "spam", "ham", "none"], None),
    (["spam", "ham", "ham", "spam"], ["spam", "ham", "spam", "spam"], "spam"),
    (["a", "b", "a", "b"], ["a", "a", "a", "a"], None),  # one label is never predicted
    (["a", "b", "a", "b"], ["x", "y", "x", ""], None),  # nothing is right, and nothing is a label
    (["a", "b", "c"], ["a", "b", "c"], None),
    (["a", "b", "b"], ["a", "b", "a"], "b"),
    (["a", "b", "c", "c"], ["a", "b", "b", "c"], "c"),  # one label against two others
]


def drawn(count: int) -> list[tuple[list[str], list[str], str | None]]:
    picker = random.Random(20261121)
    made: list[tuple[list[str], list[str], str | None]] = []
    for _ in range(count):
        labels = ["red", "green", "blue", "white"][: picker.randint(2, 4)]
        expected = [*labels, *picker.choices(labels, k=picker.randint(0, 30))]
        predicted = [
            label if picker.random() < 0.6 else picker.choice([*labels, "grey", "", "a rose"]) for label in expected
        ]
        made.append((expected, predicted, picker.choice([None, labels[0]])))
    return made


def case(expected: list[str], predicted: list[str], positive: str | None) -> dict[str, object]:
    labels = sorted(set(expected))
    columns = [*labels, *sorted(set(predicted) - set(labels))]
    wanted = labels if positive is None else [positive]
    precision, recall, f1, _ = precision_recall_fscore_support(
        expected, predicted, labels=wanted, average="macro", zero_division=0
    )
    return {
        "expected": expected,
        "predicted": predicted,
        "positive_label": positive,
        "values": {
            "accuracy": float(accuracy_score(expected, predicted)),
            "precision": float(precision),
            "recall": float(recall),
            "f1": float(f1),
        },
        "labels": labels,
        "columns": columns,
        "counts": confusion_matrix(expected, predicted, labels=columns)[: len(labels)].tolist(),
    }


def main() -> None:
    golden = {
        "library": "scikit-learn",
        "version": importlib.metadata.version("scikit-learn"),
        "made_by": "tests/golden/make_classification.py",
        "cases": [case(*given) for given in [*CASES, *drawn(40)]],
    }
    text = json.dumps(golden, ensure_ascii=False, indent=1)
    Path(__file__).with_name("classification.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
