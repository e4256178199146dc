"""Makes ragas.json: scores of Ragas' own score functions on verdicts; no judge is asked and nothing is fetched.

Run: python tests/golden/make_ragas.py (needs ragas 0.4.3 and langchain-community<0.4, and nothing of ours)
"""

import asyncio
import importlib.metadata
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from ragas.metrics import (
    AnswerCorrectness,
    ContextEntityRecall,
    Faithfulness,
    LLMContextPrecisionWithReference,
    LLMContextRecall,
    NoiseSensitivity,
    ResponseRelevancy,
)


class FixedVectors:
    """An embedding model that knows the vectors of some texts."""

    def __init__(self, vectors: dict[str, list[float]]) -> None:
        self._vectors = vectors

    def embed_query(self, text: str) -> list[float]:
        return self._vectors[text]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self._vectors[text] for text in texts]


def matrix(picker: np.random.Generator, *shape: int) -> list:
    return (picker.random(shape) < picker.uniform(0.2, 0.8)).tolist()


def verdicts(case: dict) -> dict[str, float]:
    """Values of the metrics that rest on verdicts about claims, sentences and chunks."""
    supported = [SimpleNamespace(verdict=int(verdict)) for verdict in case["supported"]]
    useful = [SimpleNamespace(verdict=int(verdict)) for verdict in case["useful"]]
    attributed = [SimpleNamespace(attributed=int(verdict)) for verdict in case["attributed"]]
    operands = SimpleNamespace(
        TP=[1 for right in case["right"] if right],
        FP=[1 for right in case["right"] if not right],
        FN=[1 for covered in case["covered"] if not covered],
    )
    noise = {
        "ground_truth2answer": np.array(case["right"]),
        "retrieved2ground_truth": np.array(case["expected_by_chunk"]),
        "retrieved2answer": np.array(case["answer_by_chunk"]),
    }
    return {
        "faithfulness": Faithfulness()._compute_score(SimpleNamespace(statements=supported)),
        "context_precision": LLMContextPrecisionWithReference()._calculate_average_precision(useful),
        "context_recall": LLMContextRecall()._compute_score(attributed),
        "factual_f1": AnswerCorrectness()._compute_statement_presence(operands),
        "noise_sensitivity_relevant": NoiseSensitivity(mode="relevant")._compute_score(noise),
        "noise_sensitivity_irrelevant": NoiseSensitivity(mode="irrelevant")._compute_score(noise),
    }


def verdict_case(picker: np.random.Generator, claims: int, expected: int, chunks: int) -> dict[str, object]:
    case = {
        "supported": matrix(picker, claims),
        "right": matrix(picker, claims),
        "covered": matrix(picker, expected),
        "useful": matrix(picker, chunks),
        "attributed": matrix(picker, expected),
        "answer_by_chunk": matrix(picker, claims, chunks),
        "expected_by_chunk": matrix(picker, expected, chunks),
    }
    return {**case, "values": {name: float(value) for name, value in verdicts(case).items()}}


def relevancy_case(picker: np.random.Generator, noncommittal: list[bool]) -> dict[str, object]:
    texts = ["question", *(f"reverse {number}" for number in range(len(noncommittal)))]
    vectors = {text: picker.normal(size=4).tolist() for text in texts}
    metric = ResponseRelevancy(embeddings=FixedVectors(vectors))
    asked = [SimpleNamespace(question=text, noncommittal=int(no)) for text, no in zip(texts[1:], noncommittal)]  # noqa: B905
    value = float(metric._calculate_score(asked, {"user_input": "question"}))
    return {"vectors": vectors, "noncommittal": noncommittal, "value": value}


class Said:
    """Stands for a prompt or a metric under another one: it says what it was told."""

    def __init__(self, said: object) -> None:
        self._said = said

    async def generate(self, **given: object) -> object:
        return self._said

    async def single_turn_ascore(self, *given: object, **named: object) -> object:
        return self._said


def correctness_case(counts: tuple[int, int, int], similarity: float, weights: list[float]) -> dict[str, object]:
    operands = SimpleNamespace(**{operand: ["claim"] * count for operand, count in zip(("TP", "FP", "FN"), counts)})  # noqa: B905
    metric = AnswerCorrectness(weights=weights, answer_similarity=Said(similarity), llm=object())
    metric.statement_generator_prompt = Said(SimpleNamespace(statements=["claim"]))
    metric.correctness_prompt = Said(operands)
    row = {"user_input": "question", "response": "answer", "reference": "expected"}
    value = float(asyncio.run(metric._ascore(row, None)))
    return {"counts": list(counts), "similarity": similarity, "weights": weights, "value": value}


def entity_case(expected: list[str], found: list[str]) -> dict[str, object]:
    return {"expected": expected, "found": found, "value": float(ContextEntityRecall()._compute_score(expected, found))}


def main() -> None:
    picker = np.random.default_rng(20261121)
    shapes = [(1, 1, 1), (2, 3, 1), (3, 4, 3), (4, 2, 2), (5, 5, 4), (7, 3, 5), (3, 6, 8), (10, 9, 6)]
    golden = {
        "library": "ragas",
        "version": importlib.metadata.version("ragas"),
        "made_by": "tests/golden/make_ragas.py",
        "cases": [verdict_case(picker, *shape) for shape in shapes * 3],
        "relevancy": [
            relevancy_case(picker, noncommittal)
            for noncommittal in ([False] * 3, [True, False, False], [True, True, False], [True] * 3, [False], [True])
        ],
        "correctness": [
            correctness_case((2, 1, 2), 0.6911, [0.75, 0.25]),
            correctness_case((2, 1, 1), 0.9, [0.75, 0.25]),
            correctness_case((0, 2, 1), 0.5, [0.75, 0.25]),
            correctness_case((3, 0, 0), -0.1, [0.75, 0.25]),
            correctness_case((1, 1, 0), 0.8, [3.0, 1.0]),
            correctness_case((1, 0, 3), 0.4, [1.0, 1.0]),
            correctness_case((1, 2, 3), 0.3, [1.0, 0.0]),
        ],
        "entities": [
            entity_case(["albert einstein", "ulm", "1879"], ["albert einstein", "1879", "princeton"]),
            entity_case(["ulm"], []),
            entity_case(["ulm", "danube"], ["danube", "ulm", "neckar"]),
        ],
    }
    text = json.dumps(golden, indent=1)
    Path(__file__).with_name("ragas.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
