"""Recorded exam: answers that some bots gave elsewhere, scored without asking anybody."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..bots.base import Context, Identity, Reply, Usage
from ..bots.openai_endpoint import Endpoints
from ..knowledge.recorded import Recorded, RecordedSet, open_recorded
from ..metrics import builtin_catalog
from ..reports.encoding import to_json
from ..reports.ledger import OpenRun
from ..reports.run import RunHeader
from ..reports.shelf import VectorShelf
from .constraint_check import check_constraints_of
from .embedders import default_embedder
from .exam import Exam, run_metrics
from .judge_choice import choose_judge
from .judge_settings import JudgeSettings
from .judging import CONCURRENCY, ModelIds, open_judging
from .lanes import Item, Lane
from .manifest import manifest
from .metric_choice import choose_metrics
from .places import NEEDS, Places
from .secret_values import redactor


class RecordedBot:
    """Stands for a bot whose answers are on file; it can't be asked."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.identity = Identity("recorded")

    async def reply(self, question: str) -> Reply:
        """Refuse: every answer comes with its question."""
        raise RuntimeError(f"{self.name} is recorded and can't be asked {question!r}")


@dataclass(frozen=True, slots=True)
class ScoreOptions:
    """What the command line says: metrics (None for those that fit), and who judges with how many calls in flight."""

    metrics: Sequence[str] | None = None
    judge: str = ""
    judge_url: str = ""
    concurrency: int = CONCURRENCY
    fresh: bool = False


def recorded_exam(path: Path, options: ScoreOptions, environ: Mapping[str, str]) -> Exam:
    """An exam over a file of recorded answers.

    Raises:
        InputError: the file, a metric or the judge can't be used.
    """
    recorded = open_recorded(path)
    shelf = VectorShelf()
    embedder = default_embedder(shelf)
    judge = choose_judge(JudgeSettings(), {}, options.judge, options.judge_url)
    judging = open_judging(judge, embedder, Path(), environ, Endpoints(), options.concurrency)
    models = ModelIds(embedder.model_id, judging)
    judged = judging.is_language_model
    choice = choose_metrics(builtin_catalog(), options.metrics, {}, recorded.has, models, is_judged=judged)
    if recorded.has.get("constraints"):
        check_constraints_of((record.question for record in recorded), recorded.path, choice.plan)
    bots = [RecordedBot(name) for name in recorded.bots]
    warnings = (*recorded.warnings, *choice.warnings, *judging.warnings(choice.plan))
    settings: dict[str, object] = {
        "recorded": path.name,
        "hash": recorded.fingerprint,
        "embedder": embedder.model_id,
        "judge": judging.described(choice.plan),
        "metrics_left_out": choice.left_out,
    }
    header = RunHeader(
        suite=path.name,
        bots=[(bot.name, bot.identity) for bot in bots],
        metrics=run_metrics(choice.plan, choice.thresholds),
        manifest=manifest(settings, warnings),
        questions=recorded.fingerprint,
        fresh=options.fresh,
        evaluators=choice.evaluators,
    )

    # Without documents, only evidence that comes with its span, or is a whole document, can be looked for.
    places = Places() if NEEDS & choice.plan.needs else None

    def lanes(run: OpenRun) -> list[Lane]:
        return [_lane(bot, run, recorded) for bot in bots]

    return Exam(header, choice.plan, lanes, embedder, shelf, warnings, redactor(environ), places, judging)


def _lane(bot: RecordedBot, run: OpenRun, recorded: RecordedSet) -> Lane:
    return Lane(
        name=bot.name,
        bot=bot,
        bot_id=run.bot_ids[bot.name],
        items=lambda: _items(recorded, bot.name),
        total=recorded.bots[bot.name],
        concurrency=1,
    )


def _items(recorded: RecordedSet, bot: str) -> Iterator[Item]:
    for record in recorded:
        if record.bot == bot:
            yield Item(record.question, record.repeat, _key(record), _reply(record), record.latency_ms)


def _key(record: Recorded) -> bytes:
    """All that was recorded, as 16 bytes: a changed answer is a new one."""
    content = to_json(
        [record.question.id, record.question.text, record.answer, record.contexts, record.latency_ms, record.cost]
    )
    return hashlib.blake2b(content.encode(), digest_size=16).digest()


def _reply(record: Recorded) -> Reply:
    contexts = None
    if record.contexts is not None:
        documents = record.context_documents or ("",) * len(record.contexts)
        contexts = tuple(Context(*pair) for pair in zip(record.contexts, documents, strict=True))
    faq = record.question.extra.get("faq_question")
    return Reply(
        answer=record.answer,
        contexts=contexts,
        usage=Usage(record.tokens_in, record.tokens_out, record.cost),
        trace={"faq_question": faq} if isinstance(faq, str) else {},
    )
