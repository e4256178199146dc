"""Gate: whether a change made the bots of a suite worse; only what changed is asked."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ... import InputError
from ...reports.compare.changes import BotState, part_changes
from ...reports.compare.operands import MOST_NAMED, WORDS, Operand, find_file, open_operand, split_file, unknown_bot
from ...reports.compare.scores import RunTables, ScoreTable
from ...reports.gate.report import GateReport
from ...reports.gate.rule import ALL, GateRule, Scope
from ...reports.gate.verdicts import Again, BotVerdict, verdicts
from ...reports.primary import Primary
from ...reports.store.database import Store
from ...reports.store.run import EARLY_STOP, LATEST, LATEST_FIRST, RunMetric
from ...reports.store.run_results import now
from ..run.engine import Watcher
from ..run.run import Evaluation, Outcome, hold
from ..run.run_config import RunConfig
from ..run.suite_run import chosen_bots, suite_evaluation
from ..suite.settings import CachedGate, GateSettings
from ..suite.suite_file import LoadedSuite
from .confirmation import Confirmation
from .early_stop import EarlyStop, asked_in_full, early_verdict, sequential_tests

if TYPE_CHECKING:
    from .attribution import Explained
    from .early_stop import EarlyResult


PREVIOUS = "previous"


@dataclass(frozen=True, slots=True)
class Matched:
    """Bots of the run with what each is held against, and sentences about the others."""

    pairs: tuple[tuple[ScoreTable, ScoreTable], ...]
    notes: tuple[str, ...] = ()


@contextlib.contextmanager
def open_base(text: str, head: RunTables, database: Path) -> Iterator[Operand]:
    """What a run is held against; its database stays open until the end of the ``with``.

    Args:
        text: a run, its beginning, ``previous`` (the one before ``head``), a file, or a bot of ``head`` itself.
        head: the run, with all its bots.
        database: where runs are looked up.

    Raises:
        InputError: there is no such thing, with the nearest that there is.
    """
    if text in head.tables and find_file(text)[0] is None:
        yield Operand(head, text)
        return
    with open_operand(settled(text, database, head.suite, head.run), database) as operand:
        yield operand


def settled(text: str, database: Path, suite: str, run: str | None) -> str:
    """The text with ``previous`` or ``latest`` replaced by the name of the run that it means.

    A gate that is repeated goes on with its own run. ``latest`` is then the newest of the others, or it would pass.

    Args:
        text: as the user typed it.
        database: where runs are looked up.
        suite: name of the suite, of which the previous run is wanted.
        run: the run that is gated; None for one that is still to be begun.

    Raises:
        InputError: there is no such run.
    """
    word, _, bot = text.partition(":")
    if word not in WORDS or find_file(text)[0] is not None:
        return text
    with contextlib.closing(Store.open(database, create=False)) as store:
        names = [str(name) for (name,) in store.query(f"SELECT name FROM runs ORDER BY {LATEST_FIRST}") if name != run]
        found = names
        if word == PREVIOUS:
            lines = store.query(
                "SELECT name FROM runs WHERE suite = ? AND id < IFNULL((SELECT id FROM runs WHERE name = ?), id + 1)"
                " ORDER BY id DESC",
                [suite, run],
            )
            found = [str(name) for (name,) in lines]
    if not found:
        there = f" Name one of the others: {', '.join(names[:MOST_NAMED])}." if names else ""
        of_suite, relation = (f" of the suite {suite!r}", "before") if word == PREVIOUS else ("", "besides")
        raise InputError(f"{database} holds no run{of_suite} {f'{relation} {run}' if run else 'yet'}.{there}")
    return f"{found[0]}:{bot}" if bot else found[0]


def refuse_itself(base: Operand, run: str | None, text: str = "") -> None:
    """A gate that holds a run against itself would pass whatever had changed.

    Args:
        base: what is held against.
        run: the run that is gated; None for one that is still to be begun.
        text: what the user typed, where that run is held anew: who names a finished one is only told later that
            nothing has changed since, and another bot of it may be the baseline.

    Raises:
        InputError: the two are one run, in whatever copy of a database.
    """
    if base.is_baseline or base.run.run != run or (base.bot is not None and not text):
        return
    named = find_file(text)[1].partition(":")[0] if text else ""
    if named and base.run.run.startswith(named) and (base.bot is not None or base.run.status == "finished"):
        return
    raise InputError(
        f"The baseline is the run itself, {run}: that would always pass. Name an earlier run, 'previous', "
        "a baseline file, or another bot of the run."
    )


def matched(head: RunTables, base: Operand, wanted: Sequence[str]) -> Matched:
    """Which bots are held against which.

    A base of one bot stands against the bot of its name in another run, else against every other bot.

    Args:
        head: the run.
        base: what it is held against.
        wanted: bots that have to be gated; blank for all that both sides have.

    Raises:
        InputError: a wanted bot is on one side only, or no bot is on both.
    """
    for name in wanted:
        if name not in head.tables:
            raise InputError(unknown_bot(name, f"run {head.run}", list(head.tables)))
    if base.bot is not None:
        return _against_one(head, base.run, base.bot, wanted)
    missing = [name for name in wanted if name not in base.run.tables]
    both = list(wanted) or [name for name in head.tables if name in base.run.tables]
    if missing or not both:
        raise InputError(_no_partner(head, base.run, missing))
    only_head = [name for name in head.tables if name not in base.run.tables]
    only_base = [name for name in base.run.tables if name not in head.tables]
    notes = [] if wanted else [*_named("new, and held against nothing", only_head)]
    notes += [] if wanted else [*_named(f"in the baseline and not in run {head.run}", only_base)]
    pairs = tuple((base.run.tables[name], head.tables[name]) for name in both)
    return Matched(pairs, tuple(notes))


def _against_one(head: RunTables, base: RunTables, bot: str, wanted: Sequence[str]) -> Matched:
    same_run = (head.origin, head.run) == (base.origin, base.run)
    names = list(wanted)
    if not names:
        names = [bot] if bot in head.tables and not same_run else [name for name in head.tables if name != bot]
    if same_run and (bot in names or not names):
        raise InputError(f"{bot} can't be held against itself. Run {head.run} has the bots {', '.join(head.tables)}.")
    return Matched(tuple((base.tables[bot], head.tables[name]) for name in names))


def _no_partner(head: RunTables, base: RunTables, missing: Sequence[str]) -> str:
    theirs = ", ".join(base.tables) or "none"
    if missing:
        near = difflib.get_close_matches(missing[0], base.tables, 1, 0.5)
        hint = f" Did you mean --baseline {base.origin}:{near[0]}?" if near else ""
        return f"The baseline {base.origin} (run {base.run}) has no bot {', '.join(missing)}; it has {theirs}.{hint}"
    return (
        f"No bot of run {head.run} ({', '.join(head.tables)}) is in the baseline {base.origin} ({theirs}). "
        "Name the bot to compare with, as in --baseline FILE:BOT or --baseline RUN:BOT."
    )


def _named(what: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} {what}"


ROWS = """
SELECT bots.name, SUM(asked_at >= :began), SUM(asked_at < :began),
    TOTAL(CASE WHEN asked_at < :began THEN latency_ms END), SUM(CASE WHEN asked_at < :began THEN cost END)
