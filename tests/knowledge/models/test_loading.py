"""Folders that hold no model, another one, a broken one or a hostile one: a sentence for each, and no code is run."""

import asyncio
import json
import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import tiny_checkers
import tiny_classifier
import tiny_grounding
import tiny_language_models
import tiny_models
from proctor import InputError
from proctor.knowledge.models.embedding import SentenceEncoder
from proctor.knowledge.models.finding import ModelChoice
from proctor.knowledge.models.language_models import Continuation
from proctor.knowledge.models.loading import Place, load_model
from proctor.knowledge.models.pool import LocalModels
from proctor.knowledge.models.span_detector import Grounded
from published_models import StockedHub

BUILT = {
    "toxicity": tiny_classifier.classifier_folder,
    "summac": lambda folder: tiny_classifier.classifier_folder(folder, labels=["LABEL_0"]),
    "hallucination": lambda folder: tiny_checkers.t5_folder(folder, "TokenClassification"),
    "minicheck": lambda folder: tiny_checkers.t5_folder(folder, "ConditionalGeneration"),
    "perplexity": tiny_language_models.causal_folder,
    "gptscore": tiny_language_models.encoder_decoder_folder,
    "lettucedetect": tiny_grounding.span_detector_folder,
}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    root = tmp_path_factory.mktemp("built")
    return {role: build(root / role) for role, build in BUILT.items()}


async def ask(models, role):
    model = models.tool(role)
    match role:
        case "toxicity":
            await model.classify(["two cats"])
        case "summac":
            await model.entailed([("two cats", "cats")])
        case "perplexity" | "gptscore":
            await model.likelihoods([Continuation("two cats", "cats")])
        case "lettucedetect":
            await model.mark([Grounded(("two cats",), "", "cats")])
        case _:
            await model.check([("two cats", "cats")])


def asked(role, folder):
    """Ask the model in the folder something."""
    models = LocalModels({role: ModelChoice(str(folder), device="cpu")}, StockedHub())
    try:
        asyncio.run(ask(models, role))
    finally:
        models.close()


def truncated(folder):
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:2000])


def without_tokenizer(folder):
    for path in folder.glob("tokenizer*"):
        path.unlink()


def with_empty_vocabulary(folder):
    content = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    content["model"]["vocab"] = content["model"]["vocab"][:3] if isinstance(content["model"]["vocab"], list) else {}
    if "merges" in content["model"]:
        content["model"]["merges"] = []
    (folder / "tokenizer.json").write_text(json.dumps(content), "utf-8")


FAULTS = {
    "no configuration": (lambda folder: (folder / "config.json").unlink(), "neither config.json"),
    "broken configuration": (lambda folder: (folder / "config.json").write_text("{"), "config"),
    "no tokenizer": (without_tokenizer, "has no tokenizer: tokenizer.json, or files of a vocabulary, were wanted"),
    "only settings of a tokenizer": (lambda folder: (folder / "tokenizer.json").unlink(), "has no tokenizer"),
    "empty vocabulary": (with_empty_vocabulary, "tokenizer"),
    "no weights": (lambda folder: (folder / "model.safetensors").unlink(), "no file named model.safetensors"),
    "truncated weights": (truncated, "SafetensorError"),
    "empty weights": (lambda folder: (folder / "model.safetensors").write_bytes(b""), "SafetensorError"),
}


def test_the_models_can_be_asked_while_they_are_whole(built):
    for role, folder in built.items():
        asked(role, folder)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("role", BUILT)
def test_each_fault_is_told_in_a_sentence(built, tmp_path, role, fault):
    folder = shutil.copytree(built[role], tmp_path / "model")
    breaks, wanted = FAULTS[fault]
    breaks(folder)
    with pytest.raises(InputError, match=wanted) as raised:
        asked(role, folder)
    said = str(raised.value)
    assert f"model in {folder} " in said
    assert "\n" not in said and len(said) < 500


WRONG = [
    ("toxicity", "perplexity", "has no weights for score.weight: it was not trained as GPT2ForSequenceClassification"),
    ("perplexity", "toxicity", "was not trained as"),
    ("perplexity", "hallucination", "can't be loaded by transformers: ValueError: Unrecognized configuration class"),
    ("perplexity", "minicheck", "reads one text and writes another"),
    ("lettucedetect", "perplexity", "has no weights for classifier"),
    ("lettucedetect", "toxicity", "6 labels for a token: two were wanted"),
    ("minicheck", "toxicity", "none that is known to say whether a source supports a claim"),
    ("minicheck", "perplexity", "none that is known to say whether a source supports a claim"),
    ("summac", "toxicity", "has the outputs toxic, .* wanted entailment, neutral and contradiction"),
    ("summac", "minicheck", "was not trained as T5ForSequenceClassification"),
]


@pytest.mark.parametrize(("role", "other", "wanted"), WRONG)
async def test_a_model_for_something_else_is_refused(built, capfd, role, other, wanted):
    models = LocalModels({role: ModelChoice(str(built[other]), device="cpu")}, StockedHub())
    asked = models.tool(role).likelihoods([Continuation("two cats")]) if role == "perplexity" else ask(models, role)
    with pytest.raises(InputError, match=wanted) as raised:
        await asked
    models.close()
    assert len(str(raised.value)) < 500
    assert capfd.readouterr().err == ""  # the library's own report says it again, in forty lines


