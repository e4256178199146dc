"""Which bots of two sides are compared."""

import pytest
from proctor import InputError
from proctor.reports.compare.operands import check_bot, match_bots
from two_operands import made, side_of


def operand(*bots: str, run: str = "run-1", bot: str | None = None, **changes: object):
    return side_of(*(made(each, {"recall": [0.0]}, run=run) for each in bots), bot=bot, **changes)


def test_two_named_bots_are_compared_whatever_they_are_called():
    assert match_bots(operand("faq", bot="faq"), operand("rag", bot="rag")).pairs == (("faq", "rag"),)


def test_two_runs_are_compared_bot_by_bot_and_the_others_are_named():
    found = match_bots(operand("faq", "rag", "old"), operand("rag", "faq", "new", run="run-2"))
    assert found.pairs == (("rag", "rag"), ("faq", "faq"))
    assert (found.baseline_only, found.candidate_only) == (("old",), ("new",))


def test_of_two_runs_only_the_wanted_bots():
    found = match_bots(operand("faq", "rag"), operand("faq", "rag", run="run-2"), ["rag"])
    assert found.pairs == (("rag", "rag"),)
    assert (found.baseline_only, found.candidate_only) == ((), ())


def test_a_named_bot_meets_its_namesake_or_the_only_one():
    run = operand("faq", "rag", run="run-2")
    assert match_bots(operand("rag", bot="rag"), run).pairs == (("rag", "rag"),)
    assert match_bots(run, operand("rag", bot="rag")).pairs == (("rag", "rag"),)
    assert match_bots(operand("old", bot="old"), operand("rag", run="run-2")).pairs == (("old", "rag"),)
    assert match_bots(operand("rag", run="run-2"), operand("old", bot="old")).pairs == (("rag", "old"),)


def test_two_runs_of_one_bot_each_are_compared_under_any_name():
    assert match_bots(operand("old"), operand("new", run="run-2")).pairs == (("old", "new"),)


@pytest.mark.parametrize(
    ("baseline", "candidate", "bots", "words"),
    [
        (operand("a", "b"), operand("c", "d", run="run-2"), [], "No bot is in both"),
        (operand("x", bot="x"), operand("a", "b", run="run-2"), [], "Name two, as in run-1:x run-2:a"),
        (operand("faq", "rag"), operand("faq", "rag", run="run-2"), ["rga"], "Did you mean rag?"),
        (operand("rag", bot="rag"), operand("rag", bot="rag"), [], "Both sides are the same, bot rag of run run-1"),
        (operand("faq", "rag"), operand("faq", "rag"), [], "proctor compare faq rag"),
    ],
)
def test_what_does_not_match_is_told(baseline, candidate, bots, words):
    with pytest.raises(InputError) as error:
        match_bots(baseline, candidate, bots)
    assert words in str(error.value)


def test_a_bot_that_is_not_in_a_run():
    run = operand("faq", "rag").run
    check_bot(run, "rag")
    with pytest.raises(InputError, match="Did you mean faq"):
        check_bot(run, "fqa")
