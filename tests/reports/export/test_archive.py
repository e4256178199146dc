"""The archive of a run: what is in it, and that equal runs give equal bytes."""

import hashlib
import io
import json
import stat
import zipfile
from dataclasses import replace

import pytest
from proctor.bots.bot import Identity, Usage
from proctor.bots.chat.model import Completion
from proctor.metrics.judge.rendering import JudgeRequest
from proctor.reports.export.archive import write_archive
from proctor.reports.report import make_report
from proctor.reports.store.database import Store
from proctor.reports.store.judge_calls import CachedCall, CallRecord
from proctor.reports.store.run import RunEvaluator, RunHeader, RunMetric
from proctor.reports.store.run_results import RunResults
from proctor.reports.store.writer import RowWriter
from report_rows import LENGTH, Book, ok, row
from reported_runs import FAMILY, PII, RECALL, alone, pii_scores

LATENCY = RunMetric("latency_ms", "v1", "lower", 0.0, None, 5.0)


IDENTITY = Identity(
    "rag", {"top_k": 4}, "openai:small", False, {"knowledge": "abc"}, {"prompt": "Answer {question}"},
    {"chat": "small@1"},
)  # fmt: skip


class PromptBook(Book):
    """A run whose bots have settings, prompts and models."""

    def __init__(self, path, bots, metrics, evaluators):
        manifest = {"proctor": "test", "command": ["proctor"], "machine": {"cores": 2}, "settings": {"seed": 0}}
        self.store = Store.open(path)
        self.run_results = RunResults(self.store)
        made = RunHeader("run", [(bot, IDENTITY) for bot in bots], metrics, manifest, evaluators=evaluators)
        self.run = self.run_results.begin(made)
        self.writer = RowWriter(path, self.run.id, self.run.metric_ids)


def a_run(path, order=(0, 1, 2), factor=1.0, value=0.5):
    """The same run each time, but for the order of its answers and how long they took."""
    operations = RunEvaluator("operations", "Operations", "latency_ms", ["latency_ms", "answer_length"])
    evaluators = [alone(RECALL), PII, operations, alone(LATENCY)]
    metrics = [RECALL, *FAMILY, LENGTH, LATENCY]
    book = PromptBook(path, bots=["X", "y/../z"], metrics=metrics, evaluators=evaluators)
    for bot in ("X", "y/../z"):
        for place in order:
            latency = (
                factor * (place + 1) * (1 + (bot == "X") * (factor - 2))
            )  # X is faster in one, slower in the other
            made = row(book.run, bot, f"q{place}", "=1", position=place, latency_ms=latency)
            made.reply = replace(made.reply, usage=Usage(cost=float(place + (bot == "X"))))
            scores = [ok("keyword_recall", value), *pii_scores(answer=place > 0), ok("answer_length", 2.0)]
            book.put(made, *scores, ok("latency_ms", latency))
    book.writer.close()
    return book


def archive(book, tmp_path):
    made = io.BytesIO()
    write_archive(make_report(book.store, book.run.id), made, tmp_path)
    book.store.close()
    return made.getvalue()


def test_equal_runs_give_equal_bytes(tmp_path):
    first = archive(a_run(tmp_path / "a.db"), tmp_path)
    # Another database, with its answers in another order, and by a slower machine on which X is the faster one.
    second = archive(a_run(tmp_path / "b.db", order=(2, 0, 1), factor=30.0), tmp_path)
    assert hashlib.sha256(first).digest() == hashlib.sha256(second).digest()


def test_another_value_gives_other_bytes(tmp_path):
    assert archive(a_run(tmp_path / "a.db"), tmp_path) != archive(a_run(tmp_path / "b.db", value=0.25), tmp_path)


@pytest.fixture
def opened(tmp_path):
    with zipfile.ZipFile(io.BytesIO(archive(a_run(tmp_path / "a.db"), tmp_path))) as packed:
        yield packed


def test_every_evaluator_has_all_its_outputs(opened):
    names = opened.namelist()
    common = {"insights.json", "problems.json", "parameters.json", "llm-eval-results.csv", "llm-eval-results.json"}
    boards = {"keyword_recall": "heatmap", "pii_leakage": "bool", "operations": "heatmap"}
    for evaluator, board in boards.items():
        inside = {name.rpartition("/")[2] for name in names if name.startswith(f"evaluators/{evaluator}/")}
        assert inside == common | {f"llm-{board}-leaderboard.json", f"llm-{board}-leaderboard.md"}
    assert {"manifest.json", "report.md", "problems.json", "insights.json"} <= set(names)
    assert not [name for name in names if "latency" in name]