def test_a_folder_that_goes_between_finding_and_loading_is_said(built, tmp_path):
    folder = shutil.copytree(built["toxicity"], tmp_path / "model")
    models = LocalModels({"toxicity": ModelChoice(str(folder))}, StockedHub())
    model = models.tool("toxicity")
    shutil.rmtree(folder)
    with pytest.raises(InputError, match=r"The toxicity model in .*model "):
        asyncio.run(model.classify(["two"]))
    assert "sha256" not in models.described()["toxicity"]
    models.close()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="who may read everything can't be refused")
@pytest.mark.parametrize("name", [".", "model.safetensors", "config.json"])
def test_what_may_not_be_read_is_said(built, tmp_path, name):
    folder = shutil.copytree(built["toxicity"], tmp_path / "model")
    (folder / name).chmod(0)
    try:
        with pytest.raises(InputError, match=r"The toxicity model in .* can't be read: Permission denied"):
            asked("toxicity", folder)
    finally:
        folder.chmod(0o755)


def test_a_link_to_a_folder_is_the_folder(built, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(built["toxicity"], target_is_directory=True)
    ids = set()
    for folder in (link, built["toxicity"]):
        models = LocalModels({"toxicity": ModelChoice(str(folder))}, StockedHub())
        ids.add(models.tool("toxicity").model_id)
    asked("toxicity", link)
    assert len(ids) == 1


class Intruder:
    """What a pickle of it does when it is loaded like any other: it makes a folder."""

    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return os.mkdir, (str(self.target),)


@pytest.mark.parametrize("role", BUILT)
def test_code_in_a_pickle_is_never_run(built, tmp_path, role):
    import torch

    folder = shutil.copytree(built[role], tmp_path / "model")
    (folder / "model.safetensors").unlink()
    intruded = tmp_path / "intruded"
    torch.save({"bert.weight": torch.zeros(1), "other": Intruder(intruded)}, folder / "pytorch_model.bin")
    with pytest.raises(InputError, match="can't be loaded by transformers"):
        asked(role, folder)
    assert not intruded.exists()
    torch.load(folder / "pytorch_model.bin", weights_only=False)
    assert intruded.exists()  # it would have been


@pytest.mark.parametrize("role", BUILT)
def test_code_that_comes_with_a_model_is_never_run(built, tmp_path, role):
    folder = shutil.copytree(built[role], tmp_path / "model")
    intruded = tmp_path / "intruded"
    (folder / "own.py").write_text(f"import os\nos.mkdir({str(intruded)!r})\n")
    config = json.loads((folder / "config.json").read_text())
    names = ("AutoConfig", "AutoModelForSequenceClassification", "AutoModelForCausalLM", "AutoModelForSeq2SeqLM")
    config["auto_map"] = dict.fromkeys((*names, "AutoModelForTokenClassification"), "own.Own")
    (folder / "config.json").write_text(json.dumps(config))
    content = json.loads((folder / "tokenizer_config.json").read_text())
    content["auto_map"] = {"AutoTokenizer": ["own.Own", "own.Own"]}
    (folder / "tokenizer_config.json").write_text(json.dumps(content))
    try:
        asked(role, folder)
    except InputError as error:
        assert str(folder) in str(error)  # noqa: PT017 - either it is refused, or loaded without its code
    config["model_type"] = "never_heard_of"
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError):
        asked(role, folder)
    assert not intruded.exists()


# Models that are loaded by several threads at once are the models that they are when loaded alone

TEXT = Continuation("two cats sleep", "the cats ")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("together")
    return {
        "causal": tiny_language_models.causal_folder(root / "causal"),
        "encoder_decoder": tiny_language_models.encoder_decoder_folder(root / "encoder_decoder"),
        "sentences": tiny_models.sentence_model_folder(root),
    }


def likelihood(folder):
    models = LocalModels({"gptscore": ModelChoice(str(folder), device="cpu")}, StockedHub())
    try:
        (found,) = asyncio.run(models.tool("gptscore").likelihoods([TEXT]))
    finally:
        models.close()
    return found.mean_nll


def test_values_do_not_depend_on_what_is_loaded_at_the_same_time(folders):
    from transformers import PreTrainedModel

    alone = {name: likelihood(folders[name]) for name in ("causal", "encoder_decoder")}
    ties = PreTrainedModel.tie_weights
    begin = threading.Barrier(6)

    def loaded(number):
        begin.wait(60)
        if number % 3 == 2:
            return [SentenceEncoder(folders["sentences"], "sentences").dimensions for _ in range(6)]
        name = ("causal", "encoder_decoder")[number % 3]
        return [likelihood(folders[name]) - alone[name] for _ in range(6)]

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(loaded, range(6)))
    assert [max(map(abs, each)) for number, each in enumerate(found) if number % 3 < 2] == [0, 0, 0, 0]
    assert PreTrainedModel.tie_weights is ties
    assert likelihood(folders["causal"]) == alone["causal"]


def test_a_model_whose_tied_weights_came_apart_is_refused(folders, monkeypatch):
    """As it is where something else in the process loads at the same time; here transformers is left so by hand."""
    from transformers import PreTrainedModel

    monkeypatch.setattr(PreTrainedModel, "tie_weights", lambda *_, **__: None)
    place = Place("causal", folders["causal"], "gptscore model", "cpu")
    with pytest.raises(InputError, match="while something else in this process loaded a model"):
        load_model(place, "AutoModelForCausalLM")
