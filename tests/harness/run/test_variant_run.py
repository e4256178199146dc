"""Variants of a suite's bots: each asked its own questions, a bounded number at once, watched as one bot."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from attributed_suites import AttributedSuite
from openai_server import Call, OpenAIServer
from proctor import InputError
from proctor.bots import NamedBot
from proctor.harness.analysis.attribution import knowing_bots
from proctor.harness.analysis.corpus import CorpusIndex, read_answers
from proctor.harness.run.engine import Watcher
from proctor.harness.run.run_config import RunConfig
from proctor.harness.run.variant_run import Variant, run_variants, variant_evaluation
from proctor.reports.store.run import LATEST
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


class Noting(Watcher):
    """Notes what it is told."""

    def __init__(self) -> None:
        self.bot_queues: list[tuple[str, int, int, int]] = []
        self.sentences: list[str] = []

    def advanced(self, bot_queue, row):
        self.bot_queues.append((bot_queue.name, bot_queue.total, bot_queue.asked, bot_queue.cached))

    def message(self, sentence):
        self.sentences.append(sentence)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(Crowd(), models=["scripted"]) as running:
        yield running


@pytest.fixture
def suite(tmp_path: Path, server: OpenAIServer) -> Iterator[AttributedSuite]:
    made = AttributedSuite(tmp_path, server.url, DOCUMENTS, QUESTIONS, concurrency=3)
    yield made
    made.store.close()


def variants(corpus: CorpusIndex, **asked: list[str]) -> list[Variant]:
    return named_variants(corpus, {f"full without {name.removeprefix('n')}": keys for name, keys in asked.items()})


def named_variants(corpus: CorpusIndex, asked: dict[str, list[str]]) -> list[Variant]:
    """Each without the document at the end of its name; the first closes the bot that they come from."""
    (bot,) = knowing_bots(corpus, {"full"}, RunConfig()).values()
    reduced = [bot.without(frozenset([f"{name[-2:]}.md"]), name=name) for name in asked]
    held = [NamedBot(reduced[0], reduced[0].name, [bot]), *reduced[1:]]
    return [Variant(each, frozenset(keys), "full") for each, keys in zip(held, asked.values(), strict=True)]


def evaluation(corpus: CorpusIndex, held: list[Variant], **options):
    given = RunConfig(**options)
    return variant_evaluation(corpus.loaded, held, given, corpus.environ, {"exact_match"}, {"for": "a test"})


def test_each_variant_is_asked_its_own_questions_at_their_places(suite, server):
    run = suite.run().run
    corpus = suite.corpus()
    before = len(server.calls)
    held = variants(corpus, n00=["q1", "q4"], n07=["q4"])
    watcher = Noting()
    outcome = run_variants(evaluation(corpus, held), held, suite.store, watcher)
    assert (outcome.asked, outcome.cached, len(server.calls) - before) == (3, 0, 3)
    found = read_answers(suite.store, find_run(suite.store, outcome.summary.run)[0], "exact_match")
    assert {place: row.right for place, row in found.by_place.items()} == {
        ("full without 00", "q1"): True, ("full without 00", "q4"): True, ("full without 07", "q4"): True,
    }  # fmt: skip
    positions = suite.store.query("SELECT DISTINCT position FROM run_rows WHERE run_id = ?", [found.run_id])
    assert sorted(place for (place,) in positions) == [1, 4]
    assert watcher.bot_queues[-1] == ("full", 3, 3, 0)
    assert {bot_queue[0] for bot_queue in watcher.bot_queues} == {"full"}
    assert [said for said in watcher.sentences if "getting ready" in said] == ["full: getting ready"]
    assert find_run(suite.store, LATEST)[1] == run  # it stands aside


def test_what_is_kept_is_found_again_in_other_company(suite, server):
    corpus = suite.corpus()
    first = variants(corpus, n00=["q1", "q4"])
    run_variants(evaluation(corpus, first), first, suite.store, Watcher())
    before = len(server.calls)
    second = variants(suite.corpus(), n00=["q1", "q4", "q5"], n01=["q1"])
    outcome = run_variants(evaluation(corpus, second), second, suite.store, Watcher())
    assert (outcome.asked, outcome.cached, len(server.calls) - before) == (2, 2, 2)


def test_many_variants_ask_no_more_at_once_than_one_bot(tmp_path):
    crowd = Crowd()
    with OpenAIServer(crowd, models=["scripted"]) as server:
        suite = AttributedSuite(tmp_path, server.url, DOCUMENTS, QUESTIONS, concurrency=3)
        corpus = suite.corpus()
        held = variants(corpus, **{f"n{place:02}": [f"q{place % 6}", "q0"] for place in range(12)})
        made = evaluation(corpus, held)
        assert made.queues_at_once == 3
        run_variants(made, held, suite.store, Watcher())
        suite.store.close()
    assert 1 <= crowd.most <= 3


@pytest.mark.parametrize("count", [2, 12])
@pytest.mark.parametrize(("of_suite", "of_bot", "most"), [(5, None, 5), (5, 2, 2), (1, 3, 3)])
def test_a_bot_that_bears_few_requests_is_sent_no_more_by_its_variants(tmp_path, of_suite, of_bot, most, count):
    crowd = Crowd()
    bots = {"full": {"type": "full_context", "model": "chat", "prompt": "prompt.md", "concurrency": of_bot}}
    with OpenAIServer(crowd, models=["scripted"]) as server:
        suite = AttributedSuite(tmp_path, server.url, DOCUMENTS, QUESTIONS, bots, concurrency=of_suite)
        corpus = suite.corpus()
        held = variants(
            corpus, n00=[f"q{place}" for place in range(6)], **{f"n{n:02}": ["q0"] for n in range(1, count)}
        )
        run_variants(evaluation(corpus, held), held, suite.store, Watcher())
        suite.store.close()
    assert 1 <= crowd.most <= most


def test_a_document_with_a_colon_in_its_name_is_no_other_bot(suite):
    corpus = suite.corpus()
    held = named_variants(corpus, {"full without a: 00": ["q1"], "full without a: 01": ["q1"]})
    watcher = Noting()
    run_variants(evaluation(corpus, held), held, suite.store, watcher)
    assert [said for said in watcher.sentences if "getting ready" in said] == ["full: getting ready"]


def test_two_of_one_name_are_refused(suite):
    corpus = suite.corpus()
    held = [*variants(corpus, n00=["q1"]), *variants(corpus, n00=["q2"])]
    with pytest.raises(ValueError, match="same name"):
        evaluation(corpus, held)


def test_a_metric_that_the_suite_misses_is_refused(suite):
    corpus = suite.corpus()
    held = variants(corpus, n00=["q1"])
    with pytest.raises(InputError, match="rouge_l"):
        variant_evaluation(corpus.loaded, held, RunConfig(), corpus.environ, {"rouge_l"}, {})
