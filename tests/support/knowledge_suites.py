"""Small suites with documents and a retrieving bot, for tests of what an analysis finds."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from proctor.harness.analysis.corpus import Answers, CorpusIndex, index_corpus, read_answers
from proctor.harness.run.engine import Watcher
from proctor.harness.run.run import run_evaluation
from proctor.harness.run.run_config import RunConfig
from proctor.harness.run.suite_run import suite_evaluation
from proctor.harness.suite.suite_file import LoadedSuite, load_suite
from proctor.reports.store.database import Store
from proctor.reports.summary import find_run

DOCUMENTS = {
    "prices.md": "# Prices\n\nA bicycle tune-up costs 45 euros. A new chain costs 30 euros, work included.\n",
    "hours.md": "# Hours\n\nThe shop opens at nine in the morning. On Sundays it is closed all day.\n",
    "returns.md": "# Returns\n\nA bicycle can be returned within 30 days. Bring the receipt with you.\n",
}
QUESTIONS: tuple[Mapping[str, object], ...] = (
    {"id": "tune", "question": "How much is a tune-up?", "expected_answer": "45 euros",
     "evidence": [{"document": "prices.md", "quote": "A bicycle tune-up costs 45 euros."}]},
    {"id": "open", "question": "When does the shop open?", "expected_answer": "at nine in the morning",
     "evidence": [{"document": "hours.md", "quote": "opens at nine in the morning"}]},
    {"id": "days", "question": "How long can I return a bicycle?", "expected_answer": "within 30 days",
     "evidence": [{"document": "returns.md", "quote": "within 30 days"}]},
)  # fmt: skip
RAG = {"type": "rag", "chunk_size": 200, "chunk_overlap": 0, "top_k": 2}


def write_knowledge_suite(
    folder: Path, documents: Mapping[str, str] = DOCUMENTS, questions: Sequence[Mapping[str, object]] = QUESTIONS,
    bots: Mapping[str, object] | None = None, **suite: object,
) -> Path:  # fmt: skip
    """A suite file with its documents and questions; bots that answer by extraction, without any language model."""
    (folder / "documents").mkdir(parents=True, exist_ok=True)
    for name, text in documents.items():
        (folder / "documents" / name).write_text(text, encoding="utf-8")
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    (folder / "questions.jsonl").write_text(lines, encoding="utf-8")
    made: dict[str, object] = {
        "name": "shop",
        "knowledge": "documents",
        "questions": "questions.jsonl",
        "bots": {"rag": RAG} if bots is None else dict(bots),
        "metrics": ["keyword_recall"],
    }
    path = folder / "suite.yaml"
    path.write_text(json.dumps(made | suite), encoding="utf-8")
    return path


def environ(folder: Path) -> Mapping[str, str]:
    """The environment with caches in the folder of the test."""
    return {**os.environ, "PROCTOR_CACHE": str(folder / "cache")}


def corpus_of(suite: Path, limit: int | None = None) -> CorpusIndex:
    """The ground of a suite."""
    return index_corpus(load_suite(suite), environ(suite.parent), limit)


def answers_of(
    suite: Path | LoadedSuite, store: Store, metric: str | None = None, watcher: Watcher | None = None
) -> Answers:
    """The answers of a suite's bots, which are asked; there must be a metric that marks them."""
    loaded = load_suite(suite) if isinstance(suite, Path) else suite
    outcome = run_evaluation(suite_evaluation(loaded, RunConfig(), environ(loaded.base)), store, watcher or Watcher())
    found = read_answers(store, find_run(store, outcome.summary.run)[0], metric)
    assert found is not None
    return found
