"""``proctor models`` and ``proctor models fetch``: what a user types, reads and gets."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from model_hub_server import COMMIT, serving
from proctor.harness.cli.models import folded, wanted_by
from proctor.knowledge.models.finding import ROLES
from proctor.metrics import builtin_catalog
from proctor.metrics.evaluators import EVALUATORS
from proctor.metrics.facts import LOCAL_MODELS
from suites import proctor as own_process
from suites import write_suite
from tiny_classifier import classifier_folder
from typed import proctor

BOT = "def answer(question): return {'answer': 'It is so.', 'contexts': ['It is so.']}"


@pytest.fixture(scope="module")
def toxic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return classifier_folder(tmp_path_factory.mktemp("toxic"))


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An empty cache of the hub, and no network."""
    places = {"HF_HUB_CACHE": str(tmp_path / "hub"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    return {**os.environ, **places, "HF_HUB_OFFLINE": "1"}


def listed(folder: Path, environ: dict[str, str], *options: object) -> dict[str, dict]:
    done = proctor("models", "--json", *options, folder=folder, env=environ)
    assert done.returncode == 0, done.stderr
    return {model["role"]: model for model in json.loads(done.stdout)["models"]}


def test_all_models_are_listed_within_80_columns(tmp_path, environ):
    done = proctor("models", folder=tmp_path, env=environ)
    assert done.returncode == 0
    first, *shown = done.stdout.splitlines()
    assert first.split() == ["role", "model", "size", "licence", "here"]
    assert max(map(len, shown)) <= 80
    for role in ROLES.values():
        place = next(place for place, line in enumerate(shown) if line.startswith(f"{role.name} "))
        line = shown[place]
        assert role.model in line.split()[1] + shown[place + 1].strip()  # a long name goes on below
        assert line.endswith("no")
        assert f" {role.megabytes:,} MB {role.licence} " in line
    assert "  for hallucination, faithfulness (verifier: hhem)" in shown
    assert "  for 24 gptscore_*" in shown
    assert "  for toxicity_labels (6 metrics)" in shown
    total = sum(role.megabytes for role in ROLES.values())
    assert shown[-2:] == [
        f"{len(ROLES)} models are not downloaded, about {total:,} MB. To download them:",
        "  proctor models fetch ROLE ...",
    ]
    assert done.stderr == ""


def test_a_model_that_is_here_and_one_that_cannot_be_used_are_shown_as_such(tmp_path, environ, toxic):
    options = ["--local-model", f"toxicity={toxic}", "--local-model", "fairness_bias=a b"]
    done = proctor("models", *options, folder=tmp_path, env=environ)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    place = next(place for place, line in enumerate(lines) if line.startswith("toxicity "))
    assert f"{toxic.name} (folder)" in lines[place]
    assert lines[place].endswith(" not known  yes")
    place = next(place for place, line in enumerate(lines) if line.startswith("fairness_bias "))
    assert lines[place].endswith("no")
    assert "  The fairness_bias model 'a b' is neither a folder nor a model id." in lines
    assert f"{len(ROLES) - 2} models are not downloaded" in done.stdout
    assert done.stdout.endswith(f"proctor models fetch ROLE ... {shlex.join(options)}\n")


def test_listing_asks_no_network_and_loads_nothing_heavy(tmp_path, environ):
    heavy = {"torch", "transformers", "tokenizers", "huggingface_hub", "h5py", "onnxruntime", "sklearn"}
    code = (
        "import sys; from proctor.harness.cli.main import app; app(['models', '--json'], standalone_mode=False); "
        f"print(sorted({heavy} & set(sys.modules)), file=sys.stderr)"
    )
    with serving({}) as hub:
        online = {**environ, "HF_ENDPOINT": hub.url, "HF_HUB_OFFLINE": "0", "NO_PROXY": "127.0.0.1"}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=online, cwd=tmp_path)
    assert json.loads(done.stdout)["models"]
    assert (done.stderr, hub.requests) == ("[]\n", [])


@pytest.mark.parametrize(
    ("metrics", "shown"),
    [
        (["toxicity", "insult"], ["toxicity", "insult"]),
        (EVALUATORS["toxicity_labels"].metrics, ["toxicity_labels (6 metrics)"]),
        (EVALUATORS["gptscore_translation"].metrics, list(EVALUATORS["gptscore_translation"].metrics)),
        (EVALUATORS["gptscore_question_answering"].metrics, ["8 gptscore_*"]),
        (["byop.tone.passes", "byop.tone.failures", "summac_zs"], ["byop.tone", "summac_zs"]),
    ],
)
def test_families_of_metrics_are_told_as_one(metrics, shown):
    assert folded(metrics) == shown


def test_every_metric_that_asks_a_local_model_is_named_with_it():
    catalog = builtin_catalog()
    wanted = dict(wanted_by(catalog))
    assert wanted.pop("rerank") == ("rag bots with a reranker",)
    assert {f"{role}_model" for role in wanted} == set(LOCAL_MODELS)
    for role, metrics in wanted.items():
        needing = {metric.id for metric in catalog.metrics.values() if f"{role}_model" in metric.needs}
        assert {metric for metric in metrics if " " not in metric} == needing
        assert metrics
    assert wanted["minicheck"] == ("minicheck", "faithfulness (verifier: minicheck)")
    assert {name for metrics in wanted.values() for name in metrics if " " in name} == {
        "answer_similarity (method: cross_encoder)",
        *(f"faithfulness (verifier: {value})" for value in ("hhem", "minicheck", "alignscore", "lettucedetect")),
    }


def test_a_suite_lists_what_it_needs_as_it_has_it(tmp_path, environ, toxic):
    metrics = ["toxicity", "gptscore_sum_fluency", {"faithfulness": {"verifier": "lettucedetect"}}]
    section = {"toxicity": str(toxic), "gptscore": {"model": "openai:qwen3-8b", "base_url": "http://127.0.0.1:9/v1"}}
    write_suite(tmp_path, BOT, metrics=metrics, local_models=section)
    made = listed(tmp_path, environ, "--suite", "suite.yaml")
    assert {role: model["needed_by"] for role, model in made.items()} == {
        "gptscore": ["gptscore_sum_fluency"],
        "toxicity": ["toxicity"],
        "lettucedetect": ["faithfulness"],
    }
    assert made["toxicity"]["here"]
    assert made["toxicity"]["folder"] == str(toxic)
    assert made["toxicity"]["licence"] is None
    assert made["gptscore"]["server"]
    assert made["gptscore"]["model_id"] == "openai:qwen3-8b at http://127.0.0.1:9/v1"
    assert (made["lettucedetect"]["here"], made["lettucedetect"]["megabytes"]) == (False, 600)


def test_a_suite_lists_the_reranker_of_its_bots(tmp_path, environ, toxic):
    bots = {"plain": {"type": "rag"}, "ranked": {"type": "rag", "reranker": "rerank"}}
    bots["other"] = {"type": "rag", "reranker": str(toxic)}
    write_suite(tmp_path, BOT, bots=bots, knowledge=["documents"], metrics=["exact_match"])
    (tmp_path / "documents").mkdir()
    made = listed(tmp_path, environ, "--suite", "suite.yaml")
    assert {role: model["needed_by"] for role, model in made.items()} == {"rerank": ["bot ranked"]}
    assert made["rerank"]["kind"] == "reranker"
    done = proctor("models", "fetch", "--suite", "suite.yaml", folder=tmp_path, env=environ)
    assert done.returncode == 1
    assert "The rerank model 'cross-encoder/ms-marco-MiniLM-L6-v2' can't be fetched" in done.stderr


def test_a_suite_without_local_models_says_so(tmp_path, environ):
    write_suite(tmp_path, BOT)
    done = proctor("models", "--suite", "suite.yaml", folder=tmp_path, env=environ)
    assert done.stdout == "No metric of the suite needs a local model.\n"
    done = proctor("models", "fetch", "--suite", "suite.yaml", folder=tmp_path, env=environ)
    assert (done.returncode, done.stdout) == (0, "No metric of the suite needs a local model.\n")


def test_fetching_nothing_in_particular_lists_the_roles_with_their_sizes(tmp_path, environ):
    done = proctor("models", "fetch", folder=tmp_path, env=environ)
    assert done.returncode == 2
    assert all(f"{role.name} ({role.megabytes:,} MB)" in done.stderr for role in ROLES.values())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["fetch", "toxcity"], "There is no role 'toxcity'; did you mean toxicity?"),
        (["fetch", "summac", "xyz"], f"There is no role 'xyz'; the roles are {', '.join(ROLES)}."),
        (["fetch", "insult"], "'insult' is no role; what it needs is proctor models fetch toxicity"),
        (["fetch", "summarization"], "'summarization' is no role; what it needs is proctor models fetch summac"),
        (["--local-model", "toxcity=x"], "--local-model: there is no role 'toxcity'; did you mean toxicity?"),
        (["--json", "fetch", "toxicity"], "Options of 'proctor models fetch' go after the word fetch."),
        (["--suite", "none.yaml", "--markdown"], "--markdown prints the default models"),
        (["--suite", "none.yaml"], "none.yaml"),
    ],
)
def test_wrong_input_is_a_sentence_and_exit_code_two(tmp_path, environ, arguments, sentence):
    done = proctor("models", *arguments, folder=tmp_path, env=environ)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("proctor: ") and sentence in done.stderr


