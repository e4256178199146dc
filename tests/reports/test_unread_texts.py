"""Problems of texts that are too short, or of which a metric saw only a part."""

from proctor.metrics import builtin_catalog
from proctor.metrics.facts import LOCAL_MODELS
from proctor.reports.problems import TRUNCATED, advice, problems_of
from proctor.reports.reported_run import RowKey
from proctor.reports.store.run import RunEvaluator, RunMetric
from report_rows import Book, context, ok, row
from reported_runs import alone, metrics_book, missing, reported
from tables import in_one_test

GROUNDED = RunMetric("groundedness", "v1", "higher", -1.0, 1.0, 0.75)


def test_texts_that_are_too_short(tmp_path):
    book = Book(tmp_path / "short.db", bots=["X"], metrics=[GROUNDED], evaluators=[alone(GROUNDED)])
    nothing = missing("groundedness", "contexts_empty")
    book.put(row(book.run, "X", "answer", position=0), missing("groundedness", "no_sentences"))
    book.put(row(book.run, "X", "chunk", position=1, contexts=(context("?"),)), nothing)
    book.put(row(book.run, "X", "no chunk", position=2, contexts=()), nothing)
    book.writer.close()
    (problem,) = problems_of(reported(book))
    assert (problem.severity, problem.type, problem.metric) == ("low", "data", "groundedness")
    assert [key.question_id for key in problem.rows] == ["answer", "chunk"]
    book.store.close()


def test_texts_that_were_cut_short_for_a_model(tmp_path):
    book = Book(tmp_path / "cut.db", bots=["X"], metrics=[GROUNDED], evaluators=[alone(GROUNDED)])
    book.put(row(book.run, "X", "cut"), ok("groundedness", 0.9, truncated=True))
    book.put(row(book.run, "X", "whole"), ok("groundedness", 0.9, truncated=False))
    book.put(row(book.run, "X", "said"), ok("groundedness", 0.9, sentence='"truncated":true'))
    book.writer.close()
    (problem,) = problems_of(reported(book))
    assert (problem.severity, problem.type) == ("low", "data")
    assert problem.rows == (RowKey("cut", 0),)
    book.store.close()


def test_texts_that_were_cut_are_told_once_an_evaluator_and_name_the_metrics(tmp_path):
    labels = ("toxicity", "severe_toxicity", "obscene", "threat", "insult", "identity_attack")
    toxic = RunEvaluator("toxicity_labels", "Toxicity", labels[0], labels)
    rouge = RunEvaluator("rouge", "ROUGE", "rouge_l", ("rouge_l", "rouge_1"))
    cut = {"toxicity": (True, False), "insult": (True, True), "rouge_l": (False, True)}
    rows = [
        [ok(name, 0.1, truncated=cut.get(name, (False, False))[place]) for name in (*labels, "rouge_l", "rouge_1")]
        for place in (0, 1)
    ]
    book = metrics_book(tmp_path / "x.db", [toxic, rouge], rows)
    of_toxicity, of_rouge = problems_of(reported(book))
    assert of_toxicity.what == "X: toxicity and insult saw only part of a text on 2 rows."
    assert (of_toxicity.evaluator, of_toxicity.metric) == ("toxicity_labels", "toxicity")
    assert of_toxicity.rows == (RowKey("q1", 0), RowKey("q2", 0))
    assert "for toxicity under local_models" in of_toxicity.action
    assert of_rouge.what == "X: rouge_l saw only part of a text on 1 row."
    assert of_rouge.rows == (RowKey("q2", 0),)
    assert "window" not in of_rouge.action
    book.store.close()


def test_the_advice_is_for_all_that_was_cut_each_said_once(tmp_path):
    names = ("summary_completeness", "summac_conv", "summac_zs")
    evaluator = RunEvaluator("summarization", "Summarization", names[0], names)
    book = metrics_book(tmp_path / "x.db", [evaluator], [[ok(name, 0.5, truncated=True) for name in names]])
    (problem,) = problems_of(reported(book))
    assert problem.what == "X: summary_completeness, summac_conv and summac_zs saw only part of a text on 1 row."
    assert problem.action == f"{advice('summary_completeness')} {advice('summac_zs')}"
    assert "embedder" in problem.action
    assert "first 100 sentences" in problem.action
    book.store.close()


@in_one_test(
    ("metric", "word"),
    [
        ("answer_similarity", "embedder"),
        ("groundedness", "embedder"),
        ("summac_conv", "first 10"),
        ("perplexity", "stride"),
        ("minicheck", "chunk_words"),
        ("hallucination", "4,096"),
        ("lettucedetect", "top_k"),
        ("gptscore_qa_fluency", "gptscore under local_models"),
        ("insult", "toxicity under local_models"),
        ("fairness_bias", "fairness_bias under local_models"),
        ("faithfulness", "verifier"),
        ("longest_repeated_substring", "beginning"),
        ("a metric of one's own", "longer window"),
    ],
)
def test_the_advice_about_cut_texts_fits_what_cut_them(metric, word):
    assert word in advice(metric)


def test_every_metric_that_may_cut_a_text_has_advice_of_its_own():
    """Those that read with a local model, and those whose documentation says that they set ``truncated``."""
    for metric in builtin_catalog().metrics.values():
        if set(LOCAL_MODELS) & set(metric.needs) or "``truncated`` is set" in metric.documentation:
            assert advice(metric.id) != TRUNCATED, metric.id
