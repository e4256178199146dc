import inspect
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from proctor.metrics import Catalog, Score, Status, artefact, builtin_catalog, metric
from proctor.metrics.judge.boolean import Check, boolean_metrics, contexts_to_check
from proctor.metrics.score import Reason
from tables import in_one_test

SUFFIXES = ("passes", "failures", "retrieval_failures", "generation_failures", "parse_failures")
EVALUATORS = ("tokens_presence", "pii_leakage", "sensitive_data_leakage")


@artefact
def shouting(answer: str, contexts: list[str] | None = None) -> Check:
    """Whether anybody shouts, as a judge of little patience says."""
    if answer == "?":
        return Check(None, None, unreadable="the judge mumbled")
    checked = contexts_to_check(contexts, True)
    in_contexts = checked if isinstance(checked, Reason) else any(text.isupper() for text in checked)
    return Check(answer.isupper(), in_contexts, [{"shouted": answer[:3]}] if answer.isupper() else [])


FAMILY = boolean_metrics(shouting, "shouting", "this test", judged=True)
CATALOG = Catalog.of(shouting, *FAMILY)
PLAN = CATALOG.plan([f"shouting.{suffix}" for suffix in SUFFIXES])


def aggregate(scores: list[Score]) -> Fraction:
    """The rate over rows, as the declaration says: sum of values over rows with a value or unreadable."""
    counted = [score for score in scores if score.status in (Status.OK, Status.PARSE_FAILURE)]
    return sum((Fraction(score.value or 0) for score in counted), Fraction(0)) / len(counted)


def test_the_example_of_the_specification() -> None:
    rows = [("yes", "no"), ("YES", "no"), ("yes", "NO"), ("YES", "NO"), ("?", "no"), ("yes", "no")]
    scored = [PLAN.score_now({"answer": answer, "contexts": [context]}) for answer, context in rows]
    found = {suffix: aggregate([row[place] for row in scored]) for place, suffix in enumerate(SUFFIXES)}
    assert found == {
        "passes": Fraction(2, 6),
        "failures": Fraction(3, 6),
        "retrieval_failures": Fraction(2, 6),
        "generation_failures": Fraction(2, 6),
        "parse_failures": Fraction(1, 6),
    }
    values = [row[0].value for row in scored if row[0].value is not None]
    assert sum(values) / len(values) == 0.4  # passes among the readable rows


@given(st.lists(st.tuples(st.sampled_from(["a", "A", "?"]), st.sampled_from([None, [], ["b"], ["B"]])), min_size=1))
def test_passes_failures_and_parse_failures_add_up_to_one(rows: list[tuple[str, list[str] | None]]) -> None:
    scored = [PLAN.score_now({"answer": answer, "contexts": contexts}) for answer, contexts in rows]
    passes, failures, unreadable = (aggregate([row[place] for row in scored]) for place in (0, 1, 4))
    assert passes + failures + unreadable == 1


def test_an_unreadable_verdict_is_no_failure() -> None:
    scores = PLAN.score_now({"answer": "?", "contexts": ["b"]})
    assert [score.status for score in scores] == ["parse_failure"] * 4 + ["ok"]
    assert [score.value for score in scores] == [None, None, None, None, 1.0]
    assert scores[0].reason == "judge_unparseable"
    assert scores[0].details == {"message": "the judge mumbled"}


def test_an_unreadable_verdict_says_nothing_of_contexts_that_were_not_checked() -> None:
    @artefact
    def mumbled(answer: str) -> Check:
        """An answer that the judge mumbles about."""
        return Check(None, Reason.CONTEXTS_MISSING, unreadable="the judge mumbled")

    family = boolean_metrics(mumbled, "mumbling", "this test", judged=True)
    plan = Catalog.of(mumbled, *family).plan([f"mumbled.{suffix}" for suffix in SUFFIXES])
    scores = plan.score_now({"answer": "yes"})
    assert [score.status for score in scores] == [
        "parse_failure", "parse_failure", "not_applicable", "parse_failure", "ok",
    ]  # fmt: skip
    assert scores[2].reason == "contexts_missing"


