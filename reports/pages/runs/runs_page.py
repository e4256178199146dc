"""Runs page: the runs of a database as a page: their list, a metric over time, and the choice of two to compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from ...leaderboard import count
from ...store import Store
from ...summary import summarise
from ..page import Page, Section
from ..templating import render
from .run_lines import PER_PAGE, RunLine, Summaries, comparison_address, count_runs, run_lines, run_sides, suites
from .trend import Trend, segments, trend_metrics, trend_of
from .trend_chart import trend_chart

SETTINGS: Final = {"blocks": "/", "state": "/state"}
MOST_SIDES: Final = 200  # runs that can be chosen by hand; the address takes any
MOST_ASIDE: Final = 50


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a reader has chosen; blank for what is left to us.

    Attributes:
        suite: only runs of this one.
        metric: whose trend is shown.
        page: of the list, from 1.
        base: the side that a comparison begins with.
        head: the side that is compared with it.
    """

    suite: str = ""
    metric: str = ""
    page: int = 1
    base: str = ""
    head: str = ""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One page of the list."""

    lines: list[RunLine]
    aside: list[RunLine]
    number: int
    total: int

    @property
    def first(self) -> int:
        """Number of its first run."""
        return (self.number - 1) * PER_PAGE + 1

    @property
    def last(self) -> int:
        """Number of its last run."""
        return self.first + len(self.lines) - 1

    @property
    def befores(self) -> dict[str, str]:
        """By run, where it is compared with the one of its suite before, as far as that is on this page."""
        made: dict[str, str] = {}
        later: dict[str, str] = {}
        for line in self.lines:
            if line.suite in later:
                made[later[line.suite]] = comparison_address(line.name, later[line.suite])
            later[line.suite] = line.name
        return made


def runs_page(store: Store, wanted: Wanted, summary_of: Summaries = summarise) -> Page:
    """The page of all runs of a database.

    Args:
        store: the open database.
        wanted: what the reader has chosen.
        summary_of: what gives the summaries of runs.
    """
    known = suites(store)
    suite = wanted.suite if wanted.suite in known else ""
    leaf = _leaf(store, suite or None, wanted.page, summary_of)
    sections = (
        Section("runs", "Runs", render("runs.html.j2", leaf=leaf, suites=known, suite=suite)),
        Section("trend", "Trend", _trend_body(store, wanted, known, suite, summary_of)),
        Section("compare", "Compare", _compare_body(store, wanted, leaf)),
    )
    subtitle = f"{store.path.name}: {count(leaf.total, 'run')}"
    return Page(
        "Runs",
        subtitle + (f" of {suite}" if suite else ""),
        sections,
        ("live/redrawing", "live/live"),
        ("runs",),
        SETTINGS,
    )


def _leaf(store: Store, suite: str | None, page: int, summary_of: Summaries) -> Leaf:
    total = count_runs(store, suite)
    number = min(max(page, 1), max(1, -(-total // PER_PAGE)))
    lines = run_lines(store, suite, skip=(number - 1) * PER_PAGE, summary_of=summary_of)
    aside = run_lines(store, suite, aside=True, most=MOST_ASIDE, summary_of=summary_of) if number == 1 else []
    return Leaf(lines, aside, number, total)


def _trend_body(store: Store, wanted: Wanted, known: dict[str, int], chosen: str, summary_of: Summaries) -> Markup:
    suite = chosen or next(iter(known), "")
    metrics = trend_metrics(store, suite)
    metric = wanted.metric if wanted.metric in metrics else _lead(store, suite, metrics, summary_of)
    trend = trend_of(store, suite, metric, summary_of) if metric else None
    return render(
        "runs_trend.html.j2", trend=trend, chart=trend and trend_chart(trend), suites=known, suite=suite,
        metrics=metrics, metric=metric, breaks=_breaks(trend) if trend else [],
        lone=not trend or not any(len(part) > 1 for points in trend.bots.values() for part in segments(points)),
    )  # fmt: skip


def _lead(store: Store, suite: str, metrics: list[str], summary_of: Summaries) -> str:
    latest = run_lines(store, suite, most=1, summary_of=summary_of)
    return latest[0].lead.name if latest and latest[0].lead else next(iter(metrics), "")


def _breaks(trend: Trend) -> list[str]:
    """Names of the runs since which the metric's version is another one."""
    return [trend.runs[place].name for place in trend.breaks]


def _compare_body(store: Store, wanted: Wanted, leaf: Leaf) -> Markup:
    """The form, with the two latest runs of one suite chosen where the reader has chosen none."""
    base, head = _first_choice(leaf)
    sides = run_sides(store, MOST_SIDES)
    return render("runs_compare.html.j2", sides=sides, base=wanted.base or base, head=wanted.head or head)


def _first_choice(leaf: Leaf) -> tuple[str, str]:
    if not leaf.lines:
        return "", ""
    head = leaf.lines[0]
    before = next((line for line in leaf.lines[1:] if line.suite == head.suite), None)
    if before:
        return before.name, head.name
    first, last = ([f"{head.name}:{bot.name}" for bot in head.bots] * 2)[:2] if head.bots else ("", "")
    return first, last


def trouble_page(title: str, sentence: str) -> Page:
    """A page that says in a sentence why there is no other."""
    body = render("runs_trouble.html.j2", sentence=sentence)
    return Page(title, "", (Section("trouble", title, body),), (), ("runs",), {"blocks": "/"})
