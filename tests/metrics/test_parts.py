"""Parts: one artefact serves several metrics, with what they ask for and nothing else."""

import asyncio
import itertools
from collections.abc import Sequence

import pytest
from proctor import InputError
from proctor.metrics import Catalog, Facts, Measured, NotApplicable, Score, artefact, metric


@artefact
def words(answer: str) -> tuple[str, ...]:
    """The words of the answer; none is a failure."""
    if not answer.strip():
        raise NotApplicable("no_words")
    return tuple(answer.split())


@artefact
def lines(contexts: Sequence[str]) -> tuple[str, ...]:
    """The lines of the contexts."""
    if "broken" in contexts:
        raise RuntimeError("broken")
    return tuple(contexts)


@artefact(parts=("words", "lines"))
async def counted(
    question: str, words: tuple[str, ...] | None = None, lines: tuple[str, ...] | None = None
) -> tuple[object, ...]:
    """What it was given."""
    return (words, lines)


@metric(blank_answer="measure")
def of_words(counted: tuple[object, ...], words: tuple[str, ...]) -> Measured:
    """Words."""
    return Measured(1.0, {"given": counted})


@metric
def of_lines(counted: tuple[object, ...], lines: tuple[str, ...]) -> Measured:
    """Lines."""
    return Measured(1.0, {"given": counted})


@metric
def of_neither(counted: tuple[object, ...]) -> Measured:
    """Neither."""
    return Measured(1.0, {"given": counted})


@metric
def words_alone(words: tuple[str, ...]) -> float:
    """Words alone."""
    return 1.0


ALL = (of_words, of_lines, of_neither, words_alone)
CATALOG = Catalog.of(words, lines, counted, *ALL)
ROW: Facts = {"question": "q", "answer": "a b", "contexts": ["c"]}


def scores(names: Sequence[str], facts: Facts, only: Sequence[str] = ()) -> dict[str, Score]:
    plan = CATALOG.plan(names)
    plan = plan.subset(only) if only else plan
    return {score.metric: score for score in asyncio.run(plan.score(facts))}


def given(names: Sequence[str], facts: Facts = ROW, only: Sequence[str] = ()) -> object:
    """What ``counted`` was given; the same for all metrics that rest on it."""
    (found,) = {score.details["given"] for score in scores(names, facts, only).values() if "given" in score.details}
    return found


def test_a_part_is_given_only_where_something_that_needs_the_artefact_needs_it_too() -> None:
    assert given(["of_neither"]) == (None, None)
    assert given(["of_words"]) == (("a", "b"), None)
    assert given(["of_neither", "of_lines"]) == (None, ("c",))
    assert given(["of_words", "of_lines", "of_neither"]) == (("a", "b"), ("c",))
    assert given(["of_neither", "words_alone"]) == (None, None)


def test_facts_of_parts_that_are_not_given_are_not_missed() -> None:
    assert CATALOG.metrics["of_neither"].needs == ("question",)
    assert CATALOG.metrics["of_neither"].optional == ()
    assert CATALOG.plan(["of_neither"]).needs == {"question"}
    assert scores(["of_neither"], {"question": "q"})["of_neither"].value == 1.0


@pytest.mark.parametrize(
    ("facts", "reasons", "parts"),
    [
        ({"question": "q", "contexts": ["c"]}, ("answer_missing", ""), (None, ("c",))),
        ({"question": "q", "answer": " ", "contexts": ["c"]}, ("no_words", ""), (None, ("c",))),
        ({"question": "q", "answer": "a"}, ("", "contexts_missing"), (("a",), None)),
        ({"question": "q", "answer": "a", "contexts": ["broken"]}, ("", "metric_raised"), (("a",), None)),
    ],
)
def test_a_part_that_cannot_be_made_is_none_and_the_others_keep_their_values(
    facts: Facts, reasons: tuple[str, str], parts: object
) -> None:
    found = scores(["of_words", "of_lines", "of_neither"], facts)
    assert (found["of_words"].reason, found["of_lines"].reason) == reasons
    assert [found[name].value for name in ("of_words", "of_lines")] == [None if why else 1.0 for why in reasons]
    assert (found["of_neither"].value, found["of_neither"].details["given"]) == (1.0, parts)


def test_a_subset_keeps_the_parts_of_the_whole_plan() -> None:
    assert given(list(CATALOG.metrics), only=["of_neither"]) == (("a", "b"), ("c",))
    assert given(list(CATALOG.metrics), {"question": "q"}, only=["of_neither"]) == (None, None)


