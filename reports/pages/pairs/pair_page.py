"""Pair page: two runs, or two bots, as one page: what came out, each question, what was changed, both manifests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from markupsafe import Markup

from ...comparing import comparison_words
from ...comparing.comparison import Asked
from ...comparing.sides import Side
from ..manifest.manifest_section import manifest_section
from ..page import Page, Section, page_bytes
from ..questions_section import DETAIL_SCRIPTS, LIST_SCRIPTS, questions_section
from ..rows.carried import Limits
from ..rows.data_blocks import data_blocks
from ..templating import render
from . import pair_changes, pair_origins
from .paired_runs import PairedRuns, paired_runs

# What an opened question shows beyond that of one run.
PAIR_SCRIPTS = ("pair/word_difference", "pair/chunks", "pair/detail")
SCRIPTS = (*DETAIL_SCRIPTS, *PAIR_SCRIPTS, *LIST_SCRIPTS)
STYLES = ("questions", "question", "manifest", "pair")


def pair_file(
    base: Side, head: Side, bots: Sequence[str] = (), asked: Asked | None = None, limits: Limits | None = None
) -> Iterator[bytes]:
    """The page with its data, in pieces.

    Args:
        base: what it is compared with; open until the last piece is out.
        head: what is looked at, likewise.
        bots: of two whole runs, only these; none for all.
        asked: how they are compared; left out, as ``proctor compare`` does by itself.
        limits: of the file, for each run; left out, the usual ones.

    Raises:
        InputError: no bot of one side matches one of the other, or both sides are the same.
    """
    pairs = paired_runs(base, head, bots, asked)
    return page_bytes(pair_page(pairs), data_blocks(pairs.columns, limits or Limits()) if pairs.columns else ())


def pair_page(pairs: PairedRuns, settings: Mapping[str, object] | None = None) -> Page:
    """The page before its data.

    Args:
        pairs: from ``paired_runs``, both sides still open.
        settings: what a server tells the page, see ``Page``; left out for a file that carries its data.
    """
    told = {**_settings(pairs), **(settings or {})}
    return Page(_title(pairs), _subtitle(pairs), tuple(_sections(pairs)), SCRIPTS, STYLES, told)


def _title(pairs: PairedRuns) -> str:
    what = f"{pairs.pairs[0].title}, compared" if len(pairs.pairs) == 1 else "two runs"
    return f"{pairs.head.run.suite}: {what}"


def _subtitle(pairs: PairedRuns) -> str:
    shown = []
    for name, run, status, kind in pair_changes.sides(pairs):
        notes = ", ".join(filter(None, (status, kind)))
        shown.append(f"{name} {run}{f' ({notes})' if notes else ''}")
    return "; ".join(shown)


def _sections(pairs: PairedRuns) -> Iterator[Section]:
    changes = render(
        "pair_changes.html.j2", pairs=pairs, words=comparison_words, shown_as=pair_changes,
        texts=pair_origins.brief_texts(pairs), is_two_runs=pairs.base.run.run != pairs.head.run.run,
    )  # fmt: skip
    yield Section("changes", "Changes", changes)
    if pairs.columns:
        listed = questions_section()
        yield replace(listed, body=render("pair_choice.html.j2", pairs=pairs) + listed.body)
    origins = render(
        "pair_origins.html.j2", pairs=pairs, bots=list(pair_origins.bot_origins(pairs)),
        asked=pair_origins.question_origin(pairs), groups=list(pair_origins.run_origins(pairs)),
        most_named=pair_origins.MOST_NAMED, is_unchanged=pair_origins.is_unchanged(pairs),
    )  # fmt: skip
    yield Section("origins", "What was changed", origins)
    yield Section("manifest", "Manifest", _manifests(pairs))


def _manifests(pairs: PairedRuns) -> Markup:
    """Of both sides; once where both are of one run. A baseline file has none to run again by."""
    first, second = pairs.reports
    made = Markup("")
    if first is not None and first is second:
        return manifest_section(first)
    for name, report, side in (("base", first, pairs.base), ("head", second, pairs.head)):
        title = f"Manifest of {name}: run {side.run.run}"
        if report is None:
            made += render("pair_no_manifest.html.j2", title=title, origin=side.run.origin)
        else:
            made += manifest_section(report, f"{name}-", title)
    return made


def _settings(pairs: PairedRuns) -> dict[str, object]:
    """What scripts are told: which columns belong together, and by which metric to begin."""
    if not pairs.has_both:
        return {"pair": False}
    listed, place = [], 0
    for pair in pairs.pairs:
        metric = pair_changes.first_metric(pair.comparison) if pair.comparison else None
        names = [column.name for column in pair.columns]
        listed.append({"names": names, "columns": [place, place + 1], "metric": metric})
        place += 2
    return {"pair": True, "pairs": listed, "metric": listed[0]["metric"]}
