"""Run lines: the runs of a database as a list tells of them, one line a run, the latest first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, get_args
from urllib.parse import quote, urlencode

import orjson

from ...leaderboard import best_bots
from ...problem import Severity
from ...run import ASIDE
from ...store import Store, marks
from ...summary import BotSummary, MetricColumn, Summary, summarise

PER_PAGE: Final = 50

Summaries = Callable[[Store, int], Summary]  # works a summary out, or has it at hand


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run in one line.

    Attributes:
        id: its key.
        name: what people call it.
        suite: of which it is a pass.
        status: ``running``, ``finished``, ``stopped`` or ``failed``.
        started_at: when.
        finished_at: when it last ended; None while it goes on.
        rows: rows that are there.
        expected: rows that it will have, None where that is not known.
        questions: different questions.
        bots: in the order of the suite.
        lead: the primary metric; None where it has none.
        why: why it is that; blank where there is none.
        problems: how many of each severity; None while they are not worked out.
        judge: who graded; None where no metric asks a judge.
    """

    id: int
    name: str
    suite: str
    status: str
    started_at: str
    finished_at: str | None
    rows: int
    expected: int | None
    questions: int
    bots: tuple[BotSummary, ...]
    lead: MetricColumn | None
    problems: Mapping[str, int] | None
    judge: str | None
    why: str = ""

    @property
    def address(self) -> str:
        """Where a server shows it."""
        return run_address(self.name)

    @property
    def best(self) -> set[str]:
        """Names of the bots that are best by the leading metric; none where there is nothing to compare."""
        return best_bots(self.lead, self.bots) if self.lead else set()

    @property
    def is_aside(self) -> bool:
        """Whether it was held to explain or to shake other runs, and is none that people look for."""
        return is_aside(self.suite)

    @property
    def is_running(self) -> bool:
        """Whether more rows may come."""
        return self.status == "running"


@dataclass(frozen=True, slots=True)
class RunSide:
    """A run with the names of its bots, as one may choose it to be compared."""

    name: str
    suite: str
    bots: tuple[str, ...]


def run_address(name: str) -> str:
    """The path at which a server shows a run; a name is one part of it, whatever it is made of."""
    return f"/runs/{quote(name, safe='')}"


def comparison_address(base: str, head: str) -> str:
    """Where a server shows two sides compared."""
    return f"/compare?{urlencode({'base': base, 'head': head})}"


def is_aside(suite: str) -> bool:
    """Whether runs of the suite explain, reword or survey those of another."""
    return suite.endswith(ASIDE)


def suites(store: Store) -> dict[str, int]:
    """The suites with their number of runs, that of the latest run first; those that stand aside are left out."""
    lines = store.query("SELECT suite, COUNT(*) FROM runs GROUP BY suite ORDER BY MAX(id) DESC")
    return {str(suite): int(number) for suite, number in lines if not is_aside(str(suite))}


def run_lines(
    store: Store, suite: str | None = None, *, aside: bool = False, skip: int = 0, most: int = PER_PAGE,
    summary_of: Summaries = summarise,
) -> list[RunLine]:  # fmt: skip
    """The runs, the latest first.

    Args:
        store: the open database.
        suite: only of this one.
        aside: those that stand aside, in place of all others.
        skip: how many to leave out at the beginning.
        most: how many to tell at most.
        summary_of: what gives their summaries.
    """
    conditions, values = _conditions(suite, aside)
    lines = store.query(
        "SELECT id, suite, started_at, finished_at, manifest, findings_of IS NOT NULL FROM runs"
        f" WHERE {conditions} ORDER BY id DESC LIMIT ? OFFSET ?",
        [*values, most, skip],
    )
    return [_line(store, summary_of(store, line[0]), *line) for line in lines]


def count_runs(store: Store, suite: str | None = None, *, aside: bool = False) -> int:
    """How many ``run_lines`` there are in all."""
    conditions, values = _conditions(suite, aside)
    return int(store.query(f"SELECT COUNT(*) FROM runs WHERE {conditions}", values)[0][0])


def _conditions(suite: str | None, aside: bool) -> tuple[str, list[object]]:
    ends = f"({' OR '.join(['suite LIKE ?'] * len(ASIDE))})"
    values: list[object] = [f"%{end}" for end in ASIDE]
    condition = ends if aside else f"NOT {ends}"
    if suite is None:
        return condition, values
    if aside:
        return f"suite IN ({marks(ASIDE)})", [suite + end for end in ASIDE]
    return f"{condition} AND suite = ?", [*values, suite]


def _line(
    store: Store, summary: Summary, run_id: int, suite: str, started_at: str, finished_at: str | None, manifest: str,
    has_findings: int,
) -> RunLine:  # fmt: skip
    return RunLine(
        id=run_id, name=summary.run, suite=suite, status=summary.status, started_at=started_at,
        finished_at=finished_at, rows=sum(bot.rows for bot in summary.bots),
        expected=expected_rows(orjson.loads(manifest)), questions=summary.questions, bots=tuple(summary.bots),
        lead=summary.primary.column if summary.primary else next(iter(summary.metrics), None),
        problems=_problems(store, run_id) if has_findings else None,
        judge=summary.judge.name if summary.judge else None, why=summary.primary.why if summary.primary else "",
    )  # fmt: skip


def expected_rows(manifest: Mapping[str, Any]) -> int | None:
    """How many rows a run will have, by its manifest: questions x bots x repeats; None where that is not known."""
    settings = manifest.get("settings")
    if not isinstance(settings, Mapping):
        return None
    questions, bots, repeat = (settings.get(name) for name in ("questions", "bots", "repeat"))
    number = questions.get("count") if isinstance(questions, Mapping) else None
    if not isinstance(number, int) or not isinstance(bots, Sequence):
        return None
    return number * len(bots) * (repeat if isinstance(repeat, int) else 1)


def _problems(store: Store, run_id: int) -> dict[str, int]:
    found = dict(store.query("SELECT severity, COUNT(*) FROM problems WHERE run_id = ? GROUP BY severity", [run_id]))
    return {severity: int(found.get(severity, 0)) for severity in get_args(Severity)}


def run_sides(store: Store, most: int) -> list[RunSide]:
    """The latest runs, those that stand aside too, with their bots."""
    bots: dict[int, list[str]] = {}
    lines = store.query("SELECT id, name, suite FROM runs ORDER BY id DESC LIMIT ?", [most])
    oldest = lines[-1][0] if lines else 0
    for run_id, name in store.query(
        "SELECT run_id, name FROM run_bots JOIN bots ON bots.id = bot_id WHERE run_id >= ? ORDER BY run_id, position",
        [oldest],
    ):
        bots.setdefault(run_id, []).append(str(name))
    return [RunSide(str(name), str(suite), tuple(bots.get(run_id, ()))) for run_id, name, suite in lines]
