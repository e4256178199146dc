"""Makes lmppl.json: perplexities by lmppl of tiny models whose weights come from numpy (tests/support).

Run: python tests/golden/make_lmppl.py (needs lmppl 0.3.2 with transformers 4.57.6, on which it still runs, and torch)
"""

import importlib.metadata
import json
import sys
import tempfile
from pathlib import Path

import lmppl

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from tiny_language_models import causal_folder, encoder_decoder_folder

TEXTS = [
    "the refund period is two days",
    "Cats sleep within the order, back to back; 14 days!",
    "days days days days days days days days days days",
    "Größe: 14 €, süß — 漢字",
    "it",
    "the order is back within two days and the cats sleep " * 8,  # longer than the window
]
PAIRS = [
    ("Say it in other words: the refund period is two days", "within two days the order is back"),
    ("the cats sleep", "cats"),
    ("Größe: 14 €", "two days, 漢字"),
]


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        causal = lmppl.LM(str(causal_folder(folder / "causal")))
        both = lmppl.EncoderDecoderLM(str(encoder_decoder_folder(folder / "both")))
        alone = [{"text": text, "perplexity": causal.get_perplexity(text)} for text in TEXTS]
        together = causal.get_perplexity(TEXTS)
        after = both.get_perplexity([one for one, _ in PAIRS], [other for _, other in PAIRS])
    golden = {
        "library": {name: importlib.metadata.version(name) for name in ("lmppl", "transformers")},
        "made_by": "tests/golden/make_lmppl.py",
        "cases": [case | {"in_a_batch": value} for case, value in zip(alone, together, strict=True)],
        "pairs": [
            {"prefix": prefix, "completion": completion, "perplexity": value}
            for (prefix, completion), value in zip(PAIRS, after, strict=True)
        ],
    }
    path = Path(__file__).with_name("lmppl.json")
    path.write_text(json.dumps(golden, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
