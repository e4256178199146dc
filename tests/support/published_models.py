"""Tiny models in the forms in which their originals were published, which transformers can't load as they are."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import tiny_checkers
import tiny_grounding
import tiny_models

COMMIT = "0123456789abcdef0123456789abcdef01234567"
GOLDEN = Path(__file__).parents[1] / "golden" / "tf_distilbert.json"


class StockedHub:
    """A hub that has folders by name; what was fetched is here from then on. Remembers what it was asked."""

    def __init__(self, there=None, here=(), is_reachable=True, breaks_off=()):
        self.there, self.here = dict(there or {}), set(here)
        self.is_reachable, self.breaks_off, self.asked = is_reachable, set(breaks_off), []

    def cached(self, model, revision, files=()):
        self.asked.append(("cached", model, revision, tuple(files)))
        return self.there[model] if model in self.here else None

    def reachable(self):
        self.asked.append(("reachable",))
        return self.is_reachable

    def download(self, model, revision, files=()):
        self.asked.append(("download", model, revision, tuple(files)))
        if model in self.breaks_off or model not in self.there:
            return None
        self.here.add(model)
        return self.there[model]

    @property
    def downloads(self):
        """Names of what was downloaded, in their order."""
        return [asked[1] for asked in self.asked if asked[0] == "download"]


def tf_weight(place: int, shape: list[int]) -> Any:
    """The formula of make_tf_distilbert.py."""
    count = int(np.prod(shape))
    return (0.8 * np.sin(np.arange(count) * (0.7 + 0.013 * place) + place)).reshape(shape).astype(np.float32)


def tensorflow_folder(folder: Path, left_out: str = "") -> Path:
    """DistilBERT as TensorFlow's Keras writes it, in the layout that the golden file records."""
    import h5py

    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    folder.mkdir(parents=True)
    with h5py.File(folder / "tf_model.h5", "w") as file:
        file.attrs["layer_names"] = [name.encode() for name in golden["layers"]]
        for layer, variables in golden["layers"].items():
            group = file.create_group(layer)
            kept = [variable for variable in variables if not left_out or left_out not in variable[0]]
            group.attrs["weight_names"] = [name.encode() for name, *_ in kept]
            for name, place, shape in kept:
                group.create_dataset(name, data=tf_weight(place, shape))
    (folder / "config.json").write_text(json.dumps(golden["config"]), encoding="utf-8")
    tiny_models.bert_tokenizer().save_pretrained(folder)
    return folder


def hhem_folder(folder: Path) -> tuple[Path, Path, Path]:
    """HHEM 2.1 as it was published, the FLAN-T5 that it leaves out, and the plain model that both make up."""
    from safetensors.torch import load_file, save_file

    plain = tiny_checkers.t5_folder(folder / "plain", "TokenClassification")
    published, flan = folder / COMMIT, folder / "flan"
    published.mkdir()
    weights = {f"t5.{name}": tensor for name, tensor in load_file(plain / "model.safetensors").items()}
    save_file(weights, published / "model.safetensors", metadata={"format": "pt"})
    config = {
        "model_type": "HHEMv2",
        "architectures": ["HHEMv2ForSequenceClassification"],
        "auto_map": {"AutoConfig": "configuration_hhem_v2.HHEMv2Config"},
        "foundation": "google/flan-t5-base",
    }
    (published / "config.json").write_text(json.dumps(config), encoding="utf-8")
    tiny_checkers.t5_folder(flan, "ConditionalGeneration")
    (flan / "model.safetensors").unlink()
    return published, flan, plain


def alignscore_folder(folder: Path) -> tuple[Path, Path, Path]:
    """AlignScore's checkpoint as Lightning writes it, the RoBERTa tokenizer, and the plain model that both make up."""
    import torch

    plain = tiny_grounding.alignscore_folder(folder / "plain")
    published, roberta = folder / COMMIT, folder / "roberta"
    published.mkdir()
    state = tiny_grounding.alignscore_network().state_dict()
    checkpoint = {
        "epoch": 2,
        "pytorch-lightning_version": "1.7.7",
        "state_dict": state,
        "optimizer_states": [{"state": {0: {"exp_avg": torch.zeros(3)}}, "param_groups": [{"lr": 1e-5}]}],
        "hyper_parameters": {"model": "roberta-base", "using_pretrained": True},
    }
    torch.save(checkpoint, published / "AlignScore-base.ckpt")
    roberta.mkdir()
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (roberta / name).write_bytes((plain / name).read_bytes())
    return published, roberta, plain
