"""The interpreter's settings are those of before once a run is over."""

import gc
import sys

import pytest
from proctor.harness.run.isolation import settle, undisturbed


def test_what_is_changed_for_a_run_is_put_back_however_it_ends():
    before = sys.getswitchinterval()
    seen = []

    def run():
        with undisturbed():
            settle()
            seen.extend([sys.getswitchinterval(), gc.get_freeze_count()])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        run()
    turn, frozen = seen
    assert turn < before and frozen > 0
    assert (sys.getswitchinterval(), gc.get_freeze_count()) == (before, 0)


def test_turns_that_are_shorter_already_stay():
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.0001)
    try:
        with undisturbed():
            assert sys.getswitchinterval() == pytest.approx(0.0001, rel=0.1)
    finally:
        sys.setswitchinterval(before)


def test_of_runs_in_two_threads_the_last_puts_back_what_the_first_found():
    before = sys.getswitchinterval()
    first, second = undisturbed(), undisturbed()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert sys.getswitchinterval() < before
    second.__exit__(None, None, None)
    assert sys.getswitchinterval() == before
