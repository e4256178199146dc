"""Small runs held in this process: bots that do as they are told, and questions made from numbers."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from proctor.bots.bot import Identity, Reply
from proctor.harness.run.engine import Watcher
from proctor.harness.run.evaluation import Evaluation, run_metrics
from proctor.harness.run.queues import BotQueue, Item
from proctor.harness.run.run import Outcome, run_evaluation
from proctor.knowledge.models.batching import BatchingEmbedder
from proctor.knowledge.models.encoder import Embedded
from proctor.knowledge.questions.question import Question
from proctor.metrics import builtin_catalog
from proctor.reports.store.database import Store
from proctor.reports.store.run import RunHeader, ask_key
from proctor.reports.store.vector_cache import VectorCache


class FakeBot:
    """Answers by a function of the question, and notes what it is asked."""

    def __init__(self, name: str, answer: Callable[[str], object], version: str = "1") -> None:
        self.name = name
        self.identity = Identity("python", parts={"code": version})
        self.asked: list[str] = []
        self._answer = answer

    async def prepare(self) -> None:
        """Nothing is needed."""

    async def reply(self, question: str) -> Reply:
        self.asked.append(question)
        said = self._answer(question)
        return said if isinstance(said, Reply) else Reply(str(said))

    async def close(self) -> None:
        """Nothing is held."""


class NoEncoder:
    """Stands for an embedding model that no metric of the run needs."""

    dimensions = 4

    def encode(self, texts: Sequence[str]) -> Embedded:
        return Embedded(np.ones((len(texts), 4), np.float32), np.zeros(len(texts), np.bool_))


def numbered(numbers: Iterable[int], **changes: object) -> list[Question]:
    return [Question(f"q{number}", f"What is {number}", (str(number),), **changes) for number in numbers]


def scripted_run(
    bots: Sequence[FakeBot], questions: Sequence[Question], metrics: Sequence[str] = ("exact_match",),
    repeats: int = 1, serial: bool = False, concurrency: int = 2, timeout: float = 30.0,
    redact: Callable[[str], str] = str, **header: object,
) -> Evaluation:  # fmt: skip
    plan = builtin_catalog().plan(metrics)
    vector_cache = VectorCache()

    def items() -> Iterable[Item]:
        return (Item(each, repeat, ask_key(each)) for each in questions for repeat in range(repeats))

    return Evaluation(
        header=RunHeader(
            suite="small",
            bots=[(bot.name, bot.identity) for bot in bots],
            metrics=run_metrics(plan, {}),
            manifest={"concurrency": concurrency},
            questions=repr(questions),
            repeats=repeats,
            **header,
        ),
        plan=plan,
        bot_queues=lambda run: [
            BotQueue(
                bot.name, bot, run.bot_ids[bot.name], items, len(questions) * repeats, concurrency,
                timeout=timeout, serial=serial,
            )
            for bot in bots
        ],
        embedder=BatchingEmbedder(NoEncoder, "none", vector_cache),
        vector_cache=vector_cache,
        redact=redact,
    )  # fmt: skip


def run_into(path: Path, *arguments: object, **changes: object) -> Outcome:
    """Hold a small run on a database, which is closed again afterwards."""
    store = Store.open(path)
    try:
        return run_evaluation(scripted_run(*arguments, **changes), store, Watcher())
    finally:
        store.close()
