"""The models of a run by their roles: shared, described, and said to be missing where they are."""

import asyncio
import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import published_models
import pytest
import tiny_models
from proctor import InputError
from proctor.knowledge.models.finding import ROLES, ModelChoice
from proctor.knowledge.models.loading import device_of
from proctor.knowledge.models.pool import LocalModels
from published_models import COMMIT, StockedHub

HHEM, FLAN = ROLES["hallucination"].model, "google/flan-t5-base"
PAIRS = [("the refund period is two days", "two cats sleep"), ("cats", "the cats sleep")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_models.cross_encoder_folder(tmp_path_factory.mktemp("models") / "tiny", ["toxic", "insult"])


@pytest.fixture(scope="module")
def hhem(tmp_path_factory):
    return published_models.hhem_folder(tmp_path_factory.mktemp("hhem"))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PROCTOR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def opened():
    pools = []

    def open_pool(*given, **settings):
        pools.append(LocalModels(*given, **settings))
        return pools[-1]

    yield open_pool
    for pool in pools:
        pool.close()


def test_roles_of_one_model_share_it(folder, opened):
    messages = []
    same = ModelChoice(str(folder))
    models = opened({"toxicity": same, "fairness_bias": same}, StockedHub(), messages.append)
    toxicity, bias = models.tool("toxicity"), models.tool("fairness_bias")
    assert toxicity is bias

    async def ask():
        return await asyncio.gather(toxicity.classify(["two cats"]), bias.classify(["two cats sleep"]))

    assert [said.logits.shape for said in asyncio.run(ask())] == [(1, 2), (1, 2)]
    assert messages == [f"Loading the toxicity model {toxicity.model_id}."]


def test_another_device_or_kind_is_another_model(folder, opened):
    settings = {"toxicity": ModelChoice(str(folder)), "fairness_bias": ModelChoice(str(folder), device="cpu")}
    models = opened({**settings, "summac": ModelChoice(str(folder))}, StockedHub())
    assert len({id(models.tool(role)) for role in ("toxicity", "fairness_bias", "summac")}) == 3


def test_a_model_is_prepared_and_asked(hhem, opened):
    published, flan, plain = hhem
    hub = StockedHub({HHEM: published, FLAN: flan})
    models = opened(None, hub)
    as_published = asyncio.run(models.tool("hallucination").check(PAIRS)).probabilities
    plainly = opened({"hallucination": ModelChoice(str(plain))}, StockedHub())
    wanted = asyncio.run(plainly.tool("hallucination").check(PAIRS)).probabilities
    np.testing.assert_allclose(as_published, wanted, atol=1e-6)
    assert abs(wanted[0] - wanted[1]) > 1e-3
    assert hub.downloads == [HHEM, FLAN]


def test_only_what_was_asked_for_is_described(folder, hhem, opened):
    published, flan, _ = hhem
    hub = StockedHub({HHEM: published, FLAN: flan})
    models = opened({"toxicity": ModelChoice(str(folder), threads=2)}, hub)
    assert models.described() == {}
    for role in ("toxicity", "hallucination", "perplexity"):
        models.tool(role)
    found = models.described()
    assert list(found) == ["toxicity", "hallucination", "perplexity"]
    weights = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    assert found["toxicity"] == {
        "model": models.found("toxicity").model_id,
        "device": device_of("auto"),
        "threads": 2,
        "sha256": {"model.safetensors": weights},
    }
    source = hashlib.sha256((published / "model.safetensors").read_bytes()).hexdigest()
    assert found["hallucination"]["made_from"][f"{HHEM}@{COMMIT}"] == {"model.safetensors": source}
    assert "sha256" not in found["perplexity"]
    assert "perplexity" not in models.found("perplexity").model_id
    assert str(folder.parent) not in json.dumps(found)


def test_a_missing_model_says_what_to_run_when_it_is_asked(opened):
    models = opened({"summac": ModelChoice("tests/other")}, StockedHub(is_reachable=False))
    role = ROLES["toxicity"]
    wanted = (
        rf"The toxicity model '{role.model}' is not on this machine, about {role.megabytes} MB. "
        r"Run 'proctor models fetch toxicity' once with a network, or name its folder"
    )
    with pytest.raises(InputError, match=wanted):
        asyncio.run(models.tool("toxicity").classify(["a"]))
    with pytest.raises(InputError, match=r"Run 'proctor models fetch summac --local-model summac=tests/other' once"):
        asyncio.run(models.tool("summac").probabilities([("a", "b")]))
    assert models.found("toxicity").model_id == f"{role.model}@{role.revision[:12]}"


def test_what_cannot_be_prepared_says_so_when_it_is_asked(hhem, opened):
    models = opened(None, StockedHub({HHEM: hhem[0]}, here={HHEM}))
    with pytest.raises(InputError, match=f"can't be used: it also needs config.json and tokenizer.json of '{FLAN}'"):
        asyncio.run(models.tool("hallucination").check(PAIRS))


def test_the_probe_and_the_look_are_made_once(opened):
    hub = StockedHub(is_reachable=False)
    models = opened(None, hub)
    for _ in range(3):
        models.tool("toxicity")
        assert models.found("toxicity").model_id
    assert [name for name, *_ in hub.asked] == ["cached", "reachable"]


def test_presence_is_told_of_each_role(folder, hhem, opened):
    published, flan, _ = hhem
    hub = StockedHub({HHEM: published, FLAN: flan})
    settings = {"toxicity": ModelChoice(str(folder)), "summac": ModelChoice("no/such/name")}
    models = opened(settings, hub)
    here, wrong, absent = (models.presence(role) for role in ("toxicity", "summac", "hallucination"))
    assert (here.folder, here.licence, here.trouble) == (folder, "", "")
    assert here.megabytes == round(sum(path.stat().st_size for path in folder.iterdir()) / 1e6)
    assert (wrong.folder, wrong.model_id) == (None, "no/such/name")
    assert "neither a folder nor a model id" in wrong.trouble
    assert (absent.folder, absent.trouble) == (None, "")
    assert (absent.megabytes, absent.licence) == (ROLES["hallucination"].megabytes, "Apache-2.0")
    assert {name for name, *_ in hub.asked} == {"cached"}
    models.fetch("hallucination")
    assert models.presence("hallucination").folder == models.fetch("hallucination").folder


def test_presence_loads_no_large_library(tmp_path):
    code = (
        "import sys\n"
        "from proctor.knowledge.models.pool import LocalModels\n"
        "from proctor.knowledge.models.finding import ROLES\n"
        "models = LocalModels()\n"
        "assert not any(models.presence(role).folder for role in ROLES)\n"
        "print([name for name in ('torch', 'transformers', 'huggingface_hub', 'onnxruntime') if name in sys.modules])\n"
    )
    environ = {**os.environ, "HF_HOME": str(tmp_path), "PROCTOR_CACHE": str(tmp_path)}
    ran = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


def test_a_device_that_is_not_there_is_said(folder, opened):
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a graphics processor here")
    models = opened({"toxicity": ModelChoice(str(folder), device="cuda")}, StockedHub())
    with pytest.raises(InputError, match="The device 'cuda' was wanted for a model, but torch finds only cpu"):
        asyncio.run(models.tool("toxicity").classify(["a"]))
    assert models.described()["toxicity"]["device"] == "cuda"
    assert device_of("cpu") == "cpu"


@pytest.mark.parametrize("role", list(ROLES.values()), ids=lambda role: role.name)
def test_each_role_has_what_opens_it(role, opened):
    tool = opened(None, StockedHub(is_reachable=False)).tool(role.name)
    assert tool.model_id.startswith(f"{role.model}@")
    for name in ("load", "lower_priority", "close"):
        assert callable(getattr(tool, name))
