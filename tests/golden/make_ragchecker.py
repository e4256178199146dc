"""Makes ragchecker.json: RAGChecker's metrics on matrices of verdicts, by its computation module alone.

Run: python tests/golden/make_ragchecker.py (needs ragchecker 0.1.9, also without what it depends on, and
dataclasses-json; nothing of ours)
"""

import importlib
import importlib.metadata
import importlib.util
import json
import sys
import types
from pathlib import Path

import numpy as np

WORDS = {True: "Entailment", False: "Neutral"}


def without_evaluator(package: str) -> None:
    """Let a package's modules be imported without its first module, which loads language models' libraries."""
    bare = types.ModuleType(package)
    bare.__path__ = importlib.util.find_spec(package).submodule_search_locations
    sys.modules[package] = bare


def matrix(picker: np.random.Generator, *shape: int) -> list:
    return (picker.random(shape) < picker.uniform(0.1, 0.8)).tolist()


def words(verdicts: list) -> list:
    return [words(verdict) if isinstance(verdict, list) else WORDS[verdict] for verdict in verdicts]


def case(picker: np.random.Generator, claims: int, expected: int, chunks: int) -> dict[str, object]:
    given = {
        "right": matrix(picker, claims),
        "covered": matrix(picker, expected),
        "answer_by_chunk": matrix(picker, claims, chunks),
        "expected_by_chunk": matrix(picker, expected, chunks),
    }
    computation = importlib.import_module("ragchecker.computation")
    container = importlib.import_module("ragchecker.container")
    result = container.RAGResult(
        "1",
        "question",
        "expected",
        "answer",
        answer2response=words(given["right"]),
        response2answer=words(given["covered"]),
        retrieved2response=words(given["answer_by_chunk"]),
        retrieved2answer=words(given["expected_by_chunk"]),
    )
    for evaluate in computation.METRIC_FUNC_MAP.values():
        evaluate(result)
    return {**given, "values": {name: float(value) for name, value in result.metrics.items()}}


def main() -> None:
    without_evaluator("ragchecker")
    picker = np.random.default_rng(20261121)
    shapes = [(1, 1, 1), (2, 3, 1), (3, 4, 3), (4, 2, 2), (5, 5, 4), (7, 3, 5), (3, 6, 8), (10, 9, 6)]
    golden = {
        "library": "ragchecker",
        "version": importlib.metadata.version("ragchecker"),
        "made_by": "tests/golden/make_ragchecker.py",
        "cases": [case(picker, *shape) for shape in shapes * 3],
    }
    text = json.dumps(golden, indent=1)
    Path(__file__).with_name("ragchecker.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
