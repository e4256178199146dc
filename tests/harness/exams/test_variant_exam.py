"""Variants of a suite's bots: each asked its own questions, a bounded number at once, watched as one bot."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from blamed_suites import BlamedSuite
from openai_server import Call, OpenAIServer
from proctor import InputError
from proctor.harness.blaming.removals import knowing_bots
from proctor.harness.exams.run_config import RunConfig
from proctor.harness.exams.variant_exam import NamedBot, Variant, hold_variants, variant_exam
from proctor.harness.ground.answers import read_answers
from proctor.harness.ground.ground import Ground
from proctor.harness.showing.progress import Silent
from proctor.reports.run import LATEST
from proctor.reports.summary import find_run

QUESTIONS = [{"id": f"q{place}", "question": f"Say {place}", "expected_answer": str(place)} for place in range(6)]
DOCUMENTS = {f"{place:02}.md": f"Page {place}." for place in range(12)}


class Crowd:
    """Answers after a moment, and counts how many wait at once."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self._lock = threading.Lock()

    def __call__(self, call: Call) -> str:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(0.002)
        with self._lock:
            self.now -= 1
        return str(call.prompt.split()[-1])


class Noting(Silent):
    """Notes what it is told."""

    def __init__(self) -> None:
        self.lanes: list[tuple[str, int, int, int]] = []
        self.sentences: list[str] = []

    def advanced(self, lane, row):
        self.lanes.append((lane.name, lane.total, lane.asked, lane.kept))

    def said(self, sentence):
        self.sentences.append(sentence)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(Crowd(), models=["scripted"]) as running:
        yield running


@pytest.fixture
def suite(tmp_path: Path, server: OpenAIServer) -> Iterator[BlamedSuite]:
    made = BlamedSuite(tmp_path, server.url, DOCUMENTS, QUESTIONS, concurrency=3)
    yield made
    made.store.close()


def variants(ground: Ground, **asked: list[str]) -> list[Variant]:
    return named_variants(ground, {f"full without {name.removeprefix('n')}": keys for name, keys in asked.items()})


def named_variants(ground: Ground, asked: dict[str, list[str]]) -> list[Variant]:
    """Each without the document at the end of its name; the first closes the bot that they come from."""
    (bot,) = knowing_bots(ground, {"full"}, RunConfig()).values()
    reduced = [bot.without(frozenset([f"{name[-2:]}.md"]), name=name) for name in asked]
    held = [NamedBot(reduced[0], reduced[0].name, [bot]), *reduced[1:]]
    return [Variant(each, frozenset(keys), "full") for each, keys in zip(held, asked.values(), strict=True)]


def exam(ground: Ground, held: list[Variant], **options):
    given = RunConfig(**options)
    return variant_exam(ground.loaded, held, given, ground.environ, {"exact_match"}, {"for": "a test"})


def test_each_variant_is_asked_its_own_questions_at_their_places(suite, server):
    run = suite.run().run
    ground = suite.ground()
    before = len(server.calls)
    held = variants(ground, n00=["q1", "q4"], n07=["q4"])
    watcher = Noting()
    outcome = hold_variants(exam(ground, held), held, suite.store, watcher)
    assert (outcome.asked, outcome.kept, len(server.calls) - before) == (3, 0, 3)
    found = read_answers(suite.store, find_run(suite.store, outcome.summary.run)[0], "exact_match")
    assert {place: row.right for place, row in found.by_place.items()} == {
        ("full without 00", "q1"): True, ("full without 00", "q4"): True, ("full without 07", "q4"): True,
    }  # fmt: skip
    positions = suite.store.query("SELECT DISTINCT position FROM run_rows WHERE run_id = ?", [found.run_id])
    assert sorted(place for (place,) in positions) == [1, 4]
    assert watcher.lanes[-1] == ("full", 3, 3, 0)
    assert {lane[0] for lane in watcher.lanes} == {"full"}
    assert [said for said in watcher.sentences if "getting ready" in said] == ["full: getting ready"]
    assert find_run(suite.store, LATEST)[1] == run  # it stands aside


def test_what_is_kept_is_found_again_in_other_company(suite, server):
    ground = suite.ground()
    first = variants(ground, n00=["q1", "q4"])
    hold_variants(exam(ground, first), first, suite.store, Silent())
    before = len(server.calls)
    second = variants(suite.ground(), n00=["q1", "q4", "q5"], n01=["q1"])
    outcome = hold_variants(exam(ground, second), second, suite.store, Silent())
    assert (outcome.asked, outcome.kept, len(server.calls) - before) == (2, 2, 2)


def test_many_variants_ask_no_more_at_once_than_one_bot(tmp_path):
    crowd = Crowd()
    with OpenAIServer(crowd, models=["scripted"]) as server:
        suite = BlamedSuite(tmp_path, server.url, DOCUMENTS, QUESTIONS, concurrency=3)
        ground = suite.ground()
        held = variants(ground, **{f"n{place:02}": [f"q{place % 6}", "q0"] for place in range(12)})
        made = exam(ground, held)
        assert made.lanes_at_once == 3
        hold_variants(made, held, suite.store, Silent())
        suite.store.close()
    assert 1 <= crowd.most <= 3


@pytest.mark.parametrize("count", [2, 12])
@pytest.mark.parametrize(("of_suite", "of_bot", "most"), [(5, None, 5), (5, 2, 2), (1, 3, 3)])
def test_a_bot_that_bears_few_requests_is_sent_no_more_by_its_variants(tmp_path, of_suite, of_bot, most, count):
    crowd = Crowd()
    bots = {"full": {"type": "full_context", "model": "chat", "prompt": "prompt.md", "concurrency": of_bot}}
    with OpenAIServer(crowd, models=["scripted"]) as server:
        suite = BlamedSuite(tmp_path, server.url, DOCUMENTS, QUESTIONS, bots, concurrency=of_suite)
        ground = suite.ground()
        held = variants(
            ground, n00=[f"q{place}" for place in range(6)], **{f"n{n:02}": ["q0"] for n in range(1, count)}
        )
        hold_variants(exam(ground, held), held, suite.store, Silent())
        suite.store.close()
    assert 1 <= crowd.most <= most


def test_a_document_with_a_colon_in_its_name_is_no_other_bot(suite):
    ground = suite.ground()
    held = named_variants(ground, {"full without a: 00": ["q1"], "full without a: 01": ["q1"]})
    watcher = Noting()
    hold_variants(exam(ground, held), held, suite.store, watcher)
    assert [said for said in watcher.sentences if "getting ready" in said] == ["full: getting ready"]


def test_two_of_one_name_are_refused(suite):
    ground = suite.ground()
    held = [*variants(ground, n00=["q1"]), *variants(ground, n00=["q2"])]
    with pytest.raises(ValueError, match="same name"):
        exam(ground, held)


def test_a_metric_that_the_suite_lacks_is_refused(suite):
    ground = suite.ground()
    held = variants(ground, n00=["q1"])
    with pytest.raises(InputError, match="rouge_l"):
        variant_exam(ground.loaded, held, RunConfig(), ground.environ, {"rouge_l"}, {})
