"""Runs made by hand that hold questions and perturbations of them, for tests of robustness."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from proctor.bots.bot import Reply
from proctor.knowledge.questions.question import Question
from proctor.metrics.score import Score, Status
from proctor.reports.compare.scores import RunTables, run_tables
from proctor.reports.store.database import Store
from proctor.reports.store.run import Row, RowStatus, RunEvaluator, RunMetric, ask_key
from proctor.reports.store.run_results import RunResults
from proctor.reports.store.writer import RowWriter
from report_rows import header

RECALL = RunMetric("keyword_recall", "v1", "higher", 0.0, 1.0, 0.75)

# What a bot makes of a question and repeat: a value (or None, or a Score), and an answer (None: it failed).
Replies = Callable[[Question, int], tuple[float | Score | None, str | Reply | None]]


def asked(number: int, **changes: object) -> Question:
    return Question(f"q{number}", f"What is {number}", (str(number),), **changes)


def perturbed(question: Question, kind: str, intensity: float = 0.1, variant: int = 0, must: str = "same") -> Question:
    """A perturbation as the perturbing commands make them, with a text of no interest."""
    mark = {"id": question.id, "kind": kind, "intensity": intensity, "variant": variant, "must": must}
    return replace(
        question, id=f"{question.id}~{kind}-{intensity:g}-{variant}", text=f"{question.text} ({kind} {intensity:g})",
        extra={"perturbs": mark}, source_document=question.source_document or question.id,
    )  # fmt: skip


def perturbations(
    questions: Iterable[Question], kinds: Sequence[str] = ("identity", "keyboard_typo"),
    intensities: Sequence[float] = (0.1,), variants: int = 1,
) -> list[Question]:  # fmt: skip
    """Perturbations of each kind and intensity; identical copies have none."""
    return [
        perturbed(question, kind, intensity, variant)
        for question in questions
        for kind in kinds
        for intensity in ([0.0] if kind == "identity" else intensities)
        for variant in range(variants)
    ]


def stored_run(
    path: Path, questions: Sequence[Question], bots: dict[str, Replies], suite: str = "run",
    metrics: Sequence[RunMetric] = (RECALL,), repeats: int = 1, evaluators: Sequence[RunEvaluator] = (),
) -> int:  # fmt: skip
    """Write a finished run and return its id; the first metric gets the values."""
    store = Store.open(path)
    try:
        run_results = RunResults(store)
        made = header(list(bots), metrics, questions=repr(questions), repeats=repeats, evaluators=evaluators)
        run = run_results.begin(replace(made, suite=suite))
        writer = RowWriter(path, run.id, run.metric_ids)
        for bot, replies in bots.items():
            for position, question in enumerate(questions):
                for repeat in range(repeats):
                    value, said = replies(question, repeat)
                    row = Row(question, run.bot_ids[bot], repeat, ask_key(question), asked_at="2026-01-01")
                    row.position = position
                    if said is None:
                        row.status, row.error = RowStatus.RAISED, "broken"
                    else:
                        row.reply = said if isinstance(said, Reply) else Reply(said)
                    writer.row(row)
                    writer.scores(row, [_score(metrics[0].name, value)])
        writer.close()
        run_results.end(run, "finished", {}, {})
        return run.id
    finally:
        store.close()


def _score(metric: str, value: float | Score | None) -> Score:
    if isinstance(value, Score):
        return value
    if value is None:
        return Score(metric, None, Status.NOT_APPLICABLE, "expected_missing")
    return Score(metric, float(value), Status.OK)


def giving(values: dict[str, float | Score | None], answers: dict[str, str | Reply | None] | None = None) -> Replies:
    """A bot that gives these values and answers, by the ids of the questions."""
    return lambda question, _: (values[question.id], (answers or {}).get(question.id, "yes"))


class Opened:
    """A database that stays open, with the tables of its runs."""

    def __init__(self, path: Path) -> None:
        self.store = Store.open(path, create=False)

    def __enter__(self) -> "Opened":
        return self

    def __exit__(self, *_: object) -> None:
        self.store.close()

    def tables(self, run_id: int) -> RunTables:
        return run_tables(self.store, run_id)
