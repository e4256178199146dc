"""Makes checkers.json: tiny checkers with their weights, and what sentence-transformers and transformers make of them.

Run: PYTHONPATH=tests/support python tests/golden/make_checkers.py (needs both libraries, and nothing of ours but the
tiny models of the tests)
"""

import importlib.metadata
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tiny_checkers
import tiny_classifier
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import CrossEncoder
from transformers import AutoTokenizer, T5ForConditionalGeneration, T5ForTokenClassification

# The second pair is longer than the window of the cross-encoders, the last one has a blank claim.
PAIRS = [
    ("the refund period is two days", "two cats sleep"),
    ("the refund period is two days and the cats sleep for days. " * 3, "the cats sleep " * 4),
    ("cats", "days"),
    ("The office is in Berlin.\n\nThe cats sleep.", "Is the office in Berlin?"),
    ("the refund period", ""),
]
PROMPT = "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {text1}\n\nHypothesis: {text2}"


def cross_encoder(folder: Path, source: str, claim: str) -> float:
    model = CrossEncoder(str(folder), device="cpu")
    return float(model.predict([(source, claim)], activation_fn=torch.nn.Sigmoid(), show_progress_bar=False)[0])


def hhem_2(folder: Path, source: str, claim: str) -> float:
    model = T5ForTokenClassification.from_pretrained(folder).eval()
    tokens = AutoTokenizer.from_pretrained(folder)(PROMPT.format(text1=source, text2=claim), return_tensors="pt")
    return float(torch.softmax(model(**tokens).logits[:, 0, :], dim=-1)[0, 1])


def minicheck_t5(folder: Path, source: str, claim: str) -> float:
    model = T5ForConditionalGeneration.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokens = tokenizer("predict: " + tokenizer.eos_token.join([source, claim]), return_tensors="pt")
    logits = model(**tokens, decoder_input_ids=torch.zeros((1, 1), dtype=torch.long)).logits.squeeze(1)
    return float(torch.softmax(logits[:, torch.tensor([3, 209])], dim=-1)[0, 1])


def rounded(folder: Path) -> dict[str, Any]:
    """The folder's weights with three decimals, put back there as well."""
    file = folder / "model.safetensors"
    weights = {name: tensor.round(decimals=3) for name, tensor in load_file(file).items()}
    save_file(weights, file, metadata={"format": "pt"})
    return {
        name: json.loads(json.dumps(tensor.tolist()), parse_float=lambda said: round(float(said), 3))
        for name, tensor in weights.items()
    }


def case(name: str, folder: Path, upstream: Callable[[Path, str, str], float]) -> dict[str, Any]:
    weights = rounded(folder)
    found = {part: json.loads((folder / f"{part}.json").read_text()) for part in _PARTS}
    with torch.no_grad():
        values = [upstream(folder, source, claim) for source, claim in PAIRS]
    return {"name": name, **found, "weights": weights, "values": values}


_PARTS = ("config", "tokenizer", "tokenizer_config")


def main() -> None:
    small: dict[str, Any] = {
        "hidden_size": 8,
        "num_attention_heads": 2,
        "intermediate_size": 8,
        "initializer_range": 0.8,
    }
    own: dict[str, dict[str, Any]] = {
        "bert": {},
        "deberta": {"position_buckets": 8, "max_relative_positions": 8, "position_biased_input": False},
    }
    t5: dict[str, Any] = {"layers": 1, "width": 8, "d_kv": 4, "d_ff": 8, "num_heads": 2}
    with tempfile.TemporaryDirectory() as place:
        cases = [
            case(
                f"cross_encoder_{kind}",
                tiny_classifier.classifier_folder(
                    Path(place, kind), kind, ["LABEL_0"], layers=1, window=32, seed=3, **small, **settings
                ),
                cross_encoder,
            )
            for kind, settings in own.items()
        ]
        hhem = tiny_checkers.t5_folder(Path(place, "hhem"), "TokenClassification", **t5, seed=1)
        ft5 = tiny_checkers.t5_folder(Path(place, "ft5"), "ConditionalGeneration", **t5)
        cases += [case("hhem_2", hhem, hhem_2), case("minicheck_t5", ft5, minicheck_t5)]
    libraries = ("sentence-transformers", "torch", "transformers")
    golden = {
        "library": {name: importlib.metadata.version(name).partition("+")[0] for name in libraries},
        "made_by": "tests/golden/make_checkers.py",
        "pairs": PAIRS,
        "cases": cases,
    }
    text = json.dumps(golden, ensure_ascii=False, separators=(",", ":"))
    Path(__file__).with_name("checkers.json").write_text(text + "\n", encoding="utf-8")
    print(len(text), [(one["name"], [round(value, 4) for value in one["values"]]) for one in cases])


if __name__ == "__main__":
    main()
