"""Makes tf_distilbert.json: what TensorFlow's DistilBERT says of some tokens, and how Keras names its weights.

The weights are a formula of their place and size, so that a test can build the same file without TensorFlow.

Run: TF_USE_LEGACY_KERAS=1 python tests/golden/make_tf_distilbert.py (needs transformers 4.57, the last that writes
TensorFlow weights, with tensorflow-cpu, tf-keras and h5py, and nothing of ours)
"""

import importlib.metadata
import json
import tempfile
from pathlib import Path

import h5py
import numpy as np
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

SHAPE = {
    "vocab_size": 60,
    "dim": 8,
    "hidden_dim": 16,
    "n_layers": 2,
    "n_heads": 2,
    "max_position_embeddings": 16,
}
IDS = [[2, 7, 9, 11, 3, 0], [2, 30, 31, 32, 33, 3]]
MASK = [[1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1]]


def weight(place: int, shape: tuple[int, ...]) -> np.ndarray:
    """The weight at a place among all of them."""
    count = int(np.prod(shape))
    return (0.8 * np.sin(np.arange(count) * (0.7 + 0.013 * place) + place)).reshape(shape).astype(np.float32)


def main() -> None:
    """Write the file beside this one."""
    model = TFDistilBertForSequenceClassification(DistilBertConfig(**SHAPE))
    given = {"input_ids": np.array(IDS, np.int32), "attention_mask": np.array(MASK, np.int32)}
    model(given)  # builds it
    for place, variable in enumerate(model.weights):
        variable.assign(weight(place, tuple(variable.shape)))
    logits = model(given, training=False).logits.numpy()
    places = {variable.name: place for place, variable in enumerate(model.weights)}
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        with h5py.File(Path(folder) / "tf_model.h5") as file:
            layers = {
                str(layer): [
                    [str(name), places[name], list(file[layer][name].shape)]
                    for name in file[layer].attrs["weight_names"]
                ]
                for layer in file.attrs["layer_names"]
            }
        config = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))
    versions = {name: importlib.metadata.version(name) for name in ("transformers", "tensorflow-cpu", "tf-keras")}
    made = {
        "library": versions,
        "made_by": "tests/golden/make_tf_distilbert.py",
        "config": config,
        "layers": layers,
        "input_ids": IDS,
        "attention_mask": MASK,
        "logits": logits.tolist(),
    }
    Path(__file__).with_name("tf_distilbert.json").write_text(json.dumps(made) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
