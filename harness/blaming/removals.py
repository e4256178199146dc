"""Removals: answers that are asked for again with some documents taken away, held as an exam of variants."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ...bots.knowing_target_bot import KnowingTargetBot
from ...bots.reduced import TakesKnowledge
from ...bots.target_bot import TargetBot
from ...knowledge.reading import Knowledge
from ...reports.run import ask_key
from ...reports.summary import find_run
from ..exams.kept_answers import missing_answers
from ..exams.run_config import RunConfig
from ..exams.suite_exam import build_bots
from ..exams.variant_exam import NamedBot, Variant, hold_variants, variant_exam
from ..ground.answers import read_answers

if TYPE_CHECKING:
    from ...bots.wrapping import BuiltBot
    from ...reports.store import Store
    from ..engine.engine import Watcher
    from ..ground.answers import Answer
    from ..ground.ground import Ground

Watching = Callable[[], AbstractContextManager["Watcher"]]
NAMED = 2  # removed documents are named one by one up to so many


class Removal(NamedTuple):
    """A question asked of a bot once more, with documents taken away."""

    bot: str
    question: str
    documents: frozenset[str]


@dataclass(slots=True)
class Asked:
    """What came of removals: the answers that could be had, and what it took.

    ``calls`` and ``kept`` count answers, asked for anew or known from before; ``problems`` say, by bot, why it stopped.
    """

    answers: dict[Removal, Answer] = field(default_factory=dict)
    calls: int = 0
    kept: int = 0
    problems: dict[str, str] = field(default_factory=dict)


def knowing_bots(ground: Ground, names: Collection[str], options: RunConfig) -> dict[str, TakesKnowledge]:
    """Those of the suite's bots whose documents can be taken away, made anew as in a run.

    No model is loaded; the code of the user's own bots is imported, to see whether it can leave documents out.
    """
    wanted = [name for name in ground.loaded.suite.bots if name in names]
    built = build_bots(
        ground.loaded, wanted, ground.embedder, ground.environ, lambda: Knowledge(ground.documents),
        local_models=options.local_models,
    )  # fmt: skip
    taking = (_taking(bot, ground) if isinstance(bot, TargetBot) else bot for bot in built)
    return {bot.name: bot for bot in taking if isinstance(bot, TakesKnowledge)}


def _taking(bot: TargetBot, ground: Ground) -> BuiltBot:
    return KnowingTargetBot(bot, ground.documents) if bot.takes_knowledge else bot


def ask_again(
    ground: Ground, removals: Iterable[Removal], metric: str, options: RunConfig, store: Store,
    watching: Watching, told: Callable[[str], None] | None = None,
) -> Asked:  # fmt: skip
    """Ask for the answers, or find them where they are kept.

    Args:
        ground: the suite and its documents.
        removals: what to ask; each once, however often it is given.
        metric: by which answers are marked.
        options: as of the run whose answers are explained.
        store: the database.
        watching: makes somebody who watches.
        told: told a sentence when something takes long.
    """
    wanted = list(dict.fromkeys(removals))
    if not wanted:
        return Asked()
    bots = knowing_bots(ground, {removal.bot for removal in wanted}, options)
    variants = {
        (bot, documents): Variant(_reduced(bots[bot], documents), frozenset(questions), bot)
        for (bot, documents), questions in _by_variant(wanted).items()
    }
    held = list(_closing(variants, bots))
    note = {"for": "blame", "metric": metric, "answers": len(wanted)}
    exam = variant_exam(ground.loaded, held, options, ground.environ, {metric}, note, told)
    with watching() as watcher:
        outcome = hold_variants(exam, held, store, watcher)
    run_id, _ = find_run(store, outcome.summary.run)
    found = read_answers(store, run_id, metric)
    by_place = {} if found is None else found.by_place
    answers = {
        removal: by_place[place]
        for removal in wanted
        if (place := (variants[removal.bot, removal.documents].bot.name, removal.question)) in by_place
    }
    of = {variant.bot.name: variant.of for variant in held}
    problems = {of[name]: problem for name, problem in outcome.problems.items()}
    return Asked(answers, outcome.asked, outcome.kept, problems)


def to_ask(ground: Ground, removals: Iterable[Removal], options: RunConfig, store: Store) -> int:
    """How many answers are not kept yet; with ``fresh`` none counts."""
    repeats = options.repeat or ground.loaded.suite.repeat
    wanted = list(dict.fromkeys(removals))
    if options.fresh:
        return len(wanted) * repeats
    bots = knowing_bots(ground, {removal.bot for removal in wanted}, options)
    missing = 0
    for (bot, documents), questions in _by_variant(wanted).items():
        reduced = _reduced(bots[bot], documents)
        asks = [ask_key(ground.by_key[question]) for question in questions]
        missing += missing_answers(store, reduced.name, reduced.identity, asks, repeats)
    return missing


def variant_name(bot: str, documents: frozenset[str], of_all: Sequence[str]) -> str:
    """What a bot without these documents is called: by what is missing, or by what is left where that is less."""
    left = [document for document in of_all if document not in documents]
    missing = [document for document in of_all if document in documents]
    word, named = ("only", left) if 0 < len(left) < len(missing) else ("without", missing)
    listed = " and ".join(named) if len(named) <= NAMED else f"{len(named)} documents"
    digest = hashlib.sha256("\0".join(sorted(documents)).encode("utf-8", "surrogatepass")).hexdigest()[:8]
    mark = f" #{digest}" if len(named) > 1 else ""
    return f"{bot} {word} {listed}{mark}".encode("utf-8", "backslashreplace").decode()


def _by_variant(removals: Iterable[Removal]) -> Mapping[tuple[str, frozenset[str]], list[str]]:
    questions: dict[tuple[str, frozenset[str]], list[str]] = {}
    for removal in removals:
        questions.setdefault((removal.bot, removal.documents), []).append(removal.question)
    return questions


def _reduced(bot: TakesKnowledge, documents: frozenset[str]) -> TakesKnowledge:
    name = variant_name(bot.name, documents, [document.id for document in bot.documents])
    return bot.without(documents, name=name)


def _closing(
    variants: Mapping[tuple[str, frozenset[str]], Variant], bots: Mapping[str, TakesKnowledge]
) -> Iterable[Variant]:
    """The variants, the last of which closes the bots that they were made from: they share model and index."""
    *others, last = variants.values()
    yield from others
    yield Variant(NamedBot(last.bot, last.bot.name, tuple(bots.values())), last.questions, last.of)
