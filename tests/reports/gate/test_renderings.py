"""What build servers and pull requests read of a gate, whatever names and answers hold."""

import contextlib
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from gated_runs import MATCH, opened, store_run
from proctor.reports.compare.scores import run_tables
from proctor.reports.export.gate import gate_annotations, gate_junit, gate_markdown
from proctor.reports.export.github import command, paused
from proctor.reports.gate.report import GateReport
from proctor.reports.gate.rule import GateRule
from proctor.reports.gate.verdicts import verdicts
from proctor.reports.store.run import RunMetric

SHARE = RunMetric("recall", "v1", "higher", 0.0, 1.0, 0.5)
HOSTILE = 'x\x00\x1b[31m]]><b>&"\r\n::error::no\n| **bold** | <!-- @all #1 \ufffe %0A ```'
ONES, SEVEN = [1.0] * 100, [1.0] * 70 + [0.0] * 30


def reported(
    path: Path, baseline: dict, candidate: dict, rule: GateRule | None = None, suite: str = "run", **changes: object
) -> GateReport:
    """The report of a gate over all bots of two runs."""
    metrics = changes.pop("metrics", (MATCH,))
    store_run(path, baseline, metrics=metrics)
    store_run(path, candidate, metrics=metrics, **{"milliseconds": 11.0} | changes)
    with contextlib.closing(opened(path)) as store:
        runs = run_tables(store, 1), run_tables(store, 2)
        rule = rule or GateRule()
        bots = tuple(verdicts(runs[0].tables[name], runs[1].tables[name], rule) for name in baseline)
        return GateReport(suite, runs[1].run, "finished", str(path), runs[0].run, rule, bots, ("a note",))


def mixed(path: Path) -> GateReport:
    """One bot of every kind."""
    better = {"exact_match": SEVEN, "recall": [0.5] * 99 + [0.6]}
    same = {"exact_match": SEVEN, "recall": SEVEN}
    return reported(
        path,
        {"worse": {"exact_match": ONES, "recall": ONES}, "better": better, "few": same},
        {
            "worse": {"exact_match": SEVEN, "recall": ONES},
            "better": {"exact_match": ONES, "recall": [0.5] * 100},
            "few": {"exact_match": SEVEN[::-1], "recall": SEVEN},
        },
        GateRule(thresholds=frozenset(["recall"])),
        metrics=(MATCH, SHARE),
        failed={"better": range(10)},
    )  # fmt: skip


def test_junit_has_a_case_for_every_verdict(tmp_path):
    report = mixed(tmp_path / "a.db")
    root = ElementTree.fromstring(gate_junit(report))  # noqa: S314 - our own
    kinds = {
        (suite.get("name"), case.get("name")): next((each.tag for each in case if each.tag != "system-out"), "passed")
        for suite in root
        for case in suite.iter("testcase")
    }
    assert kinds["worse", "exact_match"] == "failure"
    assert kinds["worse", "recall (threshold)"] == "passed"
    assert kinds["better", "exact_match"] == "passed"
    assert kinds["better", "exact_match (missing)"] == "error"
    assert kinds["few", "exact_match"] == "skipped"
    for counted, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(root.get(counted)) == len(list(root.iter(tag))), counted
        assert int(root.get(counted)) == sum(int(suite.get(counted)) for suite in root)
    failure = next(root.iter("failure"))
    assert "-0.30 (" in failure.get("message")
    assert "q70" in failure.text


def hostile(path: Path) -> GateReport:
    metric = RunMetric(f"match {HOSTILE}", "v1", "higher", 0.0, 1.0, 1.0)
    name = f"bot {HOSTILE}"
    answers = {f"q{place}": HOSTILE * 20 for place in range(100)}
    return reported(
        path, {name: {metric.name: ONES}}, {name: {metric.name: SEVEN}}, suite=HOSTILE, metrics=(metric,),
        answers=answers,
    )  # fmt: skip


