import pytest
from proctor.reports.robustness.flips import repeat_flips, word_overlap
from proctor.reports.robustness.perturbed import Perturbation, perturbation_of
from tables import in_one_test


def test_what_perturbing_writes_is_read():
    mark = {"id": "q1", "kind": "keyboard_typo", "intensity": 0.1, "variant": 2, "must": "other", "changed": 3}
    assert perturbation_of({"perturbs": mark}) == Perturbation("q1", "keyboard_typo", 0.1, 2, "other")
    assert perturbation_of({"other": 1}) is None
    assert perturbation_of({"perturbs": "q1"}) == Perturbation("q1")
    assert perturbation_of({"perturbs": {"id": "q1", "kind": "identity", "intensity": 0}}).is_control


@in_one_test(
    "mark",
    [
        {}, {"id": ""}, {"id": True}, [], {"id": "q", "kind": 3}, {"id": "q", "intensity": 2},
        {"id": "q", "intensity": float("nan")}, {"id": "q", "intensity": True}, {"id": "q", "must": "differ"},
        {"id": "q", "variant": "a"},
    ],
)  # fmt: skip
def test_what_can_not_be_read_is_no_rewording_by_guess(mark):
    with pytest.raises(ValueError, match="it"):
        perturbation_of({"perturbs": mark})


def test_words_in_common():
    assert word_overlap("a b c", "A b. d") == pytest.approx(2 / 3)
    assert word_overlap("", "") == 1.0
    assert word_overlap("", "a") == 0.0
    assert word_overlap("no no no", "no") == pytest.approx(0.5)


def test_repeats_flip_by_pairs():
    import numpy as np

    outcomes = np.array([[1, 1, 0], [1, -1, 0], [1, -1, -1], [0, 0, 0]], np.int8)
    assert repeat_flips(outcomes) == pytest.approx([2 / 3, 1.0, np.nan, 0.0], nan_ok=True)
