"""Gate exam: an exam that is held because a gate wants to know; only what changed is asked."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ... import InputError
from ...reports.comparing.score_table import RunTables
from ...reports.comparing.sides import Side, find_file, open_side, split_file
from ...reports.gating.gate_rule import ALL, GateRule
from ...reports.ledger import now
from ...reports.run import RunMetric
from ...reports.store import Store
from ..engine.engine import Watcher
from ..exams.exam import Exam, Outcome, hold
from ..exams.run_config import RunConfig
from ..exams.suite_exam import chosen_bots, suite_exam
from ..suite.suite_file import LoadedSuite
from .confirmation import Confirmation
from .early_stop import EarlyStop
from .gate import GateOptions, GateResult, judged, suite_baseline
from .gate_early import asked_in_full, early_verdict, wagers
from .gate_savings import savings
from .gate_sides import open_base, refuse_itself, settled


@dataclass(frozen=True, slots=True)
class HeldGate:
    """A gate with the exam that was held for it."""

    result: GateResult
    outcome: Outcome


def gate_suite(
    loaded: LoadedSuite, run: RunConfig, options: GateOptions, environ: Mapping[str, str], watcher: Watcher,
    told: Callable[[str], None] | None = None, early_stop: bool = False,
) -> HeldGate:  # fmt: skip
    """Hold a suite's exam, and decide whether its bots became worse. What is kept is not asked again.

    Args:
        loaded: the suite.
        run: what the command line changes about it.
        options: what is gated; its bots go before those of ``gate.bots``.
        environ: where keys are looked up.
        watcher: told of the progress.
        told: told a sentence when a local model is loaded.
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
    exam = suite_exam(loaded, replace(run, bots=_asked(gated, text, loaded)), environ, told)
    _check_margins(loaded, exam, options)
    with contextlib.closing(Store.open(options.database)) as store:
        own = _resumed(store, exam)
        text = settled(text, options.database, exam.header.suite, own)
        rule = settings.rule(loaded.suite.thresholds, options.margins, flips=options.flips, seed=loaded.suite.seed)
        rule = options.changed(rule)
        early = None
        with _base_before(text, options, exam, gated) as base:
            if isinstance(base, Side):
                refuse_itself(base, own, text)
                text = _pinned(base, text)
            if early_stop:
                rule = _for_early(rule, exam, base)
                early = EarlyStop(wagers(exam, base, gated, rule, store), rule.cluster, loaded.suite.seed)
        began = now()
        outcome = hold(early.arranged(exam) if early else exam, store, watcher)
        saved = savings(store, outcome, began)
    result = early.result if early else None
    says = partial(early_verdict, result) if result and result.stopped else None
    name = outcome.summary.run
    with open_side(f"{options.database}:{name}", options.database) as side:
        head = asked_in_full(side.run) if says else side.run
        with open_base(text, head, options.database) as base:
            took = f"Held {loaded.path}: run {name} of {options.database}."
            if early is not None:
                found = judged(head, base, gated, rule, says, states=side.states)
            else:
                with contextlib.closing(Store.open(options.database)) as store:
                    asking = Confirmation(loaded, run, environ, store, base, told or watcher.said)
                    found = judged(head, base, gated, rule, asking=asking, states=side.states)
            notes = (*_same_run(head, base), *found.notes)
    return HeldGate(GateResult(took, replace(found, notes=notes), saved, result), outcome)


def _for_early(rule: GateRule, exam: Exam, base: Side | str) -> GateRule:
    """What is bet on: it is known before anything is asked, and some questions never will be."""
    primary = base.run.primary if isinstance(base, Side) else None
    name = exam.header.primary or (primary.name if primary else "")
    return replace(rule, scope="like_these", primary=name, metrics=rule.metrics if name or rule.wanted else (ALL,))


def _pinned(base: Side, text: str) -> str:
    """The same baseline by its full name: the exam is a run of its own, and would be the latest."""
    if base.is_baseline:
        return text
    return ":".join([base.run.origin, base.run.run, *([base.bot] if base.bot else [])])


def _same_run(head: RunTables, base: Side) -> list[str]:
    if base.bot is not None or base.is_baseline or base.run.run != head.run:
        return []
    return [f"the exam is that of run {head.run}, with which it is compared: nothing changed since then"]


def _asked(gated: Sequence[str], text: str, loaded: LoadedSuite) -> tuple[str, ...]:
    """The bots that are asked: all, or those that are gated and the one that they are held against."""
    if not gated:
        return ()
    return (*gated, *([text] if text in loaded.suite.bots and text not in gated else []))


def _check_margins(loaded: LoadedSuite, exam: Exam, given: GateOptions) -> None:
    """What is gated is measured by the exam, and one end of it is better."""
    metrics = {metric.name: metric for metric in exam.header.metrics if metric.level == "row"}
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


def _resumed(store: Store, exam: Exam) -> str | None:
    """Name of the run with which the exam will go on."""
    lines = store.query("SELECT name FROM runs WHERE identity = ? ORDER BY id DESC", [exam.header.identity])
    return str(lines[0][0]) if lines and not exam.header.fresh else None


@contextlib.contextmanager
def _base_before(text: str, options: GateOptions, exam: Exam, gated: Sequence[str]) -> Iterator[Side | str]:
    """The baseline before anything is asked; its name where it is a bot of the exam itself.

    Raises:
        InputError: there is no such baseline, or it lacks a bot that has to be gated.
    """
    bots = [name for name, _ in exam.header.bots]
    if text in bots and find_file(text)[0] is None:
        if text in gated or bots == [text]:
            raise InputError(f"{text} can't be held against itself. The exam has the bots {', '.join(bots)}.")
        yield text
        return
    with open_side(text, options.database) as side:
        there = side.run.tables
        missing = [name for name in gated or bots if name not in there] if side.bot is None else []
        if missing and (gated or len(missing) == len(bots)):
            raise InputError(
                f"The baseline {side.run.origin} (run {side.run.run}) has no bot {', '.join(missing)}; it has "
                f"{', '.join(there)}. Name one after a colon, as in --baseline FILE:BOT."
            )
        yield side