def test_junit_is_valid_whatever_texts_hold(tmp_path):
    written = gate_junit(hostile(tmp_path / "a.db"))
    root = ElementTree.fromstring(written.encode())  # noqa: S314 - our own
    assert root.find("testsuite").get("name").startswith('bot x\ufffd\ufffd[31m]]><b>&"')
    assert "::error::no" in next(root.iter("failure")).text


def test_markdown_shows_every_bot_and_its_verdicts(tmp_path):
    page = gate_markdown(mixed(tmp_path / "a.db"), ["Asked rag 3 questions."])
    assert page.startswith("## ❌ run: regressed\n")
    assert "| `exact_match` ↑ | 1.00 | 0.70 | -0.30 (" in page
    assert "- **too much missing**: `exact_match`: 10 questions (10%) lost the value" in page
    assert "- threshold of `recall` met" in page
    assert "<summary>Got worse most (3)</summary>" in page
    assert "- a note" in page and "- Asked rag 3 questions." in page


def test_markdown_keeps_texts_as_texts(tmp_path):
    page = gate_markdown(hostile(tmp_path / "a.db"))
    assert "\x00" not in page and "\x1b" not in page
    # Outside code nothing is left of tags, comments, mentions or bold text; the tags that are ours aside.
    plain = re.sub(r"(`+).+?\1", "", re.sub(r"<code>.*?</code>", "", page))
    plain = re.sub(r"</?(details|summary)>|&#124;", "", plain)
    assert "<" not in plain
    assert "@all" not in plain and "#1" not in plain
    assert "\\*\\*bold\\*\\*" in plain
    rows = [line for line in page.splitlines() if line.startswith("|")]
    assert {line.replace("&#124;", "").count("|") for line in rows} == {7}


def test_annotations_say_what_fails_and_what_is_undecided(tmp_path):
    lines = list(gate_annotations(mixed(tmp_path / "a.db")))
    assert lines[0].startswith("::error title=worse%3A exact_match regressed::-0.30 (")
    assert any(line.startswith("::error title=better%3A exact_match too much missing::") for line in lines)
    assert any(line.startswith("::warning title=few%3A exact_match undecided::") for line in lines)
    assert not any(line.startswith("::notice") for line in lines)


def test_a_good_gate_is_a_notice(tmp_path):
    report = reported(tmp_path / "a.db", {"left": {"exact_match": SEVEN}}, {"left": {"exact_match": ONES}})
    (line,) = gate_annotations(report)
    assert line.startswith("::notice title=proctor gate%3A run::left not worse; compared with ")


def test_no_text_begins_a_command_of_its_own(tmp_path):
    lines = list(gate_annotations(hostile(tmp_path / "a.db")))
    assert lines
    for line in lines:
        assert "\n" not in line and "\r" not in line
        assert re.match(r"::(error|warning) title=[^:,\n]*::", line)
    assert "%250A" in lines[0]


def test_github_shows_ten_and_the_last_says_how_many_are_left(tmp_path):
    metrics = tuple(RunMetric(f"m{place}", "v1", "higher", 0.0, 1.0, None) for place in range(14))
    runs = [{"left": {metric.name: values for metric in metrics}} for values in (ONES, SEVEN)]
    lines = list(gate_annotations(reported(tmp_path / "a.db", *runs, metrics=metrics)))
    assert len(lines) == 10
    assert lines[-1].endswith("::5 more; the log and the step summary have them all")


@pytest.mark.parametrize(("text", "says"), [("50%\r\nworse", "50%25 worse"), ("a::b", "a::b")])
def test_a_message_is_escaped(text, says):
    assert command("error", "t", text) == f"::error title=t::{says}"


def test_what_is_between_stop_commands_is_no_command():
    first, last = paused()
    assert first == f"::stop-commands::{last.strip(':')}"
    assert paused() != (first, last)