def test_findings_stand_at_passes_only() -> None:
    scores = PLAN.score_now({"answer": "LOUD"})
    assert scores[0].details == {"answer": [{"shouted": "LOU"}]}
    assert [score.details for score in scores[1:]] == [{}] * 4


def test_details_are_kept_short() -> None:
    @artefact
    def many(answer: str) -> Check:
        """Many findings."""
        return Check(True, Reason.CONTEXTS_MISSING, [{"place": place} for place in range(1_000)])

    family = boolean_metrics(many, "many things", "this test")
    score = Catalog.of(many, *family).plan(["many.passes"]).score_now({"answer": "x"})[0]
    assert len(score.details["answer"]) == 20
    assert score.details["more"] == 980


@in_one_test(
    ("contexts", "wanted", "reason"),
    [
        (None, True, "contexts_missing"),
        (None, False, "contexts_missing"),
        ([], True, "contexts_empty"),
        (["  ", ""], True, "contexts_empty"),
        (["text"], False, "contexts_not_checked"),
    ],
)
@in_one_test("evaluator", EVALUATORS)
def test_contexts_that_are_not_checked_give_no_value(
    evaluator: str, contexts: list[str] | None, wanted: bool, reason: str
) -> None:
    plan = builtin_catalog().plan(
        [f"{evaluator}.{suffix}" for suffix in SUFFIXES], options={evaluator: {"check_contexts": wanted}}
    )
    scores = plan.score_now({"answer": "fine", "contexts": contexts, "constraints": ["fine"]})
    assert [score.value for score in scores] == [1.0, 0.0, None, 0.0, None]
    assert (scores[2].status, scores[2].reason) == ("not_applicable", reason)


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_patterns_have_no_parse_failures(evaluator: str) -> None:
    score = builtin_catalog().plan([f"{evaluator}.parse_failures"]).score_now({"answer": "x", "constraints": ["x"]})[0]
    assert (score.value, score.status, score.reason) == (None, "not_applicable", "no_judge_requests")


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_the_declaration_of_a_family(evaluator: str) -> None:
    catalog = builtin_catalog()
    planned = catalog.plan([f"{evaluator}.{suffix}" for suffix in SUFFIXES]).metrics
    assert [one.id for one in planned] == [f"{evaluator}.{suffix}" for suffix in SUFFIXES]
    assert {one.aggregate for one in planned} == {"rate"}
    assert {one.threshold for one in planned} == {0.5}
    assert [one.better for one in planned] == ["higher", "lower", "lower", "lower", "lower"]
    assert len({one.version for one in planned}) == 5
    assert inspect.getdoc(catalog.artefacts[evaluator].function) in catalog.metrics[f"{evaluator}.passes"].documentation


def test_the_check_is_made_once_for_all_members() -> None:
    made: list[str] = []

    @artefact
    def counted(answer: str) -> Check:
        """Counted."""
        made.append(answer)
        return Check(False, False)

    family = boolean_metrics(counted, "counting", "this test")
    plan = Catalog.of(counted, *family).plan([f"counted.{suffix}" for suffix in SUFFIXES])
    plan.score_now({"answer": "once"})
    assert made == ["once"]


def test_options_of_the_check_change_the_version_of_its_members() -> None:
    catalog = builtin_catalog()
    plain = catalog.plan(["pii_leakage.passes"]).metrics[0].version
    assert catalog.plan(["pii_leakage.passes"]).metrics[0].version == plain
    options = {"pii_leakage": {"suite": "extended"}}
    assert catalog.plan(["pii_leakage.passes"], options=options).metrics[0].version != plain


def test_a_metric_may_be_named_otherwise_than_its_function() -> None:
    @metric(id="length.of_answer", aggregate="mean", high=None)
    def length(answer: str) -> float:
        """Length."""
        return float(len(answer))

    catalog = Catalog.of(length)
    assert list(catalog.metrics) == ["length.of_answer"]
    assert catalog.plan(["length.of_answer"]).score_now({"answer": "abc"})[0].value == 3.0


def test_a_bot_that_failed_is_neither_pass_nor_failure() -> None:
    assert {(score.value, score.status) for score in PLAN.bot_failed()} == {(None, "bot_error")}
