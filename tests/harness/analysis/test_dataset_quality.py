import contextlib
import dataclasses

import numpy as np
import pytest
from bare_questions import answers, ask, corpus, embedder
from knowledge_suites import QUESTIONS, answers_of, write_knowledge_suite
from proctor.harness.analysis.corpus import index_corpus, read_answers
from proctor.harness.analysis.dataset_quality import (
    MOST_ERROR,
    Scores,
    choose_subset,
    dataset_quality,
    firm_pairs,
    herd,
    random_error,
    unseen_errors,
)
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


def test_what_is_wrong_with_a_question_set_is_found_and_cached(tmp_path, store):
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


def test_where_bots_miss_values_the_smaller_set_says_so():
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


def test_bots_that_read_the_same_entries_are_one_witness():
    """They match otherwise and say the same; beside a bot that reads documents they are one of two."""
    asked = ask("price", "What does a tune-up cost?", "45 euros")
    said = {key: {"price": "65 euros"} for key in ("faq", "faq_embedding")}

    def label_error(said):
        found = dataset_quality(corpus([asked]), answers(said), {}).findings
        return next(one for one in found if one.kind == "label_error")

    alone = label_error(said)
    assert (alone.severity, alone.details["models"]) == ("low", ["the entries of faq.csv"])
    assert "2 of 2 agree on another answer, though all by the entries of faq.csv" in alone.what
    beside = label_error({**said, "rag": {"price": "It costs 65 euros."}})
    assert (beside.severity, beside.details["models"]) == ("high", ["rag", "the entries of faq.csv"])


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


# The smaller set of questions: what it keeps, and what is promised of bots that it was not chosen with


def scores(values, clusters=None):
    return Scores(
        values, np.zeros((len(values), 0)), np.arange(len(values)) if clusters is None else clusters, values.std(axis=1)
    )


def answered(questions=400, skills=(0.9, 0.4, -0.4), seed=0):
    """Right and wrong answers of bots that find the same questions hard."""
    chance = np.random.default_rng(seed)
    hard = 2 * chance.normal(size=(questions, 1))
    return (np.array(skills) + hard + chance.logistic(size=(questions, len(skills))) > 0).astype(float)


def keys(count):
    return [f"q{place}" for place in range(count)]


def test_a_subset_keeps_firm_pairs_and_means():
    values = answered()
    found = choose_subset(scores(values), keys(len(values)), 1.0).subset
    places = [int(key[1:]) for key in found.questions]
    assert len(set(places)) == len(places) < 0.8 * len(values)
    means = values[places].mean(axis=0)
    assert np.abs(means - values.mean(axis=0)).max() == pytest.approx(found.error)
    assert found.error <= MOST_ERROR
    assert found.error_unseen <= MOST_ERROR
    assert found.of == len(values)
    firm = firm_pairs(scores(values))
    assert found.firm_pairs == len(firm) == 3
    assert all(means[better] > means[worse] for better, worse in firm)
    assert found.agreement == 1


def test_the_most_telling_come_first():
    values = answered()
    found = choose_subset(scores(values), keys(len(values)), 1.0).subset
    informative = [values[int(key[1:])].std() for key in found.questions]
    assert informative == sorted(informative, reverse=True)


def test_what_is_said_of_unseen_bots_holds_for_a_bot_that_nobody_saw():
    """Twelve bots that took no part: their mean error is near what was said, and that is more than of seen ones."""
    values = answered(skills=(1.2, 0.8, 0.3, -0.2, -0.7, *np.linspace(-1, 1, 12)), seed=3)
    found = choose_subset(scores(values[:, :5]), keys(len(values)), 1.0).subset
    places = [int(key[1:]) for key in found.questions]
    new = np.abs(values[places, 5:].mean(axis=0) - values[:, 5:].mean(axis=0)).mean()
    assert found.error < new < 1.7 * found.error_unseen


