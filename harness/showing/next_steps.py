"""Next steps: what to type after a run, ready to be copied."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from ...reports.printable import printable
from ..exams.exam import Outcome

MOST: Final = 4
DATABASE: Final = Path("proctor.db")  # where every command looks when --db names no other


def next_steps(outcome: Outcome, suite: Path | None) -> list[tuple[str, str]]:
    """The commands that are worth most after this run, each with what it is for.

    Args:
        outcome: what came of the run.
        suite: the suite as it was typed; None where none was, or where recorded answers were scored.
    """
    return list(islice(_steps(outcome, suite), MOST))


def _steps(outcome: Outcome, suite: Path | None) -> Iterator[tuple[str, str]]:
    bots = [_quoted(bot.name) for bot in outcome.summary.bots]
    if outcome.unable:
        again = f"proctor run {_quoted(suite)}" if suite else "proctor run"
        yield again, "once the set-up is mended: only what is missing is asked"
    run = f" {outcome.summary.run}" if outcome.kept else ""
    yield f"proctor report{run}{_database(outcome)} --open", "the page: which bot is best, how sure, and every answer"
    if len(bots) > 1:
        yield _comparison(outcome)
    if suite is not None and suite.exists() and not outcome.unable:
        yield _baseline(outcome, suite)
    yield _worst(outcome), "the worst rows (any SQLite tool will do)"
    if suite is None:
        yield "proctor init my-suite", "a copy of the sample suite, to be made your own"
    else:
        yield f'proctor ask {_quoted(suite)} {bots[0]} "..."', "one answer, with its contexts"


def _comparison(outcome: Outcome) -> tuple[str, str]:
    """The two bots that lead by the primary metric; those without a value come last, ties in the suite's order."""
    primary = outcome.summary.primary
    sign = -1 if primary is not None and primary.column.better == "higher" else 1
    values = {bot.name: bot.metrics[primary.name].mean if primary else None for bot in outcome.summary.bots}
    best, rival = sorted(values, key=lambda name: (values[name] is None, sign * (values[name] or 0.0)))[:2]
    if primary is None or None in (values[best], values[rival]) or values[best] == values[rival]:
        base, head = best, rival
        what = f"whether {_quoted(head)} is better than {_quoted(base)}"
        if values[best] is not None and values[best] == values[rival] and primary is not None:
            what += f"; both lead by {primary.name}"
    else:
        base, head = rival, best
        what = f"whether {_quoted(best)}, which leads by {primary.name}, is better than {_quoted(rival)}, the next"
    sides = " ".join(_quoted(f"{_run(outcome)}{name}") for name in (base, head))
    return f"proctor compare {sides}{_database(outcome)}", what


def _baseline(outcome: Outcome, suite: Path) -> tuple[str, str]:
    folder = suite if suite.is_dir() else suite.parent
    file = _quoted(folder / "baseline.json")
    run = f" {outcome.summary.run}" if outcome.kept else ""
    write = f"proctor baseline{run}{_database(outcome)} --out {file}"
    gate = f"proctor gate {_quoted(suite)}{_database(outcome)} --baseline {file}"
    return write, f"keeps these scores; after a change of prompt or documents: {gate}"


def _worst(outcome: Outcome) -> str:
    mine = f"run = '{outcome.summary.run}'"
    worst = f"select question_id, bot, value from row_scores where {mine} and passed = 0 order by value limit 10"
    path = str(outcome.database)
    file = f"./{path}" if path.startswith("file:") else path  # or sqlite3 takes it for a URI
    return f'sqlite3 {_quoted(file)} "{worst}"'


def _run(outcome: Outcome) -> str:
    """What goes before a bot's name: nothing where the run was begun just now, and so is the latest."""
    return f"{outcome.summary.run}:" if outcome.kept else ""


def _database(outcome: Outcome) -> str:
    return "" if outcome.database == DATABASE else f" --db {_quoted(outcome.database)}"


def _quoted(text: object) -> str:
    return shlex.quote(printable(str(text)))
