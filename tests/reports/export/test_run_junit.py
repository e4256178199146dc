"""What build servers read of a run, whatever names and answers hold."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from page_runs import page_book, report_of
from proctor.metrics.score import Score, Status
from proctor.reports.export.junit import LONGEST, MOST_ROWS, run_junit
from proctor.reports.report import make_report
from proctor.reports.store.run import RowStatus, RunEvaluator, RunMetric
from report_rows import LENGTH, MATCH, Book, ok, row

HOSTILE = 'x\x00\x1b[31m]]><b>&"\r\n::error::no <!-- \ufffe'
RATE = [
    RunMetric(f"toxic.{name}", "v1", better, 0.0, 1.0, 0.5, aggregate="rate")
    for name, better in (("passes", "higher"), ("failures", "lower"))
]


@pytest.fixture
def book(tmp_path) -> Iterator[Book]:
    with contextlib.closing(Book(tmp_path / "proctor.db", bots=("left", "mute"), metrics=(MATCH, LENGTH))) as made:
        yield made


def parsed(book: Book) -> ElementTree.Element:
    book.writer.close()
    return ElementTree.fromstring(run_junit(make_report(book.store, book.run.id)).encode())  # noqa: S314 - our own


def kinds(root: ElementTree.Element) -> dict[tuple[str, str], str]:
    return {
        (suite.get("name"), case.get("name")): next((each.tag for each in case if each.tag != "system-out"), "passed")
        for suite in root
        for case in suite.iter("testcase")
    }


def fill(book: Book, values: dict[str, float]) -> None:
    for key, value in values.items():
        book.put(row(book.run, "left", key, f"said of {key}"), ok("exact_match", value), ok("answer_length", 3.0))


def test_a_missed_threshold_fails_with_its_worst_rows(book):
    fill(book, {f"q{number}": 0.0 for number in range(14)} | {"good": 1.0})
    root = parsed(book)
    assert kinds(root) == {
        ("left", "answers"): "passed", ("left", "exact_match"): "failure",
        ("mute", "answers"): "passed", ("mute", "exact_match"): "skipped",
    }  # fmt: skip
    (failure,) = root.iter("failure")
    assert failure.get("message").startswith("0.07 (")
    assert "wanted at least 1; 15 rows of 15 with a value" in failure.get("message")
    lines = failure.text.splitlines()
    assert lines[:3] == ["q0: 0", "  asked: What of q0?", "  answered: said of q0"]
    assert len(lines) == 3 * MOST_ROWS + 1
    assert lines[-1] == "and 4 more rows"
    assert "good" not in failure.text


def test_a_threshold_that_is_reached_passes_and_says_by_how_much(book):
    fill(book, {"a": 1.0, "b": 1.0})
    root = parsed(book)
    assert kinds(root)["left", "exact_match"] == "passed"
    said = [each.text for each in root.iter("system-out")]
    assert "all 2 rows answered" in said
    assert any(text.startswith("1.00") and "wanted at least 1" in text for text in said)


def test_counts_are_those_of_the_cases(book):
    fill(book, {"a": 0.0})
    broken = row(book.run, "mute", "a", None, status=RowStatus.TIMED_OUT, error="too slow")
    book.put(broken, Score("exact_match", None, Status.BOT_ERROR, "bot_raised"))
    root = parsed(book)
    for counted, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(root.get(counted)) == len(list(root.iter(tag))) > 0, counted
        assert int(root.get(counted)) == sum(int(suite.get(counted)) for suite in root)


def test_a_bot_that_gave_no_answer_is_one_error_and_its_metrics_are_skipped(book):
    fill(book, {"a": 1.0})
    for key in ("a", "b"):
        broken = row(book.run, "mute", key, None, status=RowStatus.RAISED, error=f"KeyError: {key}")
        book.put(broken, Score("exact_match", None, Status.BOT_ERROR, "bot_raised"))
    book.writer.close()
    book.run_results.end(book.run, "finished", {"mute": "wrong key"})
    root = parsed(book)
    assert kinds(root)["mute", "exact_match"] == "skipped"
    (error,) = root.iter("error")
    assert error.get("type") == "stopped"
    assert error.get("message") == "2 of 2 rows gave no answer: 2 raised; the bot was stopped: wrong key"
    assert "b\n  asked: What of b?\n  failed: KeyError: b" in error.text


@pytest.mark.parametrize(
    ("status", "reason", "kind"),
    [
        (Status.NOT_APPLICABLE, "expected_missing", "skipped"),
        (Status.ERROR, "metric_raised", "error"),
        (Status.PARSE_FAILURE, "judge_unparseable", "error"),
        (Status.ERROR, "judge_unavailable", "error"),
    ],
)
def test_no_value_is_skipped_where_it_does_not_apply_and_an_error_where_it_broke(book, status, reason, kind):
    for key in ("a", "b"):
        book.put(row(book.run, "left", key), Score("exact_match", None, status, reason))
    root = parsed(book)
    assert kinds(root)["left", "exact_match"] == kind
    (case,) = (each for each in root.iter(kind) if reason in each.get("message"))
    assert case.get("message") == f"no value: {reason} on 2 rows; wanted at least 1"


def test_a_metric_with_a_value_whose_judge_often_failed_has_an_error_beside(book):
    fill(book, {f"q{number}": 1.0 for number in range(4)})
    book.put(row(book.run, "left", "bad"), Score("exact_match", None, Status.ERROR, "metric_raised"))
    found = kinds(parsed(book))
    assert found["left", "exact_match"] == "passed"
    assert found["left", "exact_match (evaluation)"] == "error"


def test_rates_that_repeat_the_first_have_no_case_unless_all_are_wanted(tmp_path):
    for wanted in (False, True):
        group = RunEvaluator("toxic", "Toxic", RATE[0].name, [each.name for each in RATE], "bool", "fairness",
                             {"all_metrics": wanted})  # fmt: skip
        path = tmp_path / f"{wanted}.db"
        with contextlib.closing(Book(path, bots=("left",), metrics=RATE, evaluators=(group,))) as book:
            book.put(row(book.run, "left", "a"), ok("toxic.passes", 0.0), ok("toxic.failures", 1.0))
            found = kinds(parsed(book))
        assert ("left", "toxic.passes") in found
        assert (("left", "toxic.failures") in found) is wanted


def test_it_is_valid_and_bounded_whatever_texts_hold(tmp_path):
    metric = RunMetric(f"match {HOSTILE}", "v1", "higher", 0.0, 1.0, 1.0)
    with contextlib.closing(Book(tmp_path / "proctor.db", bots=(f"bot {HOSTILE}",), metrics=(metric,))) as book:
        for number in range(30):
            key = f"{HOSTILE}{number}"
            book.put(row(book.run, f"bot {HOSTILE}", key, HOSTILE * 50_000), ok(metric.name, 0.0))
        book.writer.close()
        written = run_junit(make_report(book.store, book.run.id))
    root = ElementTree.fromstring(written.encode())  # noqa: S314 - our own
    assert root.find("testsuite").get("name").startswith('bot x\ufffd\ufffd[31m]]><b>&"')
    (failure,) = root.iter("failure")
    assert "::error::no" in failure.text
    assert max(map(len, failure.text.splitlines())) <= LONGEST + 20
    assert len(written) < 30_000


def test_a_run_of_every_kind_has_a_case_for_each_threshold_and_no_other(tmp_path: Path):
    with contextlib.closing(page_book(tmp_path / "proctor.db").store()) as store:
        report = report_of(store)
        root = ElementTree.fromstring(run_junit(report).encode())  # noqa: S314 - our own
    found = kinds(root)
    for bot in report.run.bots:
        names = {name for suite, name in found if suite == bot.name}
        assert "answers" in names
        plain = {name.removesuffix(" (evaluation)") for name in names} - {"answers"}
        assert all(report.run.columns[name].threshold is not None for name in plain)
        assert "answer_length" in report.run.columns and "answer_length" not in plain
    quality = ("accuracy", "retrieval", "privacy", "fairness", "summarization")
    missed_ones = [each for each in report.findings.problems if each.type in quality and each.value is not None]
    missed = {(each.bot, each.metric) for each in missed_ones}
    assert len(missed) > 5
    assert missed <= {key for key, kind in found.items() if kind == "failure"}
