"""Makes summac.json: SummaC's own scores of fixed matrices, and of texts by a tiny ALBERT.

Run: python tests/golden/make_summac.py WEIGHTS, where WEIGHTS is summac_conv_vitc_sent_perc_e.bin of
github.com/tingofurro/summac. Needs summac (installed with --no-deps), nltk, torch and transformers, and nothing of
ours.

Two things are put in the place of what today's libraries lack. Sentences are lines, so that no data of nltk is needed.
And the tokenizer is asked by its present name without ``truncation_strategy``, which the transformers of SummaC's day
(4.30) took and did not heed beside ``truncation=True``: the longer text of a pair was cut, and so it is here.
"""

import hashlib
import importlib.metadata
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import nltk
import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
import tiny_entailment
from summac import model_summac

HASH = "cd880581f59bd47b8968c7f48d754cd617dfe9b256d8d76fdcbc0fa4a3b3c6fe"
LETTERS = "abcdefghijklmnopqrstuvwxyz"


class AskedAsThen:
    """A tokenizer with the call that SummaC makes."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def batch_encode_plus(self, pairs: list[tuple[str, str]], truncation_strategy: str, **settings: Any) -> Any:
        assert truncation_strategy == "only_first", "not what SummaC 0.0.4 asks for"
        return self._tokenizer([pair[0] for pair in pairs], [pair[1] for pair in pairs], **settings)


def conv(weights: Path) -> Any:
    """SummaC's trained model; its entailment model is set later."""
    assert hashlib.sha256(weights.read_bytes()).hexdigest() == HASH, "other weights than the published ones"
    model = model_summac.SummaCConv(
        models=["tiny"], bins="percentile", granularity="sentence", nli_labels="e", device="cpu",
        start_file=str(weights), agg="mean", imager_load_cache=False,
    )  # fmt: skip
    return model.eval()


def zero_shot(image: np.ndarray, **uses: bool) -> float:
    model = model_summac.SummaCZS(
        granularity="sentence", model_name="tiny", device="cpu", imager_load_cache=False, **uses
    )
    return float(model.image2score(image))


def values(model: Any, image: np.ndarray) -> dict[str, float]:
    with torch.no_grad():
        logits, _, _ = model.forward(None, None, images=[image])
    return {
        "h2o": zero_shot(image, use_con=False),
        "upstream": zero_shot(image, use_con=True),
        "conv": float(torch.softmax(logits, dim=-1)[0, 1]),
    }


def matrices() -> list[tuple[list[list[float]], list[list[float]]]]:
    """Entailment and contradiction, by source sentence and then by answer sentence."""
    found: list[tuple[list[list[float]], list[list[float]]]] = [
        ([[0.985, 0.02], [0.10, 0.60], [0.005, 0.03]], [[0.002, 0.70], [0.05, 0.10], [0.01, 0.20]]),
        ([[0.999]], [[0.0]]),
        ([[0.0]], [[0.0]]),
        ([[0.999], [0.999]], [[0.0], [0.0]]),
        ([[0.005]] * 100, [[0.005]] * 100),
        # Probabilities on the edges of bins.
        ([[0.01, 0.37, 1.0, 0.995], [0.90, 0.07, 0.955, 0.0]], [[0.5, 0.4, 0.0, 0.0], [0.1, 0.9, 0.0, 1.0]]),
    ]
    picker = np.random.default_rng(20261121)
    for shape in [(5, 3), (1, 4), (30, 10), (12, 11), (100, 14)]:
        drawn = picker.dirichlet((0.2, 0.2, 0.2), size=shape).round(6)
        found.append((drawn[:, :, 0].tolist(), drawn[:, :, 1].tolist()))
    return found


def texts() -> list[tuple[list[str], list[str]]]:
    """Sentences of a source and of an answer; the last ones are longer than 500 tokens, alone and together."""
    source = [
        "the refund period is two days.",
        "two cats sleep in the sun.",
        "cats pay no fees.",
        "short.",
        "a b c d e f.",
    ]
    answer = ["the refund is two days.", "no cats sleep here.", "tiny."]
    picker = np.random.default_rng(7)
    long = [" ".join(LETTERS[number] for number in picker.integers(0, 26, count)) for count in (700, 400, 300, 620)]
    return [(source, answer), (source[:1], answer[:1]), ([*source, long[0], long[1]], [*answer, long[2], long[3]])]


def read_by(folder: str, source: list[str], answer: list[str]) -> np.ndarray:
    imager = model_summac.SummaCImager(model_name="tiny", granularity="sentence", use_cache=False, device="cpu")
    imager.model_card = folder
    imager.load_nli()
    imager.tokenizer = AskedAsThen(imager.tokenizer)
    return imager.build_image("\n".join(source), "\n".join(answer))


def main() -> None:
    model_summac.model_map["tiny"] = {"model_card": "tiny", "entailment_idx": 0, "contradiction_idx": 1}
    nltk.tokenize.sent_tokenize = str.splitlines
    model = conv(Path(sys.argv[1]))
    cases = []
    for entailment, contradiction in matrices():
        image = np.array([entailment, contradiction, 1 - np.array(entailment) - np.array(contradiction)])
        cases.append({"entailment": entailment, "contradiction": contradiction, "values": values(model, image)})
    read = []
    with tempfile.TemporaryDirectory() as folder:
        tiny_entailment.albert_folder(Path(folder))
        for source, answer in texts():
            image = read_by(folder, source, answer)
            said = {"entailment": image[0].tolist(), "contradiction": image[1].tolist()}
            read.append({"source": source, "answer": answer, **said, "values": values(model, image)})
    golden = {
        "library": "summac",
        "version": {name: importlib.metadata.version(name) for name in ("summac", "transformers")},
        "made_by": "tests/golden/make_summac.py",
        "cases": cases,
        "texts": read,
    }
    text = json.dumps(golden)
    Path(__file__).with_name("summac.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