def test_without_a_network_each_role_is_refused_in_a_sentence(tmp_path, environ):
    done = proctor("models", "fetch", "toxicity", "summac", folder=tmp_path, env=environ)
    assert done.returncode == 1
    first, second = done.stderr.splitlines()
    assert first.startswith("proctor: The toxicity model 'unitary/toxic-bert' can't be fetched: ")
    assert second.startswith("proctor: The summac model 'tals/albert-xlarge-vitaminc-mnli' can't be fetched: ")


def test_all_brings_the_models_of_all_roles(tmp_path, environ):
    done = proctor("models", "fetch", "--all", folder=tmp_path, env=environ)
    assert done.returncode == 1
    assert [line.split()[2] for line in done.stderr.splitlines()] == list(ROLES)


def test_a_server_is_listed_as_such_and_has_nothing_to_fetch(tmp_path, environ):
    server = ["--local-model", "perplexity=openai:qwen3-8b"]
    done = proctor("models", *server, folder=tmp_path, env=environ)
    line = next(line for line in done.stdout.splitlines() if line.startswith("perplexity "))
    assert "openai:qwen3-8b" in line and line.endswith("  server")
    done = proctor("models", "fetch", "perplexity", *server, folder=tmp_path, env=environ)
    assert (done.returncode, done.stderr) == (0, "")
    assert "run by a server: there is nothing to fetch" in done.stdout


