"""Gate and attribution: what caused the differences that a gate found, bot by bot."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from ... import InputError
from ...reports.comparing.run_tables import run_tables
from ...reports.gating.gate_report import GateReport
from ...reports.gating.verdicts import BotVerdict
from ...reports.store import Store
from ...reports.summary import find_run
from ..exams.run_config import RunConfig
from ..suite.suite_file import LoadedSuite
from .attribution import Watching, attribute, comparable_keys
from .attribution_plan import plan_attribution
from .attribution_result import Attribution, Explained


def explained(
    report: GateReport, loaded: LoadedSuite, run: RunConfig, database: Path, environ: Mapping[str, str],
    watching: Watching, told: Callable[[str], None], old_knowledge: Path | None = None,
) -> Explained:  # fmt: skip
    """Take the differences apart that a gate found; bots that are unchanged have none.

    Args:
        report: what the gate found.
        loaded: the suite that was held for it.
        run: what the command line changed about it.
        database: where its run is, and where the configurations between are kept.
        environ: where keys are looked up.
        watching: makes somebody who watches an exam.
        told: told what is going to be asked, before it is.
        old_knowledge: where the documents of the baseline are.
    """
    made: list[Attribution] = []
    notes: list[str] = []

    def one(bot: BotVerdict, store: Store, baseline: Store) -> Attribution:
        base_id, _ = find_run(baseline, bot.base_run)
        plan = plan_attribution(baseline, base_id, bot.bot, loaded, run, environ, old_knowledge, bot.base_bot)
        head = run_tables(store, find_run(store, bot.head_run)[0], [bot.bot]).tables[bot.bot]
        base = run_tables(baseline, base_id, [bot.base_bot]).tables[bot.base_bot]
        told(plan.sentence(store, comparable_keys(base, head)))
        gated = [each.metric for each in bot.metrics]
        return attribute(plan, store, base, head, watching, told, report.rule.cluster, report.rule.seed, gated)

    with contextlib.closing(Store.open(database, create=False)) as store:
        for bot in report.bots:
            if bot.unchanged:
                continue
            try:
                with _baseline(report, bot, store) as baseline:
                    made.append(one(bot, store, baseline))
            except InputError as reason:  # the verdicts are known, and are not to be lost
                notes.append(str(reason))
    return Explained(tuple(made), tuple(notes))


@contextlib.contextmanager
def _baseline(report: GateReport, bot: BotVerdict, store: Store) -> Iterator[Store]:
    """The database that has the baseline's run; that of a baseline file's run may be ours.

    Raises:
        InputError: no database at hand has it.
    """
    if store.query("SELECT 1 FROM runs WHERE name = ?", [bot.base_run]):
        yield store
        return
    origin = Path(report.baseline)
    if origin.suffix.lower() == ".json" or not origin.is_file():
        raise InputError(
            f"What caused the difference of {bot.bot} can't be told from {report.baseline}: prompts and settings stand "
            f"in the database of run {bot.base_run}. Give that to --baseline, or run the gate where it is."
        )
    with contextlib.closing(Store.open(origin, create=False)) as opened:
        yield opened
