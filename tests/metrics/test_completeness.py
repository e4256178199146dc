import asyncio
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from proctor import InputError
from proctor.metrics import Embedder, Facts, NotApplicable, Score, Status, builtin_catalog
from proctor.metrics.local.summaries import completeness, reduced, spread
from stub_embedder import StubEmbedder
from tables import in_one_test

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "completeness.json").read_text("utf-8"))["cases"]
SQUARE = np.array([(0, 0), (4, 0), (4, 3), (0, 3), (2, 1)], dtype=float)
SENTENCES = [f"Sentence number {number} of the source." for number in range(5)]
NEAR = ["This one is near the first.", "This one is near the second."]
AXES = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (-1.0, 0.0, 0.0), (0.0, -1.0, 0.0)]
TOLD = dict(zip(SENTENCES, AXES, strict=True))
TOLD |= {NEAR[0]: (0.99, 0.1, 0.0), NEAR[1]: (0.1, 0.99, 0.0)}


def score(facts: Facts, embedder: Embedder | None = None, **options: object) -> Score:
    source = {"source_sentences": {"source": options.pop("source")}} if "source" in options else {}
    plan = builtin_catalog().plan(["summary_completeness"], options={"summary_completeness": options, **source})
    (made,) = asyncio.run(plan.score({**facts, "embedder": embedder or StubEmbedder(TOLD)}))
    return made


def test_the_example_of_the_specification() -> None:
    assert spread(SQUARE) == pytest.approx(5 + 4 + 4)
    assert round(completeness(SQUARE, np.array([(0.2, 0.1), (3.8, 0.1)])), 4) == 0.3077


@in_one_test("case", GOLDEN)
def test_the_values_are_those_of_scikit_learn_and_scipy(case: dict[str, object]) -> None:
    source, summary = np.array(case["source"]), np.array(case["summary"])
    assert completeness(source, summary) == pytest.approx(case["values"]["none"], abs=1e-9)
    assert completeness(*reduced(source, summary, case["components"])) == pytest.approx(case["values"]["pca"], abs=1e-9)


@pytest.mark.parametrize(
    ("points", "value"),
    [
        ([(1, 1)], 0.0),
        ([(0, 0), (3, 4)], 5.0),
        ([(0, 0), (0, 0), (3, 4)], 5.0),  # a point that stands twice is one point
        ([(0.0, 0), (-0.0, 0), (3, 4)], 5.0),
        ([(0, 0), (1e-13, 0), (3, 4)], 5.0),
        ([(0, 0), (1, 0), (3, 0)], 3.0 + 1.0 + 2.0),
    ],
)
def test_spread_of_few_points(points: list[tuple[float, float]], value: float) -> None:
    assert spread(np.array(points, dtype=float)) == pytest.approx(value)


def test_a_source_without_spread_has_no_completeness() -> None:
    with pytest.raises(NotApplicable, match="undefined"):
        completeness(np.ones((4, 3)), np.eye(3))


points = st.lists(st.tuples(*[st.integers(-5, 5)] * 3), min_size=2, max_size=8, unique=True)


@given(points, points)
@settings(max_examples=100)
def test_properties(source: list[tuple[int, ...]], summary: list[tuple[int, ...]]) -> None:
    first, second = np.array(source, dtype=float), np.array(summary, dtype=float)
    value = completeness(first, second)
    assert 0 <= value <= 1
    assert completeness(first, first) == 1.0
    assert completeness(first, np.concatenate([second, second])) == value
    assert completeness(first * 2, second * 2) == pytest.approx(value)


def test_reduction_has_fixed_signs_and_is_fitted_on_the_source_alone() -> None:
    picker = np.random.default_rng(1)
    source, summary = picker.normal(size=(9, 6)), picker.normal(size=(3, 6))
    inside, outside = reduced(source, summary, 5)
    again, other = reduced(source, summary[:1] + 7, 5)
    assert (inside.shape, outside.shape, other.shape) == ((9, 5), (3, 5), (1, 5))
    assert np.array_equal(inside, again)
    # a direction's greatest part is positive: turning all of space around changes nothing but the sign of points
    mirrored, _ = reduced(-source, -summary, 5)
    assert np.allclose(mirrored, -inside)


def test_two_source_sentences_have_one_component() -> None:
    inside, _ = reduced(np.eye(2), np.eye(2), 2)
    assert inside.shape == (2, 2)
    assert spread(inside) == pytest.approx(np.sqrt(2))


@pytest.mark.parametrize("reducer", ["pca", "none"])
def test_an_answer_that_says_everything_is_complete(reducer: str) -> None:
    made = score({"question": " ".join(SENTENCES), "answer": " ".join(SENTENCES[::-1])}, reducer=reducer)
    assert made.value == pytest.approx(1.0)
    assert made.details == {
        "model": "stub", "truncated": False, "source_sentences": 5, "answer_sentences": 5, "reducer": reducer,
    }  # fmt: skip


def test_an_answer_that_says_part_of_it_covers_less() -> None:
    made = score({"question": " ".join(SENTENCES), "answer": " ".join(NEAR)}, reducer="none")
    source = np.array([TOLD[sentence] for sentence in SENTENCES])
    assert made.value == pytest.approx(np.sqrt(2) / spread(source))
    repeated = score({"question": " ".join(SENTENCES), "answer": " ".join(NEAR * 3)}, reducer="none")
    assert repeated.value == made.value


def test_the_source_may_be_the_contexts() -> None:
    facts: Facts = {"contexts": [" ".join(SENTENCES[:3]), " ".join(SENTENCES[3:])], "answer": " ".join(NEAR)}
    made = score(facts, source="contexts")
    same = score({"question": " ".join(SENTENCES), "answer": facts["answer"]})
    assert (made.value, made.details["source_sentences"]) == (same.value, 5)


@in_one_test(
    ("facts", "options", "reason", "details"),
    [
        ({"answer": " "}, {}, "too_short", {}),
        ({"answer": "One sentence alone."}, {}, "too_short", {"answer_sentences": 1}),
        ({"question": "One sentence alone."}, {}, "too_short", {"source_sentences": 1}),
        ({"question": "Why? How?"}, {}, "too_short", {"source_sentences": 0}),
        ({"question": ""}, {}, "question_missing", {}),
        ({"answer": None}, {}, "answer_missing", {}),
        ({}, {"source": "contexts"}, "contexts_missing", {}),
        ({"contexts": ["", " "]}, {"source": "contexts"}, "contexts_empty", {}),
        ({"contexts": ["Short."]}, {"source": "contexts"}, "too_short", {"source_sentences": 0}),
    ],
)
def test_rows_without_a_value(facts: Facts, options: dict[str, object], reason: str, details: object) -> None:
    whole: Facts = {"question": " ".join(SENTENCES), "answer": " ".join(NEAR), **facts}
    made = score(whole, **options)
    assert (made.status, made.reason, made.details) == (Status.NOT_APPLICABLE, reason, details)


def test_an_option_outside_of_its_choices_is_refused_before_anything_is_scored() -> None:
    with pytest.raises(InputError, match=r"summary_completeness.reducer is 'umap'; one of 'pca', 'none' is wanted"):
        score({}, reducer="umap")


def test_a_long_source_stays_within_memory_and_time() -> None:
    picker = np.random.default_rng(2)
    source = picker.normal(size=(3_000, 32))
    assert 0 < completeness(*reduced(source, source[:20], 5)) <= 1
