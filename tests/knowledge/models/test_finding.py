"""Where a local model is looked for, and what it is called."""

from dataclasses import replace

import pytest
import tiny_models
from proctor import InputError
from proctor.knowledge.models.finding import ROLES, Found, ModelChoice, fetch, find, look, with_default
from proctor.knowledge.models.hub import HuggingFaceHub
from published_models import COMMIT, StockedHub
from tables import in_one_test

MODEL = "tests/tiny"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_models.cross_encoder_folder(tmp_path_factory.mktemp("hub") / COMMIT, ["a", "b"])


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ({"here": {MODEL}}, ["cached"]),
        ({}, ["cached", "reachable", "download"]),
        ({"is_reachable": False}, ["cached", "reachable"]),
        ({"is_reachable": False, "allow_download": True}, ["cached", "download"]),
        ({"breaks_off": {MODEL}}, ["cached", "reachable", "download"]),
    ],
)
def test_the_cache_comes_first_then_the_hub(folder, given, asked):
    settings = ModelChoice(MODEL, "v1", allow_download=given.pop("allow_download", False))
    hub = StockedHub({MODEL: folder}, **given)
    found = find(settings, "toxicity model", hub)
    assert [name for name, *_ in hub.asked] == asked
    if asked[-1] == "reachable" or given.get("breaks_off"):
        assert found == Found(f"{MODEL}@v1")
    else:
        assert found == Found(f"{MODEL}@{COMMIT[:12]}", folder, folder)


def test_a_commit_names_the_model_before_it_is_here_and_after(folder):
    settings = ModelChoice(MODEL, COMMIT)
    absent = look(settings, "model", StockedHub({MODEL: folder}))
    there = look(settings, "model", StockedHub({MODEL: folder}, here={MODEL}))
    assert absent.folder is None
    assert there.folder == folder
    assert absent.model_id == there.model_id == f"{MODEL}@{COMMIT[:12]}"
    file = replace(settings, file="large.ckpt")
    assert look(file, "model", StockedHub()).model_id == f"{MODEL}@{COMMIT[:12]} (large.ckpt)"
    assert look(ModelChoice(MODEL), "model", StockedHub()).model_id == f"{MODEL}@newest"


def test_to_look_asks_the_cache_alone(folder):
    hub = StockedHub({MODEL: folder})
    look(ModelChoice(MODEL, allow_download=True), "model", hub)
    assert hub.asked == [("cached", MODEL, None, ())]


def test_a_folder_is_taken_as_it_is(folder):
    hub = StockedHub()
    found = find(ModelChoice(str(folder)), "model", hub)
    assert found.folder == found.source == folder
    assert found.model_id.startswith(f"{COMMIT}@")
    assert found.model_id.endswith(" (folder)")
    assert fetch(ModelChoice(str(folder)), "model", hub) == found == look(ModelChoice(str(folder)), "model", hub)
    assert hub.asked == []


@pytest.mark.parametrize("way", [find, look, fetch])
def test_a_folder_of_something_else_is_no_model(tmp_path, way):
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "config.json").write_text("{}")
    with pytest.raises(InputError, match=r"The toxicity model in .* is no model: the folder has neither config.json"):
        way(ModelChoice(str(tmp_path)), "toxicity model", StockedHub())


@in_one_test(
    ("settings", "message"),
    [
        (ModelChoice(" "), "The toxicity model's name is empty"),
        (ModelChoice(MODEL, threads=0), "given 0 threads"),
        (ModelChoice("./no/such"), "neither a folder nor a model id"),
        (ModelChoice(__file__), "neither a folder nor a model id"),
        (ModelChoice("a/b/c"), "neither a folder nor a model id"),
        (ModelChoice("C:\\models\\tiny"), "neither a folder nor a model id"),
    ],
)
@in_one_test("way", [find, look, fetch])
def test_names_that_cannot_be_used(settings, message, way):
    with pytest.raises(InputError, match=message):
        way(settings, "toxicity model", StockedHub())


def test_a_name_without_an_owner_has_the_one_that_is_given(folder):
    hub = StockedHub({"cross-encoder/tiny": folder}, here={"cross-encoder/tiny"})
    assert find(ModelChoice("tiny"), "model", hub, owner="cross-encoder").folder == folder


def test_to_fetch_asks_for_the_newest(folder):
    hub, messages = StockedHub({MODEL: folder}, here={MODEL}), []
    assert fetch(ModelChoice(MODEL), "toxicity model", hub, notify=messages.append).folder == folder
    assert hub.downloads == [MODEL]
    assert messages == [f"Downloading the toxicity model {MODEL}@{COMMIT[:12]}."]


@pytest.mark.parametrize(
    ("hub", "message"),
    [
        (StockedHub(is_reachable=False), "can't be reached, or HF_HUB_OFFLINE is set"),
        (
            StockedHub(breaks_off={MODEL}),
            "did not arrive: .* what has arrived is not downloaded again",
        ),
        (HuggingFaceHub({"HF_HUB_OFFLINE": "1"}), "can't be reached, or HF_HUB_OFFLINE is set"),
    ],
)
def test_what_cannot_be_fetched_is_said(hub, message):
    with pytest.raises(InputError, match=message):
        fetch(ModelChoice(MODEL), "toxicity model", hub)


def test_the_defaults_of_a_role_belong_to_its_model():
    role = ROLES["alignscore"]
    assert with_default(ModelChoice(role.model), role) == ModelChoice(role.model, role.revision, file=role.file)
    large = ModelChoice(role.model, "main", file="AlignScore-large.ckpt")
    assert with_default(large, role) == large
    assert with_default(ModelChoice(MODEL), role) == ModelChoice(MODEL)
