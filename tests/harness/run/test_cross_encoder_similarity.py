"""``answer_similarity: {method: cross_encoder}``, with a tiny cross-encoder that is built here, from suite to row."""

import json

import pytest
import tiny_models
from proctor.knowledge.models.pool import LocalModels
from proctor.metrics import builtin_catalog
from suites import write_suite
from typed import proctor

ROWS = [
    {"id": "1", "answer": "the cats sleep", "expected_answer": "the cats sleep in days"},
    {"id": "2", "answer": "refund period", "expected_answers": ["days", "the refund"]},
    {"id": "3", "answer": " ", "expected_answer": "days"},
    {"id": "4", "answer": "cats " * 90, "expected_answer": "days"},
]
ROWS = [{**row, "question": "When?", "bot": "b"} for row in ROWS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_models.cross_encoder_folder(tmp_path_factory.mktemp("similar") / "tiny", ["LABEL_0"], seed=3)


def upstream(folder, answer, expected):
    """What sentence-transformers says."""
    import torch
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(str(folder), device="cpu")
    return float(model.predict([(answer, expected)], activation_fn=torch.nn.Sigmoid(), show_progress_bar=False)[0])


def test_values_are_those_of_sentence_transformers(tmp_path, folder):
    (tmp_path / "recorded.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    done = proctor(
        "score", "recorded.jsonl", "--metrics", "answer_similarity", "--option",
        "answer_similarity.method=cross_encoder", "--local-model", f"similarity={folder}", "--rows", "rows.jsonl",
        folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    scores = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    made = {score["id"]: score for score in scores if score["metric"] == "answer_similarity"}
    best = max(upstream(folder, "refund period", expected) for expected in ("days", "the refund"))
    wanted = {"1": upstream(folder, "the cats sleep", "the cats sleep in days"), "2": best, "3": 0.0}
    assert {id: made[id]["value"] for id in wanted} == pytest.approx(wanted, abs=1e-5)
    assert 0 < wanted["1"] < 1
    assert made["1"]["details"]["method"] == "cross_encoder" and made["1"]["details"]["truncated"] is False
    assert "tiny" in made["1"]["details"]["model"]
    assert made["4"]["details"]["truncated"] is True


def test_a_suite_names_method_and_model_and_the_rest_is_as_with_vectors(tmp_path, folder):
    suite = {
        "metrics": [{"answer_similarity": {"method": "cross_encoder"}}],
        "local_models": {"similarity": str(folder)},
    }
    write_suite(tmp_path, 'def answer(question): return "the cats"', 2, **suite)
    done = proctor("run", "suite.yaml", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["bots"]["mine"]["metrics"]["answer_similarity"]["n_ok"] == 2
    write_suite(tmp_path, 'def answer(question): return "the cats"', 2, **suite | {"metrics": [
        {"answer_similarity": {"method": "crossencoder"}}
    ]})  # fmt: skip
    done = proctor("run", "suite.yaml", folder=tmp_path)
    assert done.returncode == 2
    assert "method is 'crossencoder'; one of 'cosine', 'cross_encoder' is wanted" in done.stderr


def test_a_model_is_asked_for_only_with_that_method():
    catalog = builtin_catalog()
    plain = catalog.plan(["answer_similarity"]).metrics[0]
    asked = catalog.plan(["answer_similarity"], options={"answer_similarity": {"method": "cross_encoder"}}).metrics[0]
    assert ("embedder" in plain.needs, "similarity_model" in plain.needs, plain.low) == (True, False, -1.0)
    assert ("embedder" in asked.needs, "similarity_model" in asked.needs, asked.low) == (False, True, 0.0)
    assert plain.version != asked.version


def test_a_model_of_another_kind_is_refused(tmp_path):
    two = tiny_models.cross_encoder_folder(tmp_path / "two", ["no", "yes"])
    (tmp_path / "recorded.jsonl").write_text(json.dumps(ROWS[0]) + "\n")
    done = proctor(
        "score", "recorded.jsonl", "--metrics", "answer_similarity", "--option",
        "answer_similarity.method=cross_encoder", "--local-model", f"similarity={two}", "--rows", "rows.jsonl",
        folder=tmp_path,
    )  # fmt: skip
    (score,) = map(json.loads, (tmp_path / "rows.jsonl").read_text().splitlines())
    assert (done.returncode, score["value"], score["status"]) == (1, None, "error")
    assert "a cross-encoder with one output was wanted" in json.dumps(score["details"])


def test_the_role_has_a_default():
    assert LocalModels().settings_of("similarity").model == "cross-encoder/stsb-distilroberta-base"
