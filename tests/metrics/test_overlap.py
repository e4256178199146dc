import json
import math
import random
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from proctor.metrics import Measured, NotApplicable
from proctor.metrics.artefacts import answer_words, ngram_matches
from proctor.metrics.lexical import (
    LONGEST_SUBSEQUENCE_TEXT,
    NgramMatches,
    bleu,
    bleu_1,
    bleu_2,
    bleu_3,
    bleu_4,
    clipped_matches,
    common_subsequence_length,
    rouge_1,
    rouge_2,
    rouge_l,
    rouge_tokens,
)
from proctor.metrics.text import sentences, word_tokens
from tables import in_one_test

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "overlap.json").read_text("utf-8"))["cases"]
ALONE = (bleu_1, bleu_2, bleu_3, bleu_4)
ROUGES = {"rouge1": rouge_1, "rouge2": rouge_2, "rougeL": rouge_l}
ROUGE = {name: partial(metric, missing_words=[]) for name, metric in ROUGES.items()}
A, E = "The cat is on the mat in the hall.", "The cat is sitting on the mat in the hall."
words = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=12)


def counted_in(answer: str, expected: str) -> NgramMatches:
    return ngram_matches(answer_words(answer), answer_words(expected))


def case_id(case: dict[str, str]) -> str:
    return case["answer"][:30]


@in_one_test("case", GOLDEN)
def test_words_are_those_of_the_libraries(case: dict[str, list[str]]) -> None:
    for operand in ("answer", "expected"):
        found = [word for sentence in sentences(str(case[operand])) for word in word_tokens(sentence)]
        assert found == case[f"{operand}_words"]


@in_one_test("case", GOLDEN)
def test_bleu_is_nltks(case: dict[str, object]) -> None:
    counted = counted_in(str(case["answer"]), str(case["expected"]))
    shorter, longer = sorted((counted.answer_length, counted.expected_length))
    for order, (metric, golden) in enumerate(zip(ALONE, case["bleu_alone"], strict=True), start=1):
        if longer < order:
            with pytest.raises(NotApplicable, match="too_short"):
                metric(counted)
        else:
            # NLTK gives the least positive number in place of 0.
            assert metric(counted) == pytest.approx(golden if golden > 1e-300 else 0, abs=1e-9)
    if shorter >= 4:
        wanted = float(case["bleu"])  # its 0 is about 1e-78 for one order without a match
        assert bleu(counted) == pytest.approx(wanted if wanted > 1e-70 else 0, abs=1e-9)
    else:
        with pytest.raises(NotApplicable, match="too_short"):
            bleu(counted)


@in_one_test("case", GOLDEN)
@in_one_test("name", ROUGE)
def test_rouge_is_that_of_rouge_score(case: dict[str, object], name: str) -> None:
    measured = ROUGE[name](rouge_tokens(str(case["answer"])), rouge_tokens(str(case["expected"])))
    precision, recall, value = case["rouge"][name]
    assert measured.value == pytest.approx(value, abs=1e-9)
    assert measured.details == {"precision": pytest.approx(precision), "recall": pytest.approx(recall)}


def test_the_examples_of_the_specification() -> None:
    counted = counted_in(A, E)
    assert (counted.answer_length, counted.expected_length) == (10, 11)
    assert [round(metric(counted), 4) for metric in ALONE] == [0.9048, 0.8043, 0.6786, 0.5170]
    assert round(bleu(counted), 4) == 0.7109
    measured = [metric(rouge_tokens(A), rouge_tokens(E)) for metric in ROUGE.values()]
    assert [round(one.value, 4) for one in measured] == [0.9474, 0.8235, 0.9474]
    assert measured[0].details == {"precision": 1.0, "recall": 0.9}
    stemmed = [m(rouge_tokens("the cats were running"), rouge_tokens("the cat runs")).value for m in ROUGE.values()]
    assert [round(value, 4) for value in stemmed] == [0.8571, 0.4, 0.8571]


def test_bleu_without_a_match_is_exactly_zero() -> None:
    assert bleu_2(clipped_matches(["yes"], ["yes", "sir"])) == 0.0
    assert bleu(clipped_matches(["a", "b", "c", "d", "e"], ["e", "d", "c", "b", "a"])) == 0.0


@pytest.mark.parametrize("count", [1, 3])
def test_too_short_for_bleu(count: int) -> None:
    short = ["word"] * count
    with pytest.raises(NotApplicable, match="too_short"):
        bleu(clipped_matches(short, ["word"] * 9))
    with pytest.raises(NotApplicable, match="too_short"):
        ALONE[count](clipped_matches(short, short))
    assert ALONE[count](clipped_matches(short, ["word"] * 9)) == 0.0


def test_rouge_cannot_read_other_scripts() -> None:
    for metric in ROUGE.values():
        with pytest.raises(NotApplicable, match="too_short") as outcome:
            metric(rouge_tokens("Привет"), rouge_tokens("Привет"))
        assert outcome.value.details == {"tokens": 0}


@given(words, words)
@settings(max_examples=200)
def test_cumulative_bleu_is_the_geometric_mean_of_the_orders(first: list[str], second: list[str]) -> None:
    counted = clipped_matches(first, second)
    if min(len(first), len(second)) < 4:
        return
    alone = [metric(counted) for metric in ALONE]
    assert bleu(counted) == pytest.approx(math.prod(alone) ** 0.25)


@given(words, words)
@settings(max_examples=200)
def test_the_subsequence_is_as_long_as_the_table_says(first: list[str], second: list[str]) -> None:
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, one in enumerate(first):
        for j, other in enumerate(second):
            table[i + 1][j + 1] = table[i][j] + 1 if one == other else max(table[i][j + 1], table[i + 1][j])
    assert common_subsequence_length(first, second) == table[-1][-1]


@given(words, words)
@settings(max_examples=100)
def test_rouge_swaps_precision_and_recall_with_its_sides(first: list[str], second: list[str]) -> None:
    if not first or not second:
        return
    for metric in ROUGE.values():
        one, other = metric(first, second), metric(second, first)
        assert isinstance(one, Measured) and isinstance(other, Measured)
        assert one.value == pytest.approx(other.value)
        assert one.details["precision"] == other.details["recall"]


def test_two_texts_of_a_megabyte_are_compared() -> None:
    picker = random.Random(3)
    first, second = (" ".join(picker.choices(["ab", "cd", "ef", "gh", "ij", "kl"], k=330_000)) for _ in range(2))
    measured = rouge_l(rouge_tokens(first), rouge_tokens(second), [])
    rouge_2(rouge_tokens(first), rouge_tokens(second), [])
    counted_in(first, second)
    assert measured.details["truncated"] is True


def test_only_a_text_over_the_bound_is_cut() -> None:
    bound = ["a"] * LONGEST_SUBSEQUENCE_TEXT
    assert rouge_l(bound, bound, []) == Measured(1.0, {"precision": 1.0, "recall": 1.0})
    assert rouge_l([*bound, "b"], ["b"], []) == Measured(0.0, {"precision": 0.0, "recall": 0.0, "truncated": True})