def test_versions_tell_which_parts_were_given_and_not_in_which_order_metrics_were_named() -> None:
    def versions(names: Sequence[str]) -> dict[str, str]:
        return {one.id: one.version for one in CATALOG.plan(names).metrics}

    alone, together = versions(["of_neither"])["of_neither"], versions(["of_neither", "of_words"])["of_neither"]
    assert len({alone, together, versions(["of_neither", "of_lines"])["of_neither"]}) == 3
    assert versions(["of_neither", "words_alone"])["of_neither"] == alone
    assert versions(["words_alone"])["words_alone"] == versions(list(CATALOG.metrics))["words_alone"]
    found = [versions(order) for order in itertools.permutations(["of_words", "of_lines", "of_neither"])]
    assert all(one == found[0] for one in found)
    plan = CATALOG.plan(["of_neither", "of_words"])
    assert plan.subset(["of_neither"]).metrics[0].version == together


def test_a_part_that_rests_on_the_expected_answer_is_given_for_each() -> None:
    @artefact
    def wanted(expected: str) -> str:
        """Wanted."""
        return expected.upper()

    @artefact(parts=("wanted",))
    async def compared(answer: str, wanted: str | None = None) -> str:
        """Compared."""
        return f"{answer} {wanted}"

    @metric
    def of_both(compared: str, wanted: str) -> Measured:
        """Both."""
        return Measured(float(compared == f"b {wanted}" == "b B"), {"compared": compared})

    @metric
    def of_answer(compared: str) -> Measured:
        """Answer."""
        return Measured(1.0, {"compared": compared})

    plan = Catalog.of(wanted, compared, of_both, of_answer).plan(["of_both", "of_answer"])
    row: Facts = {"answer": "b", "expected_answers": ["a", "b"]}
    both, answer = asyncio.run(plan.score(row))
    assert (both.value, both.details) == (1.0, {"compared": "b B", "reference": 1})
    assert (answer.value, answer.details) == (1.0, {"compared": "b A", "reference": 0})
    (alone,) = asyncio.run(plan.subset(["of_answer"]).score(row))
    assert alone == answer
    (unasked,) = asyncio.run(plan.subset(["of_answer"]).score({"answer": "b"}))
    assert (unasked.value, unasked.details) == (1.0, {"compared": "b None"})


def test_parts_must_be_artefacts_that_are_none_by_default() -> None:
    @artefact(parts=("words",))
    def strict(words: tuple[str, ...]) -> int:
        """Strict."""
        return 1

    @artefact(parts=("question",))
    def fact(question: str | None = None) -> int:
        """Fact."""
        return 1

    @artefact(parts=("lines",))
    def misspelt(line: str = "") -> int:
        """Misspelt."""
        return 1

    for function in (strict, fact):
        with pytest.raises(InputError, match=r"test_parts.py:\d+: the part '\w+' of artefact"):
            Catalog.of(words, function)
    with pytest.raises(InputError, match="asks for 'line'"):
        Catalog.of(lines, misspelt)


def test_an_option_may_swap_what_a_metric_needs() -> None:
    @metric(swaps={("by", "lines"): {"words": "lines"}})
    def length(words: tuple[str, ...], *, by: str = "words") -> float:
        """Length."""
        return float(len(words))

    catalog = Catalog.of(words, lines, length)
    assert catalog.plan(["length"]).metrics[0].needs == ("answer",)
    swapped = catalog.plan(["length"], options={"length": {"by": "lines"}})
    assert swapped.metrics[0].needs == ("contexts",)
    assert swapped.metrics[0].version != catalog.plan(["length"]).metrics[0].version
    assert swapped.score_now({"contexts": ["a", "b", "c"]})[0].value == 3.0
    assert swapped.score_now({"answer": "a"})[0].reason == "contexts_missing"

    @metric(swaps={("on", "lines"): {"words": "lines"}})
    def optionless(words: tuple[str, ...]) -> float:
        """Optionless."""
        return 0.0

    @metric(swaps={("by", "lines"): {"words": "line"}})
    def nowhere(words: tuple[str, ...], *, by: str = "words") -> float:
        """Nowhere."""
        return 0.0

    for wrong in (optionless, nowhere):
        with pytest.raises(InputError, match="swaps by the option"):
            Catalog.of(words, lines, wrong)
