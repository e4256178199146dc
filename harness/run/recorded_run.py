"""Recorded run: answers that some bots gave elsewhere, scored without asking anybody."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ...bots import Context, Endpoints, Identity, Reply, Usage, redactor, with_tool_calls
from ...knowledge import Message, Recorded, RecordedSet, existing, open_recorded
from ...knowledge.questions.recorded import recorded_in
from ...knowledge.questions.row_files import RowSource
from ...metrics import Catalog, builtin_catalog
from ...metrics.plugins import with_installed
from ...reports.store import OpenRun, RunHeader, VectorCache
from ..suite import JudgeSettings, LocalModelsSettings, overridden
from ..suite.choices import (
    check_constraints_of,
    check_spelling,
    choose_judge,
    choose_metrics,
    named_rubrics,
    names_of,
    rubrics_added,
    with_rubrics,
)
from .evidence import NEEDS, Places
from .given_metrics import given_metrics, recorded_key
from .judging import CONCURRENCY, ModelIds, open_judging
from .local_models import RunModels, default_embedder
from .queues import BotQueue, Item
from .run import Evaluation, manifest, reference_bot, run_metrics
from .run_config import RunConfig
from .suite_run import marked_last


class RecordedBot:
    """Stands for a bot whose answers are recorded; it can't be asked."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.identity = Identity("recorded")

    async def reply(self, question: str, history: Sequence[Message] = ()) -> Reply:  # noqa: ARG002 - of every bot
        """Refuse: every answer comes with its question."""
        raise RuntimeError(f"{self.name} is recorded and can't be asked {question!r}")


def recorded_evaluation(
    source: Path | RowSource,
    options: RunConfig,
    environ: Mapping[str, str],
    notify: Callable[[str], None] | None = None,
) -> Evaluation:
    """A run over recorded answers, in a file or in memory; for ``notify`` see ``suite_evaluation``.

    Raises:
        InputError: the file, a metric or the judge can't be used.
    """
    recorded = open_recorded(source) if isinstance(source, Path) else recorded_in(source)
    vector_cache = VectorCache()
    embedder = default_embedder(vector_cache)
    judge = choose_judge(JudgeSettings(), {}, options.judge, options.judge_url)
    endpoints = Endpoints()
    local_models = overridden(LocalModelsSettings(), options.local_models)
    models = RunModels(local_models, Path(), environ, endpoints, notify, only_planned=options.only_planned)
    judging = open_judging(
        judge, embedder, Path(), environ, endpoints, options.concurrency or CONCURRENCY, models, vector_cache
    )
    ids, judged = ModelIds(embedder.model_id, judging, models), judging.is_language_model
    choice = choose_metrics(
        _catalog(options), rubrics_added(options.metrics, named_rubrics(options.rubrics)), {}, recorded.has, ids,
        is_judged=judged, primary=options.primary,
        options=options.options,
    )  # fmt: skip
    if options.metrics is not None or not recorded.has.get("answer"):
        check_spelling(recorded.path, recorded.misspelt, recorded.has, choice.plan)
    given = given_metrics(recorded, options.score_metadata)
    models.take(choice.plan.needs)
    if recorded.has.get("constraints") or recorded.has.get("assertions"):
        check_constraints_of((record.question for record in recorded), recorded.path, choice.plan)
    bots = [RecordedBot(name) for name in recorded.bots]
    against, alone = reference_bot(choice.plan, list(recorded.bots), list(recorded.bots))
    choice = replace(choice, plan=choice.plan.against(against)) if against else choice
    warnings = (
        *alone,
        *models.warnings(choice.plan),
        *recorded.warnings,
        *choice.warnings,
        *judging.warnings(choice.plan),
    )
    settings: dict[str, object] = {
        "recorded": recorded.path.name,
        "hash": recorded.fingerprint,
        "embedder": embedder.model_id,
        "judge": judging.described(choice.plan),
        "local_models": models.described(choice.plan),
        "metrics_left_out": choice.left_out,
        **({"primary": choice.primary} if choice.primary else {}),
    }
    header = RunHeader(
        suite=recorded.path.name,
        bots=[(bot.name, bot.identity) for bot in bots],
        metrics=(
            *run_metrics(choice.plan, choice.thresholds, choice.default_thresholds),
            *given.metrics.values(),
        ),
        manifest=manifest(settings, warnings),
        questions=recorded.fingerprint,
        fresh=options.fresh,
        evaluators=(*choice.evaluators, *given.evaluators),
        primary=choice.primary,
    )

    # Without documents, only evidence that comes with its span, or is a whole document, can be looked for.
    places = Places() if NEEDS & choice.plan.needs else None

    def bot_queues(run: OpenRun) -> list[BotQueue]:
        return [_bot_queue(bot, run, recorded) for bot in bots]

    redact = redactor(environ, {one.api_key_env for one in local_models.served.values()})
    return Evaluation(
        header, choice.plan, bot_queues, embedder, vector_cache, warnings, redact, places, judging, models,
        against=against, given=given.names, given_rows=lambda: given.rows(recorded),
    )  # fmt: skip


def _catalog(options: RunConfig) -> Catalog:
    catalog = builtin_catalog()
    for file in options.metric_files:
        catalog = catalog.with_file(existing(file, "a file"))
    catalog = catalog.with_functions(options.functions) if options.functions else catalog
    catalog = with_rubrics(catalog, named_rubrics(options.rubrics))
    return with_installed(catalog, names_of(options.metrics))


def _bot_queue(bot: RecordedBot, run: OpenRun, recorded: RecordedSet) -> BotQueue:
    return BotQueue(
        name=bot.name,
        bot=bot,
        bot_id=run.bot_ids[bot.name],
        items=lambda: _items(recorded, bot.name),
        total=recorded.bots[bot.name],
        concurrency=1,
    )


def _items(recorded: RecordedSet, bot: str) -> Iterator[Item]:
    of_bot = (record for record in recorded if record.bot == bot)
    for _, group in itertools.groupby(of_bot, lambda each: (each.question.conversation or object(), each.repeat)):
        records = list(group)
        for record, question in zip(records, marked_last(each.question for each in records), strict=True):
            yield Item(question, record.repeat, recorded_key(record), recorded_reply(record), record.latency_ms)


def recorded_reply(record: Recorded) -> Reply:
    """What was recorded, as a bot would give it."""
    contexts = None
    if record.contexts is not None:
        documents = record.context_documents or ("",) * len(record.contexts)
        contexts = tuple(Context(*pair) for pair in zip(record.contexts, documents, strict=True))
    faq = record.question.extra.get("faq_question")
    reply = Reply(
        answer=record.answer,
        contexts=contexts,
        usage=Usage(record.tokens_in, record.tokens_out, record.cost),
        trace={"faq_question": faq} if isinstance(faq, str) else {},
    )
    return with_tool_calls(reply, record.tool_calls)
