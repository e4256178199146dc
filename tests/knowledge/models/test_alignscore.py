"""AlignScore: a checkpoint as its authors save it, converted, and asked in batches."""

import asyncio

import numpy as np
import pytest
import tiny_grounding
from proctor import InputError
from proctor.knowledge.models.checkers import open_alignscore
from proctor.knowledge.models.finding import ModelChoice
from proctor.knowledge.models.loading import Place
from proctor.knowledge.models.pool import LocalModels
from proctor.knowledge.models.preparing import alignscore_config, alignscore_weights

PAIRS = [
    ("the refund period is 14 days", "refund is 14 days"),
    ("two cats sleep", "Paris is the capital of France"),
    ("the cats sleep " * 40, "two cats sleep"),
    ("Füße 😀", "naïve"),
    ("a", "b"),
    ("", ""),
]
TOO_LONG = [("the refund", "two cats " * 60), ("two cats " * 60, "the refund period " * 60)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_grounding.alignscore_folder(tmp_path_factory.mktemp("models") / "alignscore")


def upstream(folder, source, claim):
    """What the authors' network says: pooler, three-way head, softmax, first output; padded to the whole window."""
    import torch
    from transformers import AutoTokenizer

    network = tiny_grounding.alignscore_network()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    how = {"padding": "max_length", "max_length": tiny_grounding.WINDOW, "return_tensors": "pt"}
    fits = len(tokenizer(claim)["input_ids"]) + 3 <= tiny_grounding.WINDOW  # else the authors cut both
    tokens = tokenizer([source], [claim], truncation="only_first" if fits else True, **how)
    with torch.no_grad():
        pooled = network.base_model(**tokens).pooler_output
        return float(torch.softmax(network.tri_layer(pooled), dim=-1)[0, 0])


def said(folder, items):
    return open_alignscore(Place("tiny", folder, "alignscore model", "cpu")).run(items)


def test_values_are_those_of_the_authors_network(folder):
    wanted = [upstream(folder, *pair) for pair in PAIRS]
    assert max(wanted) - min(wanted) > 0.1
    found = said(folder, PAIRS)
    np.testing.assert_allclose([float(one.values[0]) for one in found], wanted, atol=1e-5)
    assert [one.values.shape for one in found] == [(1,)] * len(PAIRS)
    assert [one.truncated for one in found] == [False, False, True, False, False, False]


def test_a_claim_that_leaves_no_room_for_its_source_is_cut_as_the_authors_cut_it(folder):
    found = said(folder, [*PAIRS, *TOO_LONG])
    wanted = [upstream(folder, *pair) for pair in TOO_LONG]
    np.testing.assert_allclose([float(one.values[0]) for one in found[-2:]], wanted, atol=1e-5)
    assert [one.truncated for one in found[-2:]] == [True, True]


def test_the_claim_survives_a_source_that_is_too_long(folder):
    source = "the cats sleep " * 40
    first, second = said(folder, [(source, "two cats sleep"), (source, "Paris is the capital")])
    assert abs(first.values[0] - second.values[0]) > 1e-4


def test_it_is_asked_as_a_checker(folder):
    models = LocalModels({"alignscore": ModelChoice(str(folder), device="cpu")})
    try:
        checked = asyncio.run(models.tool("alignscore").check(PAIRS))
    finally:
        models.close()
    np.testing.assert_allclose(checked.probabilities, [upstream(folder, *pair) for pair in PAIRS], atol=1e-5)
    assert list(checked.truncated) == [False, False, True, False, False, False]


def test_only_what_is_needed_is_taken_from_a_checkpoint():
    state = tiny_grounding.alignscore_network().state_dict()
    state["base_model.embeddings.position_ids"] = state["tri_layer.bias"]
    weights = alignscore_weights(state)
    left_out = {name for name in state if name.startswith(("bin", "reg", "mlm"))}
    assert len(left_out) == 6
    assert len(weights) == len(state) - 7
    assert not any("position_ids" in name for name in weights)
    assert weights["classifier.out_proj.weight"].shape == (3, 128)
    config = alignscore_config(weights)
    assert (config["num_hidden_layers"], config["num_attention_heads"], config["hidden_size"]) == (2, 2, 128)
    assert (config["max_position_embeddings"], config["intermediate_size"]) == (tiny_grounding.WINDOW + 2, 256)


def test_a_checkpoint_of_something_else_is_refused():
    state = tiny_grounding.alignscore_network().state_dict()
    without_head = {name: value for name, value in state.items() if "tri" not in name}
    with pytest.raises(InputError, match=r"not one of AlignScore: it has no weights named tri_layer\."):
        alignscore_weights(without_head)


def test_a_model_with_other_outputs_is_refused(tmp_path):
    import tiny_models

    folder = tiny_models.cross_encoder_folder(tmp_path, ["no", "yes"])
    with pytest.raises(InputError, match="has 2 outputs: AlignScore's 3 were wanted"):
        said(folder, PAIRS)