FROM run_rows JOIN runs ON runs.id = run_rows.run_id JOIN replies ON replies.id = reply_id
JOIN bots ON bots.id = run_rows.bot_id
JOIN run_bots ON run_bots.run_id = run_rows.run_id AND run_bots.bot_id = run_rows.bot_id
WHERE runs.name = :run GROUP BY run_rows.bot_id ORDER BY run_bots.position"""


@dataclass(frozen=True, slots=True)
class Savings:
    """What a run asked, and what it found kept.

    Attributes:
        asked: answers that were asked for now, by bot.
        kept: answers that were kept, by bot.
        seconds: the bots' own time that the kept ones had taken.
        cost: what they had cost; None where no backend counts.
        judge_calls: requests that were sent to the judge now.
        judge_calls_cached: those that were kept or shared.
    """

    asked: dict[str, int]
    kept: dict[str, int]
    seconds: float
    cost: float | None
    judge_calls: int
    judge_calls_cached: int


def savings(store: Store, outcome: Outcome, began: str) -> Savings:
    """What a pass that began at a time (as the database writes it) asked and kept."""
    lines = store.query(ROWS, {"began": began, "run": outcome.summary.run})
    costs = [cost for *_, cost in lines if cost is not None]
    calls = outcome.judge.vector_cache
    return Savings(
        asked={str(name): int(asked) for name, asked, *_ in lines if asked},
        kept={str(name): int(kept) for name, _, kept, *_ in lines if kept},
        seconds=sum(float(latency) for *_, latency, _ in lines) / 1000,
        cost=sum(costs) if costs else None,
        judge_calls=calls.paid,
        judge_calls_cached=calls.kept,
    )


AsksAgain = Callable[[ScoreTable, ScoreTable, GateRule], Again | None]


@dataclass(frozen=True, slots=True)
class GateOptions:
    """What the command line says.

    Attributes:
        database: where runs are kept and looked up.
        baseline: what to compare with; blank for what the suite names.
        bots: those to be gated; blank for what the suite names, else all.
        margins: metric -> margin of harm; they go before those of the suite.
        flips: how many questions that got worse are named, of each bot.
        metrics: what is gated; they go before those of the suite.
        scope: which questions the verdict is about; None for what the suite says.
        confirm: how often what changed is asked again; None for what the suite says.
    """

    database: Path
    baseline: str = ""
    bots: tuple[str, ...] = ()
    margins: Mapping[str, float] = field(default_factory=dict)
    flips: int = 3
    metrics: tuple[str, ...] = ()
    scope: Scope | None = None
    confirm: int | None = None

    def changed(self, rule: GateRule) -> GateRule:
        """The rule of a suite with what the command line says."""
        return replace(
            rule, metrics=self.metrics or rule.metrics, scope=self.scope or rule.scope,
            confirm=rule.confirm if self.confirm is None else self.confirm,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class GateResult:
    """What a gate found, and what it took.

    Attributes:
        took: a sentence on what was looked at, or held.
        report: the verdicts.
        saved: what was kept; None when no run was made.
        early: what an early stop said; None where there was none.
        explained: what caused the differences; None where nobody asked.
    """

    took: str
    report: GateReport
    saved: Savings | None = None
    early: EarlyResult | None = None
    explained: Explained | None = None


def gate_cached(text: str, options: GateOptions) -> GateResult:
    """Look at a run that is kept; nothing is asked.

    Args:
        text: a run, its beginning, ``latest``, a database file, each with a bot after a colon; or a bot of the latest.
        options: what the command line says. Margins come from the suite as it stands in the run's manifest.

    Raises:
        InputError: there is no such run or baseline, or nothing in them can be compared.
    """
    with contextlib.ExitStack() as opened:
        operand = opened.enter_context(open_operand(text or LATEST, options.database))
        home = find_file(text or LATEST)[0] or options.database
        head, named = _whole(operand, home, opened)
        _refuse_stopped(head)
        kept = CachedGate.of(head.manifest)
        if not options.baseline:
            raise InputError(_no_baseline(kept.settings.baseline))
        rule = options.changed(kept.rule(options.margins, options.flips))
        if named and any(bot != named for bot in options.bots):
            raise InputError(f"{text} names the bot {named}, and --bot {', '.join(options.bots)}. Give one of the two.")
        wanted = options.bots or ((named,) if named else kept.settings.bots)
        base = opened.enter_context(open_base(options.baseline, head, _database(home, options.database)))
        refuse_itself(base, head.run)
        took = f"Looked at run {head.run} of {head.origin}; nothing was asked."
        found = judged(head, base, wanted, rule, states=operand.states)
        return GateResult(took, replace(found, notes=(*kept.notes, *found.notes)))


def judged(
    head: RunTables, base: Operand, wanted: Sequence[str], rule: GateRule,
    early: Callable[[BotVerdict], BotVerdict] | None = None, asking: AsksAgain | None = None,
    states: Mapping[str, BotState] | None = None,
) -> GateReport:  # fmt: skip
    """The verdicts on a run.

    Args:
        head: the run, with all its bots.
        base: what it is held against.
        wanted: bots that have to be gated; blank for all that can be.
        rule: what is gated and let pass.
        early: puts what an early stop said in the place of the verdicts of the ordinary rule.
        asking: asks the rows that changed again; None where nothing can be asked.
        states: what the bots of the run are made of.

    Raises:
        InputError: a wanted bot is not there on both sides, or no bot is.
    """
    found = matched(head, base, wanted)
    manifests = (base.run.manifest, head.manifest)
    finished = head.status == "finished" or early is not None
    primary = primary_of(base.run, head)
    rule = replace(rule, primary=primary.name if primary else "")
    bots = []
    for was, head_bot in found.pairs:
        of_bot = replace(rule, primary=primary_of_bot(primary, base.run, was))
        again = asking(was, head_bot, of_bot) if asking is not None and rule.scope == "these" and rule.confirm else None
        old, new = base.states.get(was.bot), (states or {}).get(head_bot.bot)
        changes = tuple(part_changes(old, new)) if old and new and was.bot == head_bot.bot else ()
        bots.append(replace(verdicts(was, head_bot, of_bot, manifests, finished, again), changes=changes))
    return GateReport(
        suite=head.suite, run=head.run, status=head.status, baseline=base.run.origin,
        baseline_run=base.run.run, rule=rule, bots=tuple(map(early, bots) if early else bots),
        notes=(*_about(head, base.run), *found.notes), primary=primary,
    )  # fmt: skip


def primary_of(base: RunTables, head: RunTables) -> Primary | None:
    """The primary metric: the one that the head's suite names, else that of the base, which has all its values."""
    of_head = head.primary
    return of_head if of_head is not None and of_head.named else base.primary or of_head


