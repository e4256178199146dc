"""Cases: a run's questions in little memory are the same questions, in the same order, found by the same keys."""

import tracemalloc

import numpy as np
import pytest
from proctor.reports.compare.cases import Case, Cases
from proctor.reports.compare.comparable import cluster_codes, cluster_of


def many(count):
    for number in range(count):
        document = f"d{number % 13}" if number % 3 else ""
        extra = {"level": number % 4} if number % 10 == 0 else {}
        tags, answerable = (f"tag{number % 5}",), None if number % 2 else True
        text = f"What is number {number} \ud800?"
        yield Case(f"q{number}", text, f"{number % 7:032x}", document, tags, answerable, extra=extra)


def test_they_are_the_cases_that_were_given():
    cases = Cases(many(1_500))  # three blocks, the last one not full
    assert list(cases) == list(many(1_500))
    assert (cases[0], cases[-1], cases[1_023]) == tuple(list(many(1_500))[at] for at in (0, -1, 1_023))
    backwards = cases.at(np.arange(1_499, -1, -7))
    assert list(backwards) == list(many(1_500))[::-7]
    assert list(cases[10:20:3]) == list(many(20))[10:20:3]
    assert backwards.places["q1492"] == 1
    assert (backwards.places.get("q1493"), "q1493" in backwards.places) == (None, False)
    with pytest.raises(KeyError):
        backwards.places["q3"]
    assert (len(Cases(())), Cases(()).places.get("q0"), cluster_codes(Cases(()), "source").tolist()) == (0, None, [])


@pytest.mark.parametrize("cluster", ["source", "none", "tag", "tag:tag3"])
def test_clusters_are_those_of_one_question_after_the_other(cluster):
    cases = Cases(many(2_000)).at(np.random.default_rng(0).permutation(2_000)[:900])
    codes: dict[tuple[bool, str], int] = {}
    wanted = [codes.setdefault(cluster_of(case, cluster), len(codes)) for case in cases]
    assert cluster_codes(cases, cluster).tolist() == wanted


def test_a_question_takes_a_fifth_of_what_an_object_does():
    tracemalloc.start()
    objects = list(many(20_000))
    whole = tracemalloc.get_traced_memory()[0]
    del objects
    before = tracemalloc.get_traced_memory()[0]
    cases = Cases(many(20_000))
    packed = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert len(cases) == 20_000
    assert packed < whole / 5
