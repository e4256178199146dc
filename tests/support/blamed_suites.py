"""Suites whose bot answers by what stands in its prompt, so that what each document does is known."""

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from openai_server import Call
from proctor.harness.blaming.blame import blame
from proctor.harness.blaming.blame_plan import BlamePlan, plan_blame
from proctor.harness.exams.exam import hold
from proctor.harness.exams.run_config import RunConfig
from proctor.harness.exams.suite_exam import suite_exam
from proctor.harness.ground.answers import Answers, read_answers
from proctor.harness.ground.ground import Ground, lay_ground
from proctor.harness.showing.progress import Silent
from proctor.harness.suite.suite_file import load_suite
from proctor.reports.store import Store
from proctor.reports.summary import find_run
from proctor.reports.surveys.blame import Blame, BlamedAnswer
from word_encoder import word_embedder

PROMPT = 'Answer. If you do not know, say "I don\'t know."\n{context}\nQ: {question}'


def question_of(call: Call) -> str:
    """What was asked."""
    return str(call.prompt).rpartition("Q: ")[2]


class BlamedSuite:
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
        outcome = hold(suite_exam(load_suite(self.path), options or RunConfig(), os.environ), self.store, Silent())
        answers = read_answers(self.store, find_run(self.store, outcome.summary.run)[0])
        assert answers is not None
        return answers

    def ground(self) -> Ground:
        """The documents and questions, with an embedder that is there at once."""
        return replace(lay_ground(load_suite(self.path), os.environ), embedder=word_embedder()[0])

    def plan(self, answers: Answers | None = None, **changes: object) -> BlamePlan:
        """What would be asked."""
        return plan_blame(self.ground(), answers or self.run(), **changes)

    def blame(self, plan: BlamePlan | None = None, **changes: object) -> Blame:
        """Who is to blame."""
        return blame(plan or self.plan(**changes), self.store, lambda: contextlib.nullcontext(Silent()))


def only(found: Blame) -> BlamedAnswer:
    """The one wrong answer."""
    (answer,) = found.answers
    return answer