def primary_of_bot(primary: Primary | None, base: RunTables, was: ScoreTable) -> str:
    """By what a bot is gated: the primary metric, or another where it was chosen and the bot has no value of it."""
    if primary is None:
        return ""
    values = was.values.get(primary.name)
    if primary.named or (values is not None and np.isfinite(values).any()):
        return primary.name
    own = replace(base, tables={was.bot: was}).primary
    return own.name if own else primary.name


def _about(head: RunTables, base: RunTables) -> list[str]:
    notes = []
    if base.status != "finished" and base.run != head.run:
        why = (
            "was stopped early, and says no more than its own verdict"
            if EARLY_STOP in base.manifest
            else (f"did not finish ({base.status})")
        )
        notes.append(f"the baseline's run {base.run} {why}")
    if base.run == head.run and base.origin != head.origin:
        notes.append(f"the baseline was written from this very run, {head.run}: nothing changed since then")
    if head.suite != base.suite:
        notes.append(f"the baseline is of another suite, {base.suite}")
    return notes


def _whole(operand: Operand, home: Path, opened: contextlib.ExitStack) -> tuple[RunTables, str | None]:
    """The run with all its bots, and the one that was named: another bot of the run may be the baseline."""
    if operand.bot is None or operand.run.origin != str(home):
        return operand.run, operand.bot
    whole = opened.enter_context(open_operand(f"{home}:{operand.run.run}", home))
    return whole.run, operand.bot


