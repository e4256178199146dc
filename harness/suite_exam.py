"""Suite exam: what a suite file asks for, turned into an exam that can be held."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from .. import InputError
from ..bots.redaction import redacted
from ..knowledge.cache_folder import cache_folder
from ..knowledge.question_files import QuestionSet, open_questions
from ..knowledge.questions import Question
from ..metrics import builtin_catalog
from ..reports.ledger import OpenRun
from ..reports.run import RunHeader, ask_key
from ..reports.shelf import VectorShelf
from .exam import Exam, run_metrics
from .lanes import Item, Lane
from .manifest import manifest
from .metric_choice import MetricChoice, choose_metrics
from .secret_values import redactor

if TYPE_CHECKING:
    from ..bots.wrapping import BuiltBot
    from ..knowledge.batching import BatchingEmbedder
    from ..knowledge.embedding import EmbedderSettings
    from .suite import Suite
    from .suite_file import LoadedSuite

TIMEOUT = 300.0  # seconds after which a bot that says nothing is given up, where its settings name no limit


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the command line changes about a suite."""

    bots: tuple[str, ...] = ()
    limit: int | None = None
    repeat: int | None = None
    concurrency: int | None = None
    fresh: bool = False
    latency_run: bool = False


def suite_exam(loaded: LoadedSuite, options: RunOptions, environ: Mapping[str, str]) -> Exam:
    """Read what the suite refers to and build its bots; nothing heavy is loaded yet.

    Raises:
        InputError: questions, knowledge, metrics or bots can't be used; the sentence says which and why.
    """
    suite = loaded.suite
    questions = open_questions(loaded.base / suite.questions, options.limit)
    shelf = VectorShelf()
    embedder, doubts = open_embedder(loaded, shelf)
    choice = _choice(suite, loaded.base, questions, embedder)
    redact = redactor(environ)
    bots = build_bots(loaded, _chosen_bots(options.bots, list(suite.bots)), embedder, environ)
    repeats = options.repeat or suite.repeat
    concurrency = options.concurrency or suite.concurrency
    warnings = (*questions.warnings, *choice.warnings, *doubts)
    header = RunHeader(
        suite=suite.name,
        bots=[(bot.name, bot.identity) for bot in bots],
        metrics=run_metrics(choice.plan, suite.thresholds),
        manifest=manifest(_effective(loaded, options, embedder, repeats, concurrency, questions), warnings),
        questions=questions.fingerprint,
        repeats=repeats,
        fresh=options.fresh,
    )

    def lanes(run: OpenRun) -> list[Lane]:
        return [_lane(bot, run, questions, repeats, concurrency, suite, options.latency_run) for bot in bots]

    return Exam(header, choice.plan, lanes, embedder, shelf, warnings, redact)


def open_embedder(loaded: LoadedSuite, shelf: VectorShelf) -> tuple[BatchingEmbedder, tuple[str, ...]]:
    """The suite's embedding model behind its batcher, loaded when the first text comes; and warnings about it."""
    from ..knowledge.embedding import EmbedderSettings

    given = loaded.suite.embedder
    chosen = given.model_dump()
    if given.model == "embedded":
        del chosen["model"]
    elif (loaded.base / given.model).is_dir():
        chosen["model"] = str(loaded.base / given.model)
    settings = EmbedderSettings(**chosen)
    return _batching(settings, shelf), tuple(filter(None, [settings.resolved.warning]))


def default_embedder(shelf: VectorShelf) -> BatchingEmbedder:
    """The embedded model, for answers that come without a suite."""
    from ..knowledge.embedding import EmbedderSettings

    return _batching(EmbedderSettings(), shelf)


def _batching(settings: EmbedderSettings, shelf: VectorShelf) -> BatchingEmbedder:
    from ..knowledge.batching import BatchingEmbedder
    from ..knowledge.embedding import open_encoder

    return BatchingEmbedder(lambda: open_encoder(settings), settings.model_id, shelf)


def _choice(suite: Suite, base: Path, questions: QuestionSet, embedder: BatchingEmbedder) -> MetricChoice:
    catalog = builtin_catalog()
    for file in suite.metric_files:
        catalog = catalog.with_file(base / file)
    return choose_metrics(
        catalog,
        suite.metrics,
        suite.thresholds,
        {"expected": questions.has_expected},
        {"embedder": embedder.model_id},
        suite.empty_contexts,
    )


def _chosen_bots(wanted: Sequence[str], known: Sequence[str]) -> Sequence[str]:
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise InputError(f"The suite has no bot {name!r}; it has {', '.join(known)}.{hint}")
    return [name for name in known if name in wanted] if wanted else known


def build_one(loaded: LoadedSuite, name: str, environ: Mapping[str, str]) -> tuple[BuiltBot, BatchingEmbedder]:
    """One bot of a suite, for ``proctor ask``, and the embedder that it uses."""
    _chosen_bots([name], list(loaded.suite.bots))
    embedder, _ = open_embedder(loaded, VectorShelf())
    return build_bots(loaded, [name], embedder, environ)[0], embedder


def build_bots(
    loaded: LoadedSuite, names: Sequence[str], embedder: BatchingEmbedder, environ: Mapping[str, str]
) -> list[BuiltBot]:
    """Bots of a suite; they share the documents, the embedder and the limits of endpoints."""
    from ..bots.building import Workshop, build_bot
    from ..knowledge.reading import read_knowledge

    suite, base = loaded.suite, loaded.base
    workshop = Workshop(
        base=base,
        knowledge=cache(lambda: read_knowledge([base / path for path in suite.knowledge])),
        models=suite.models,
        embedder=embedder,
        cache=cache_folder(environ),
        environ=environ,
    )
    return [build_bot(name, suite.bots[name], workshop) for name in names]


def _lane(
    bot: BuiltBot, run: OpenRun, questions: QuestionSet, repeats: int, concurrency: int, suite: Suite,
    latency_run: bool,
) -> Lane:  # fmt: skip
    settings = suite.bots[bot.name]

    def items() -> Iterable[Item]:
        return _items(questions, repeats)

    # Embedded models share one processor: more than one question at a time would only measure the queue.
    serial = latency_run or bot.identity.embedded
    return Lane(
        name=bot.name,
        bot=bot,
        bot_id=run.bot_ids[bot.name],
        items=items,
        total=questions.count * repeats,
        concurrency=1 if serial else settings.concurrency or concurrency,
        timeout=settings.timeout or TIMEOUT,
        serial=serial,
        recorded=bot.identity.kind == "recorded",
    )


def _items(questions: Iterable[Question], repeats: int) -> Iterator[Item]:
    for question in questions:
        ask = ask_key(question)
        for repeat in range(repeats):
            yield Item(question, repeat, ask)


def _effective(
    loaded: LoadedSuite, options: RunOptions, embedder: BatchingEmbedder, repeats: int, concurrency: int,
    questions: QuestionSet,
) -> dict[str, object]:  # fmt: skip
    return {
        "suite": redacted(loaded.suite.model_dump(mode="json", exclude_unset=True)),
        "suite_file": loaded.path.name,
        "suite_hash": loaded.text_hash,
        "questions": {"count": questions.count, "hash": questions.fingerprint},
        "bots": list(options.bots) or list(loaded.suite.bots),
        "limit": options.limit,
        "repeat": repeats,
        "concurrency": concurrency,
        "latency_run": options.latency_run,
        "seed": loaded.suite.seed,
        "embedder": embedder.model_id,
    }
