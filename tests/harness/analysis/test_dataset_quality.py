import contextlib
import dataclasses

import pytest
from bare_questions import answers, ask, corpus, embedder
from knowledge_suites import QUESTIONS, answers_of, write_knowledge_suite
from proctor.harness.analysis.corpus import index_corpus, read_answers
from proctor.harness.analysis.dataset_quality import dataset_quality
from proctor.harness.suite.suite_file import load_suite
from proctor.reports.analysis.findings import DatasetQuality
from proctor.reports.store.database import Store
from proctor.reports.summary import MetricColumn
from pydantic import TypeAdapter

WRONG = {"id": "chain", "question": "How much does a new chain cost?", "expected_answer": "A new chain costs 90 euros.",
         "evidence": [{"document": "prices.md", "quote": "A new chain costs 30 euros"}]}  # fmt: skip
AGAIN = {**QUESTIONS[1], "id": "open-again", "question": "when does the shop open"}
BOTS = {
    "rag": {"type": "rag", "chunk_size": 200, "chunk_overlap": 0, "top_k": 2, "prompt": "rag.md"},
    "whole": {"type": "full_context"},
}
PROMPT = "Answer like this. How long can I return a bicycle? Within 30 days. Now you: {context} {question}"


@pytest.fixture
def store(tmp_path):
    with contextlib.closing(Store.open(tmp_path / "proctor.db")) as opened:
        yield opened


def suite_of(folder):
    path = write_knowledge_suite(folder, questions=(*QUESTIONS, WRONG, AGAIN), bots=BOTS)
    (folder / "rag.md").write_text(PROMPT)
    return path


def corpus_of(path):
    return dataclasses.replace(index_corpus(load_suite(path), {}), embedder=embedder())


def test_an_audit_finds_what_is_wrong_and_can_be_kept(tmp_path, store):
    path = suite_of(tmp_path)
    given = answers_of(path, store)
    messages = []
    found = dataset_quality(corpus_of(path), given, notify=messages.append)
    kinds = {one.kind: one for one in found.findings}
    assert kinds["contradicted_answer"].questions == ("chain",)
    assert kinds["duplicate_question"].questions == ("open", "open-again")
    assert kinds["leaked_prompt"].questions == ("days",)
    assert kinds["leaked_prompt"].details["bots"] == ["rag"]
    order = ["high", "medium", "low"]
    severities = [order.index(one.severity) for one in found.findings]
    assert severities == sorted(severities)
    assert [one.question for one in found.questions] == ["tune", "open", "days", "chain", "open-again"]
    assert found.metric == "keyword_recall"
    assert found.subset is None
    assert any("only 5 questions" in one for one in found.warnings)
    assert any("rests on 2 bots" in one for one in found.warnings)
    assert len(messages) == 3
    adapter = TypeAdapter(DatasetQuality)
    assert adapter.dump_json(adapter.validate_json(adapter.dump_json(found))) == adapter.dump_json(found)


def test_where_bots_lack_values_the_smaller_set_says_so():
    """The second bot has no value on ten questions; what is chosen stands for the other ninety."""
    column = MetricColumn("right", "v1", "higher", 0.0, 1.0, 0.5)
    asked = [ask(f"q{place}", f"What is the size of ship {place}?", str(place)) for place in range(100)]
    said = {
        bot: {f"q{place}": None if bot == "b" and place < 10 else float(place % 4 < least) for place in range(100)}
        for bot, least in (("a", 3), ("b", 2), ("c", 1))
    }
    found = dataset_quality(corpus(asked), answers(said, column), {})
    assert any(one.startswith("10 of 100 questions have no value of right for some bot") for one in found.warnings)
    assert found.subset.of == 90
    assert not {f"q{place}" for place in range(10)} & set(found.subset.questions)
    whole = answers({bot: by_key for bot, by_key in said.items() if bot != "b"}, column)
    assert not any("have no value" in one for one in dataset_quality(corpus(asked), whole, {}).warnings)


def test_without_answers_the_questions_alone_are_looked_at(tmp_path):
    found = dataset_quality(corpus_of(suite_of(tmp_path)), None)
    assert {one.kind for one in found.findings} == {"contradicted_answer", "duplicate_question", "leaked_prompt"}
    assert (found.questions, found.subset, found.metric) == ((), None, "")
    assert "No answers were looked at" in found.warnings[0]


def test_prompts_may_be_given(tmp_path):
    found = dataset_quality(corpus_of(suite_of(tmp_path)), None, {"mine": "Tell me: when does the shop open?"})
    (leak,) = [one for one in found.findings if one.kind == "leaked_prompt" and one.questions == ("open",)]
    assert leak.details["bots"] == ["mine"]
    assert not [one for one in found.findings if one.questions == ("days",)]


def test_one_bot_is_too_few_for_suspects(tmp_path, store):
    path = write_knowledge_suite(tmp_path)
    given = answers_of(path, store)
    found = dataset_quality(corpus_of(path), read_answers(store, given.run_id))
    assert any("two bots" in one for one in found.warnings)
    assert found.subset is None


def test_one_clean_question_has_no_findings(tmp_path):
    found = dataset_quality(corpus_of(write_knowledge_suite(tmp_path, questions=QUESTIONS[:1])), None)
    assert found.findings == ()