def _database(home: Path, database: Path) -> Path:
    """Where the baseline is looked up: in the database of the run, unless that is a baseline file itself."""
    return database if home.suffix.lower() == ".json" else home


def _refuse_stopped(head: RunTables) -> None:
    """What was stopped when its verdict was certain can't be judged again by a rule that looks once."""
    if EARLY_STOP in head.manifest:
        raise InputError(
            f"Run {head.run} was stopped early, and its verdict holds only against the baseline that it had then. Give "
            "the suite instead: its run goes on, and asks what was left out; or once more with --early-stop."
        )


def _no_baseline(named: str | None) -> str:
    suite = f" Its suite names {named}: give the suite, or --baseline with the path from here." if named else ""
    return (
        f"There is nothing to compare with.{suite} Give --baseline: a file that 'proctor baseline' wrote, a run, "
        "'previous', a database, or another bot of the run."
    )


def suite_baseline(given: str, settings: GateSettings, base: Path) -> str:
    """What a suite is held against: the option, else the suite's own, whose files are relative to it.

    Raises:
        InputError: nothing is named, or the file that the suite names is not there.
    """
    if given:
        return given
    if settings.baseline is None:
        raise InputError(
            "There is nothing to compare with: the suite has no gate.baseline. Write one with 'proctor baseline' and "
            "name it in the suite (gate: {baseline: baseline.json}), or give --baseline: a file, a run, 'previous' or "
            "a bot."
        )
    text = settings.baseline
    for end in (len(text), *(place for place in range(len(text) - 1, 0, -1) if text[place] == ":")):
        if (base / text[:end]).is_file():
            return f"{_from_here(base / text[:end])}{text[end:]}"
    if text.lower().endswith(".json"):
        said = "which the suite names as gate.baseline. 'proctor baseline' writes it."
        raise InputError(f"There is no {base / text}, {said}")
    return text