def test_a_model_is_fetched_from_the_hub_and_is_here_from_then_on(tmp_path, environ, toxic):
    write_suite(tmp_path, BOT, metrics=["toxicity"], local_models={"toxicity": "tests/tiny"})
    with serving({"tests/tiny": toxic}) as hub:
        online = {**environ, "HF_ENDPOINT": hub.url, "HF_HUB_OFFLINE": "0", "NO_PROXY": "127.0.0.1"}
        # in a process of its own: whether the hub may be reached is read when its library is loaded
        done = own_process("models", "fetch", "--suite", "suite.yaml", folder=tmp_path, env=online)
        assert done.returncode == 0, done.stderr
    commit = COMMIT[:12]
    assert done.stdout.startswith(f"The toxicity model tests/tiny@{commit} is here: {tmp_path / 'hub'}")
    assert "Downloading the toxicity model tests/tiny" in done.stderr
    (model,) = listed(tmp_path, environ, "--suite", "suite.yaml").values()
    assert (model["here"], model["model_id"]) == (True, f"tests/tiny@{commit}")
    again = proctor("models", "fetch", "toxicity", "--suite", "suite.yaml", folder=tmp_path, env=environ)
    assert again.returncode == 0
    assert "can't be fetched: the Hugging Face hub can't be reached" in again.stderr
    assert again.stdout.startswith(f"The toxicity model tests/tiny@{commit} was downloaded before and stays: ")
    run = proctor("run", "suite.yaml", folder=tmp_path, env=environ)
    assert run.returncode == 0, run.stderr
    assert f"local model: tests/tiny@{commit}, for toxicity" in run.stdout
