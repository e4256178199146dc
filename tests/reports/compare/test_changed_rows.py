"""The questions that fell and rose most, with both answers."""

from dataclasses import replace

import numpy as np
from proctor.reports.compare.changes import changed_rows
from proctor.reports.compare.comparable import pair
from two_operands import made, paired

NAN = float("nan")


def keys(rows) -> list[str]:
    return [row.key for row in rows]


def test_flips_of_the_threshold_go_before_greater_changes():
    #       q0 falls far, q1 flips,  q2 nothing, q3 rises far, q4 flips up, q5 missing
    found = changed_rows(paired([0.45, 0.55, 0.3, 0.5, 0.45, NAN], [0.0, 0.45, 0.3, 1.0, 0.55, 1.0]), "recall", 9)
    assert keys(found.losses) == ["q1", "q0"]
    assert keys(found.gains) == ["q4", "q3"]
    assert [row.flip for row in found.losses] == ["pass_to_fail", None]
    assert (found.losses[0].baseline_value, found.losses[0].candidate_value) == (0.55, 0.45)


def test_where_lower_is_better_a_rise_is_a_loss():
    found = changed_rows(paired([0.1, 0.9, 0.2], [0.9, 0.1, 0.3], "toxicity"), "toxicity", 9)
    assert keys(found.losses) == ["q0", "q2"]
    assert keys(found.gains) == ["q1"]
    assert found.losses[0].flip == "pass_to_fail"


def test_no_more_than_wanted_and_none_without_a_direction():
    pairing = paired([0.0] * 6, [0.1, 0.2, 0.3, 0.4, 0.45, 0.49])
    assert keys(changed_rows(pairing, "recall", 2).gains) == ["q5", "q4"]
    assert changed_rows(pairing, "recall", 2).losses == ()
    assert changed_rows(pairing, "recall", 0).gains == ()
    assert changed_rows(paired([1.0], [2.0], "words"), "words", 3).gains == ()


def test_the_answer_is_that_of_the_repeat_nearest_to_the_mean():
    baseline = replace(made("a", {"recall": [[1.0, 1.0, 1.0]]}), answers=lambda key, repeat: f"{key} before {repeat}")
    candidate = replace(made("b", {"recall": [[1.0, 0.2, 0.0]]}), answers=lambda key, repeat: f"{key} after {repeat}")
    (row,) = changed_rows(pair(baseline, candidate), "recall", 3).losses
    assert row.baseline_answer == "q0 before 0"
    assert row.candidate_answer == "q0 after 1"


def test_a_repeat_without_a_value_is_never_shown():
    baseline = made("a", {"recall": [[1.0, 1.0]]})
    candidate = replace(made("b", {"recall": [[NAN, 0.0]]}), answers=lambda _, repeat: f"repeat {repeat}")
    (row,) = changed_rows(pair(baseline, candidate), "recall", 3).losses
    assert row.candidate_answer == "repeat 1"
    assert np.isfinite(row.candidate_value)