def _from_here(path: Path) -> str:
    """As it would be typed in the working directory: reports for others don't tell where that is."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


@dataclass(frozen=True, slots=True)
class FinishedGate:
    """A gate with the run that was held for it."""

    result: GateResult
    outcome: Outcome


def gate_suite(
    loaded: LoadedSuite, run: RunConfig, options: GateOptions, environ: Mapping[str, str], watcher: Watcher,
    notify: Callable[[str], None] | None = None, early_stop: bool = False,
) -> FinishedGate:  # fmt: skip
    """Hold a suite's run, and decide whether its bots became worse. What is kept is not asked again.

    Args:
        loaded: the suite.
        run: what the command line changes about it.
        options: what is gated; its bots go before those of ``gate.bots``.
        environ: where keys are looked up.
        watcher: told of the progress.
        notify: told a sentence when a local model is loaded.
        early_stop: ask in random order, and stop when every verdict is certain.

    Raises:
        InputError: suite, margins or baseline can't be used; then nothing was asked.
    """
    settings = loaded.suite.gate
    text = suite_baseline(options.baseline, settings, loaded.base)
    gated = options.bots or settings.bots
    chosen_bots(gated, list(loaded.suite.bots))  # refuses what the suite does not have
    if text not in loaded.suite.bots:
        split_file(text)  # a file that is not there is told before everything is read
    evaluation = suite_evaluation(loaded, replace(run, bots=_asked(gated, text, loaded)), environ, notify)
    _check_margins(loaded, evaluation, options)
    with contextlib.closing(Store.open(options.database)) as store:
        own = _resumed(store, evaluation)
        text = settled(text, options.database, evaluation.header.suite, own)
        rule = settings.rule(loaded.suite.thresholds, options.margins, flips=options.flips, seed=loaded.suite.seed)
        rule = options.changed(rule)
        early = None
        with _base_before(text, options, evaluation, gated) as base:
            if isinstance(base, Operand):
                refuse_itself(base, own, text)
                text = _pinned(base, text)
            if early_stop:
                rule = _for_early(rule, evaluation, base)
                early = EarlyStop(
                    sequential_tests(evaluation, base, gated, rule, store), rule.cluster, loaded.suite.seed
                )
        began = now()
        outcome = hold(early.arranged(evaluation) if early else evaluation, store, watcher)
        saved = savings(store, outcome, began)
    result = early.result if early else None
    says = partial(early_verdict, result) if result and result.stopped else None
    name = outcome.summary.run
    with open_operand(f"{options.database}:{name}", options.database) as operand:
        head = asked_in_full(operand.run) if says else operand.run
        with open_base(text, head, options.database) as base:
            took = f"Held {loaded.path}: run {name} of {options.database}."
            if early is not None:
                found = judged(head, base, gated, rule, says, states=operand.states)
            else:
                with contextlib.closing(Store.open(options.database)) as store:
                    asking = Confirmation(loaded, run, environ, store, base, notify or watcher.said)
                    found = judged(head, base, gated, rule, asking=asking, states=operand.states)
            notes = (*_same_run(head, base), *found.notes)
    return FinishedGate(GateResult(took, replace(found, notes=notes), saved, result), outcome)


def _for_early(rule: GateRule, evaluation: Evaluation, base: Operand | str) -> GateRule:
    """What is bet on: it is known before anything is asked, and some questions never will be."""
    primary = base.run.primary if isinstance(base, Operand) else None
    name = evaluation.header.primary or (primary.name if primary else "")
    return replace(rule, scope="like_these", primary=name, metrics=rule.metrics if name or rule.wanted else (ALL,))


def _pinned(base: Operand, text: str) -> str:
    """The same baseline by its full name: the run is a run of its own, and would be the latest."""
    if base.is_baseline:
        return text
    return ":".join([base.run.origin, base.run.run, *([base.bot] if base.bot else [])])


def _same_run(head: RunTables, base: Operand) -> list[str]:
    if base.bot is not None or base.is_baseline or base.run.run != head.run:
        return []
    return [f"the run is that of run {head.run}, with which it is compared: nothing changed since then"]


def _asked(gated: Sequence[str], text: str, loaded: LoadedSuite) -> tuple[str, ...]:
    """The bots that are asked: all, or those that are gated and the one that they are held against."""
    if not gated:
        return ()
    return (*gated, *([text] if text in loaded.suite.bots and text not in gated else []))


def _check_margins(loaded: LoadedSuite, evaluation: Evaluation, given: GateOptions) -> None:
    """What is gated is measured by the run, and one end of it is better."""
    metrics = {metric.name: metric for metric in evaluation.header.metrics if metric.level == "row"}
    wrong = {name: says for name in loaded.suite.gate.margins if (says := _no_margin(name, metrics))}
    named = loaded.suite.gate.metrics
    unknown = [(("gate", "metrics"), says) for name in named if name != ALL and (says := _no_margin(name, metrics))]
    if wrong or unknown:
        raise loaded.mistaken(*((("gate", "margins", name), says) for name, says in wrong.items()), *unknown)
    for option, names in (("margin", given.margins), ("metric", given.metrics)):
        for name in names:
            if name != ALL and (says := _no_margin(name, metrics)):
                raise InputError(f"--{option} {name}: {says}.")


def _no_margin(name: str, metrics: Mapping[str, RunMetric]) -> str:
    """Why a metric can have no margin; blank where it can."""
    if name not in metrics:
        near = difflib.get_close_matches(name, metrics, n=1)
        measured = f"did you mean {near[0]}?" if near else f"it measures {', '.join(metrics)}"
        return f"the suite does not measure it; {measured}"
    if metrics[name].better == "neither":
        return "neither direction of it is better, so it can't become worse"
    return ""


def _resumed(store: Store, evaluation: Evaluation) -> str | None:
    """Name of the run with which the run will go on."""
    lines = store.query("SELECT name FROM runs WHERE identity = ? ORDER BY id DESC", [evaluation.header.identity])
    return str(lines[0][0]) if lines and not evaluation.header.fresh else None


@contextlib.contextmanager
def _base_before(
    text: str, options: GateOptions, evaluation: Evaluation, gated: Sequence[str]
) -> Iterator[Operand | str]:
    """The baseline before anything is asked; its name where it is a bot of the run itself.

    Raises:
        InputError: there is no such baseline, or it misses a bot that has to be gated.
    """
    bots = [name for name, _ in evaluation.header.bots]
    if text in bots and find_file(text)[0] is None:
        if text in gated or bots == [text]:
            raise InputError(f"{text} can't be held against itself. The run has the bots {', '.join(bots)}.")
        yield text
        return
    with open_operand(text, options.database) as operand:
        there = operand.run.tables
        missing = [name for name in gated or bots if name not in there] if operand.bot is None else []
        if missing and (gated or len(missing) == len(bots)):
            raise InputError(
                f"The baseline {operand.run.origin} (run {operand.run.run}) has no bot {', '.join(missing)}; it has "
                f"{', '.join(there)}. Name one after a colon, as in --baseline FILE:BOT."
            )
        yield operand
