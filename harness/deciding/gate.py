"""Gate: whether a change made the bots of a suite worse, after the exam or from what is kept."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ... import InputError
from ...reports.comparing.changed_parts import BotState, part_changes
from ...reports.comparing.score_table import RunTables, ScoreTable
from ...reports.comparing.sides import Side, find_file, open_side
from ...reports.gating.gate_report import GateReport
from ...reports.gating.gate_rule import GateRule, Scope
from ...reports.gating.these_questions import Again
from ...reports.gating.verdicts import BotVerdict, verdicts
from ...reports.primary import Primary
from ...reports.run import EARLY_STOP, LATEST
from ..suite.gate_settings import GateSettings, KeptGate
from .gate_sides import matched, open_base, refuse_itself

if TYPE_CHECKING:
    from .attribution_result import Explained
    from .early_result import EarlyResult
    from .gate_savings import Savings


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
        saved: what was kept; None when no exam was held.
        early: what an early stop said; None where there was none.
        explained: what caused the differences; None where nobody asked.
    """

    took: str
    report: GateReport
    saved: Savings | None = None
    early: EarlyResult | None = None
    explained: Explained | None = None


def gate_kept(text: str, options: GateOptions) -> GateResult:
    """Look at a run that is kept; nothing is asked.

    Args:
        text: a run, its beginning, ``latest``, a database file, each with a bot after a colon; or a bot of the latest.
        options: what the command line says. Margins come from the suite as it stands in the run's manifest.

    Raises:
        InputError: there is no such run or baseline, or nothing in them can be compared.
    """
    with contextlib.ExitStack() as opened:
        side = opened.enter_context(open_side(text or LATEST, options.database))
        home = find_file(text or LATEST)[0] or options.database
        head, named = _whole(side, home, opened)
        _refuse_stopped(head)
        kept = KeptGate.of(head.manifest)
        if not options.baseline:
            raise InputError(_no_baseline(kept.settings.baseline))
        rule = options.changed(kept.rule(options.margins, options.flips))
        if named and any(bot != named for bot in options.bots):
            raise InputError(f"{text} names the bot {named}, and --bot {', '.join(options.bots)}. Give one of the two.")
        wanted = options.bots or ((named,) if named else kept.settings.bots)
        base = opened.enter_context(open_base(options.baseline, head, _database(home, options.database)))
        refuse_itself(base, head.run)
        took = f"Looked at run {head.run} of {head.origin}; nothing was asked."
        found = judged(head, base, wanted, rule, states=side.states)
        return GateResult(took, replace(found, notes=(*kept.notes, *found.notes)))


def judged(
    head: RunTables, base: Side, wanted: Sequence[str], rule: GateRule,
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
    for was, now in found.pairs:
        of_bot = replace(rule, primary=primary_of_bot(primary, base.run, was))
        again = asking(was, now, of_bot) if asking is not None and rule.scope == "these" and rule.confirm else None
        old, new = base.states.get(was.bot), (states or {}).get(now.bot)
        changes = tuple(part_changes(old, new)) if old and new and was.bot == now.bot else ()
        bots.append(replace(verdicts(was, now, of_bot, manifests, finished, again), changes=changes))
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


def _whole(side: Side, home: Path, opened: contextlib.ExitStack) -> tuple[RunTables, str | None]:
    """The run with all its bots, and the one that was named: another bot of the run may be the baseline."""
    if side.bot is None or side.run.origin != str(home):
        return side.run, side.bot
    whole = opened.enter_context(open_side(f"{home}:{side.run.run}", home))
    return whole.run, side.bot


def _database(home: Path, database: Path) -> Path:
    """Where the baseline is looked up: in the database of the run, unless that is a baseline file itself."""
    return database if home.suffix.lower() == ".json" else home


def _refuse_stopped(head: RunTables) -> None:
    """What was stopped when its verdict was certain can't be judged again by a rule that looks once."""
    if EARLY_STOP in head.manifest:
        raise InputError(
            f"Run {head.run} was stopped early, and its verdict holds only against the baseline that it had then. Give "
            "the suite instead: its exam goes on, and asks what was left out; or once more with --early-stop."
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
