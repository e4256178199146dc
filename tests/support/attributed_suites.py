"""Suites whose bot answers by what stands in its prompt, so that what each document does is known."""

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from openai_server import Call
from proctor.harness.analysis.attribution import AblationPlan, attribution, plan_ablations
from proctor.harness.analysis.corpus import Answers, CorpusIndex, index_corpus, read_answers
from proctor.harness.run.engine import Watcher
from proctor.harness.run.run import run_evaluation
from proctor.harness.run.run_config import RunConfig
from proctor.harness.run.suite_run import suite_evaluation
from proctor.harness.suite.suite_file import load_suite
from proctor.reports.analysis.findings import AblatedAnswer, Ablations
from proctor.reports.store.database import Store
from proctor.reports.summary import find_run
from word_encoder import word_embedder

PROMPT = 'Answer. If you do not know, say "I don\'t know."\n{context}\nQ: {question}'


def question_of(call: Call) -> str:
    """What was asked."""
    return str(call.prompt).rpartition("Q: ")[2]


class AttributedSuite:
    """A suite in a folder with its database and its bots, which were asked."""

    def __init__(
        self, folder: Path, url: str, documents: Mapping[str, str], questions: Sequence[Mapping[str, object]],
        bots: Mapping[str, object] | None = None, **suite: object,
    ) -> None:  # fmt: skip
        (folder / "documents").mkdir()
        for name, text in documents.items():
            (folder / "documents" / name).write_text(text)
        (folder / "prompt.md").write_text(PROMPT)
        (folder / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in questions))
        made = {
            "name": "house", "questions": "questions.jsonl", "knowledge": "documents", "metrics": ["exact_match"],
            "thresholds": {"exact_match": 1.0},
            "models": {"chat": {"model": "openai:scripted", "base_url": url}},
            "bots": bots or {"full": {"type": "full_context", "model": "chat", "prompt": "prompt.md"}},
        }  # fmt: skip
        self.path = folder / "suite.yaml"
        self.path.write_text(json.dumps(made | suite))
        self.store = Store.open(folder / "p.db")

    def run(self, options: RunConfig | None = None) -> Answers:
        """The answers of a run that is held, or kept."""
        outcome = run_evaluation(
            suite_evaluation(load_suite(self.path), options or RunConfig(), os.environ), self.store, Watcher()
        )
        answers = read_answers(self.store, find_run(self.store, outcome.summary.run)[0])
        assert answers is not None
        return answers

    def corpus(self) -> CorpusIndex:
        """The documents and questions, with an embedder that is there at once."""
        return replace(index_corpus(load_suite(self.path), os.environ), embedder=word_embedder()[0])

    def plan(self, answers: Answers | None = None, **changes: object) -> AblationPlan:
        """What would be asked."""
        return plan_ablations(self.corpus(), answers or self.run(), **changes)

    def attribution(self, plan: AblationPlan | None = None, **changes: object) -> Ablations:
        """Who is to blame."""
        return attribution(plan or self.plan(**changes), self.store, lambda: contextlib.nullcontext(Watcher()))


def only(found: Ablations) -> AblatedAnswer:
    """The one wrong answer."""
    (answer,) = found.answers
    return answer
