"""What was retrieved, measured against the places of the answer."""

import math

import pytest
from proctor.bots.bot import Context
from proctor.harness.analysis.configurations import METRICS, Yardstick, context_precision, gold_places, prompt_tokens
from proctor.harness.analysis.corpus import QuestionGold
from proctor.knowledge.questions.question import Evidence
from proctor.metrics.facts import Place
from tables import in_one_test

GOLD = [[Place("a", 100, 200)], [Place("b", 0, 50), Place("c", 0, 50)]]
HIT_A, HIT_B, HIT_C = Place("a", 90, 210), Place("b", 0, 60), Place("c", 10, 60)
MISS = Place("a", 300, 400)


@in_one_test(
    ("retrieved", "value"),
    [
        ([HIT_A], 1.0),
        ([MISS], 0.0),
        ([], 0.0),
        ([HIT_A, MISS], 1.0),
        ([MISS, HIT_A], 0.5),
        ([MISS, HIT_A, HIT_C, MISS], (1 / 2 + 2 / 3) / 2),
        ([HIT_B, HIT_C], 1.0),
        ([HIT_A, MISS, HIT_A], (1 + 2 / 3) / 2),
    ],
)
def test_context_precision_is_average_precision_over_what_was_retrieved(retrieved, value):
    assert context_precision(retrieved, GOLD) == pytest.approx(value)


def test_context_precision_of_passages_that_tell_no_document_is_not_known():
    assert context_precision([HIT_A, Place("")], GOLD) is None


def context(place, text="four"):
    return Context(text, place.document, place.start, place.end)


def test_every_metric_is_that_of_the_package():
    values = Yardstick().values([context(MISS), context(HIT_A), context(HIT_C)], GOLD)
    assert tuple(sorted(values)) == tuple(sorted(METRICS))
    assert values["hit_rate"] == values["evidence_recall"] == 1.0
    assert values["mrr"] == 0.5
    best = 1 + 1 / math.log2(3)
    assert values["ndcg"] == pytest.approx((1 / math.log2(3) + 1 / math.log2(4)) / best)
    assert values["span_recall"] == pytest.approx((100 + 40) / 150)
    assert values["span_precision"] == pytest.approx(140 / (100 + 120 + 50))
    assert values["context_precision"] == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert values["prompt_tokens"] == 3.0


def test_who_retrieves_nothing_has_found_nothing():
    assert Yardstick().values([], GOLD) == dict.fromkeys(METRICS, 0.0)


def test_passages_that_tell_no_place_have_no_value_and_never_a_zero():
    values = Yardstick().values([context(Place(""))], GOLD)
    assert values.pop("prompt_tokens") == 1.0
    assert set(values.values()) == {None}


def test_of_a_document_alone_spans_are_not_known():
    values = Yardstick().values([context(Place("a"))], GOLD)
    assert values["evidence_recall"] == 0.5
    assert values["span_recall"] is None


def test_tokens_are_a_quarter_of_the_bytes():
    assert prompt_tokens([]) == 0
    assert prompt_tokens(["\u00e9" * 4, "abcd"]) == 3.0
    assert prompt_tokens(["\ud800"]) == 0.75  # half a character is no mistake of ours


def test_places_are_those_of_the_groups():
    gold = QuestionGold("evidence", ((Evidence("a", "q", 1, 2), Evidence("b")), (Evidence("c", "", 3, 4),)))
    assert gold_places(gold) == [[Place("a", 1, 2), Place("b")], [Place("c", 3, 4)]]