def test_choosing_beats_chance_where_bots_find_the_same_questions_hard():
    chosen, drawn = [], []
    for seed in range(4):
        values = answered(skills=(1, 0.5, 0, -0.5, -1), seed=seed)
        chosen.append(unseen_errors(scores(values), 60)[59])
        drawn.append(random_error(values, 60))
    assert np.mean(chosen) < 0.9 * np.mean(drawn)


def test_the_error_of_chance_is_that_of_draws():
    values = answered()
    chance = np.random.default_rng(1)
    draws = [
        np.abs(values[chance.choice(400, 50, False)].mean(axis=0) - values.mean(axis=0)).mean() for _ in range(600)
    ]
    assert random_error(values, 50) == pytest.approx(np.mean(draws), rel=0.1)
    assert random_error(values, 400) == 0


def test_errors_are_in_units_of_the_metric():
    values = answered()
    small, large = (choose_subset(scores(values), keys(400), reach).subset for reach in (1.0, 5.0))
    assert large.questions == small.questions
    assert large.error == pytest.approx(5 * small.error)
    assert large.error_elsewhere == pytest.approx(5 * small.error_elsewhere)


def test_the_same_seed_gives_the_same_subset():
    values = answered(120)
    assert choose_subset(scores(values), keys(120), 1.0, 4) == choose_subset(scores(values), keys(120), 1.0, 4)


def test_too_few_questions_have_no_subset():
    chosen = choose_subset(scores(answered(30)), keys(30), 1.0)
    assert chosen.subset is None
    assert "use them all" in chosen.warnings[0]


@pytest.mark.parametrize("values", [np.zeros((100, 1)), np.zeros((1, 1)), np.zeros((0, 3)), np.zeros((4, 2))])
def test_what_has_no_ranking_has_no_subset(values):
    chosen = choose_subset(scores(values), keys(len(values)), 1.0)
    assert chosen.subset is None
    assert "No smaller set" in chosen.warnings[0]


def test_bots_that_are_not_told_apart_are_said_to_be_so():
    values = np.repeat(answered(200, skills=(0.3,)), 3, axis=1)
    chosen = choose_subset(scores(values), keys(200), 1.0)
    assert chosen.subset.firm_pairs == 0
    assert chosen.subset.agreement == 1
    assert any("no two bots apart" in one for one in chosen.warnings)


def test_two_bots_are_few():
    chosen = choose_subset(scores(answered(400, skills=(0.9, -0.9))), keys(400), 1.0)
    assert any("two bots only" in one for one in chosen.warnings)
    chosen = choose_subset(scores(answered(400, skills=(0.9, 0, -0.9))), keys(400), 1.0)
    assert chosen.subset is not None and not any("two bots only" in one for one in chosen.warnings)


def test_one_cluster_has_no_elsewhere():
    values = answered(200)
    found = choose_subset(scores(values, np.zeros(200, np.intp)), keys(200), 1.0)
    assert found.subset is None or found.subset.error_elsewhere is None


def test_clusters_make_pairs_less_firm():
    values = np.repeat(answered(12, skills=(0.4, 0.0)), 30, axis=0)
    alone = firm_pairs(scores(values))
    together = firm_pairs(scores(values, np.repeat(np.arange(12), 30)))
    assert len(together) < len(alone) == 1
    assert alone.tolist() == [[0, 1]]


def test_a_running_mean_stays_near():
    values = answered(300)
    order = herd(values, 100)
    assert len(set(order.tolist())) == 100
    for size in (10, 50, 100):
        assert np.abs(values[order[:size]].mean(axis=0) - values.mean(axis=0)).max() <= 1.5 / size


def test_of_ten_thousand_questions_few_are_needed():
    values = answered(10_000, skills=(1, 0.9, 0.5, 0, -0.1))
    found = choose_subset(scores(values, np.arange(10_000) // 5), keys(10_000), 1.0).subset
    assert found is not None
    assert len(found.questions) < 5_000