def test_entries_are_relative_sorted_dated_alike_and_whole(opened):
    names = opened.namelist()
    assert opened.testzip() is None
    assert names == sorted(names)
    assert not [name for name in names if name.startswith("/") or ".." in name.split("/") or "\\" in name]
    assert {info.date_time for info in opened.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert {stat.filemode(info.external_attr >> 16) for info in opened.infolist()} == {"?rw-r--r--"}


def test_what_bots_were_made_of_is_there_and_measured_times_are_not(opened):
    manifest = json.loads(opened.read("manifest.json"))
    bot = manifest["bots"][0]
    assert (bot["name"], bot["models"], bot["settings"]) == ("X", {"chat": "small@1"}, {"top_k": 4})
    assert opened.read("prompts/X/prompt.md") == b"Answer {question}"
    assert opened.read("prompts/y_.._z/prompt.md") == b"Answer {question}"
    assert "machine" not in manifest and "command" not in manifest and "left_out" in manifest
    insights = json.loads(opened.read("insights.json"))
    assert {"cheapest", "most_expensive"} <= {each["type"] for each in insights}
    assert not [each for each in insights if each["metric"] == "latency_ms"]
    problems = json.loads(opened.read("problems.json"))
    assert [each["id"] for each in problems] == list(range(1, len(problems) + 1))
    assert not [each for each in problems if each["metric"] == "latency_ms"]
    everything = b"".join(opened.read(name) for name in opened.namelist())
    assert b"latency" not in everything.replace(b"measured times", b"")


def test_the_frames_hold_the_metrics_of_their_evaluator(opened):
    rows = json.loads(opened.read("evaluators/pii_leakage/llm-eval-results.json"))
    assert len(rows) == 6
    assert {tuple(each["scores"]) for each in rows} == {tuple(metric.name for metric in FAMILY)}
    assert rows[0]["answer"] == "=1"
    heading, first, *_ = opened.read("evaluators/pii_leakage/llm-eval-results.csv").decode("utf-8-sig").splitlines()
    assert heading.count("pii_leakage.") == 15
    assert '"\'=1"' in first


def test_an_evaluator_that_saves_no_rows_has_no_frame(tmp_path):
    evaluators = [replace(alone(RECALL), parameters={"save_rows": False})]
    book = Book(tmp_path / "x.db", bots=["X"], metrics=[RECALL], evaluators=evaluators)
    book.put(row(book.run, "X", "q1"), ok("keyword_recall", 0.5))
    book.writer.close()
    with zipfile.ZipFile(io.BytesIO(archive(book, tmp_path))) as packed:
        assert not [name for name in packed.namelist() if "llm-eval-results" in name]
        assert "evaluators/keyword_recall/llm-heatmap-leaderboard.json" in packed.namelist()


def test_names_that_differ_in_case_or_punctuation_alone_do_not_collide(tmp_path):
    metrics = [replace(RECALL, name=name) for name in ("a/b", "A_b", "a_b", "..", "")]
    book = Book(tmp_path / "x.db", bots=["X"], metrics=metrics, evaluators=[alone(metric) for metric in metrics])
    book.writer.close()
    with zipfile.ZipFile(io.BytesIO(archive(book, tmp_path))) as packed:
        folders = {name.split("/")[1].lower() for name in packed.namelist() if name.startswith("evaluators/")}
    assert len(folders) == 5


def a_judged_run(path, order=(0, 1), latency_ms=10.0):
    """The same run each time, but for the order of its calls and how long they took."""
    book = Book(path, bots=["X"], metrics=[RECALL], evaluators=[alone(RECALL)])
    for place in order:
        made = book.put(row(book.run, "X", f"q{place}", position=place), ok("keyword_recall", 0.5))
        first = CallRecord(
            bytes([place]), "judge", JudgeRequest("check", "Be strict.", f"request {place}"), f"2026-01-0{place + 1}",
            CachedCall("{"), Completion("{", Usage(3, 2, 0.5), reasoning="thought"), "no JSON", latency_ms,
        )  # fmt: skip
        repair = replace(
            first, key=bytes([place, 1]), stored=CachedCall('{"ok": true}'), completion=Completion('{"ok": true}'),
            problem="", request=replace(first.request, exchange=(("{", "no JSON"),)),
        )  # fmt: skip
        other = replace(
            first, key=bytes([place, 2]), stored=CachedCall(error="gone"), completion=None, problem="",
            request=JudgeRequest("check", "Be kind.", "r"),
        )  # fmt: skip
        for each in (first, repair, other):
            book.writer.judge_call(each)
        book.writer.judge_notes(made, [first.stored, repair.stored, other.stored])
    book.writer.close()
    return book


def test_raw_replies_of_the_judge_are_a_file_of_their_own(tmp_path):
    with zipfile.ZipFile(io.BytesIO(archive(a_judged_run(tmp_path / "a.db"), tmp_path))) as packed:
        calls = [json.loads(line) for line in packed.read("judge/calls.jsonl").splitlines()]
        prompts = {name: packed.read(name) for name in packed.namelist() if name.startswith("judge/prompts/")}
    assert [call["question_id"] for call in calls] == ["q0"] * 3 + ["q1"] * 3
    assert {(call["reply"], call["problem"], call["error"]) for call in calls[:3]} == {
        (None, None, "gone"), ("{", "no JSON", None), ('{"ok": true}', None, None),
    }  # fmt: skip
    first = next(call for call in calls if call["reply"] == "{")
    assert (first["bot"], first["call"], first["vote"], first["reasoning"], first["cost"]) == (
        "X", "check", 1, "thought", 0.5
    )  # fmt: skip
    assert next(call for call in calls if call["exchange"])["exchange"] == [["{", "no JSON"]]
    assert sorted(prompts.values()) == [b"Be kind.", b"Be strict."]
    assert prompts[f"judge/prompts/{first['instructions']}.md"] == b"Be strict."


def test_equal_runs_with_a_judge_give_equal_bytes(tmp_path):
    first = archive(a_judged_run(tmp_path / "a.db"), tmp_path)
    second = archive(a_judged_run(tmp_path / "b.db", order=(1, 0), latency_ms=99.0), tmp_path)
    assert hashlib.sha256(first).digest() == hashlib.sha256(second).digest()


def test_a_run_without_a_judge_has_no_such_files(opened):
    assert not [name for name in opened.namelist() if name.startswith("judge/")]
