"""Manifest section: all that a run was made of, and the command that holds it again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any, Final

from markupsafe import Markup

from ....bots.redaction import redacted
from ...leaderboard import count
from ...manifest_parts import mapping_in
from ...problem import counted
from ...report import BotRecord, Report
from ...run import EARLY_STOP
from ...summary import MetricColumn
from ...thresholds import bound
from ..metric_meanings import metric_meanings
from ..templating import render
from .holding_again import HoldingAgain, holding_again
from .models_of_run import models_of_run
from .settings_text import settings_text

LONGEST_PROMPT: Final = 100_000  # characters; a page with more would be slow to open
MOST_DOCUMENTS: Final = 1_000
ENDED: Final[Mapping[str, str]] = {"finished": "good", "running": "doubt", "stopped": "doubt", "failed": "bad"}


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that is known of a run: what, in words, and a hash or name that is to be read letter by letter."""

    name: str
    words: str
    code: str = ""
    label: str = ""


def manifest_section(report: Report, prefix: str = "", heading: str = "Manifest") -> Markup:
    """The section; it holds no secret.

    Args:
        report: the run.
        prefix: begins the id of each of its elements, so that a page can hold the manifests of two runs.
        heading: what it is called on the page.
    """
    manifest = report.manifest
    settings = mapping_in(manifest.get("settings"))
    again = holding_again(manifest, report.run.summary.suite)
    return render(
        "manifest.html.j2",
        prefix=prefix,
        heading=heading,
        again=again,
        facts=[*_of_run(report), *_of_questions(report, settings), *_of_making(manifest, again)],
        models=models_of_run(report),
        bots=[_bot(bot, report) for bot in report.bots],
        documents=_documents(settings),
        metrics=[_metric(column) for column in report.run.summary.metrics],
        meanings=metric_meanings(report.run),
        left_out=mapping_in(settings.get("metrics_left_out")),
        settings=settings_text(redacted(settings.get("suite"))) if settings.get("suite") else "",
        packages=mapping_in(manifest.get("packages")),
        warnings=[str(each) for each in manifest.get("warnings") or ()],
    )


def _of_run(report: Report) -> Iterator[Fact]:
    summary = report.run.summary
    yield Fact("Run", summary.status, summary.run, ENDED.get(summary.status, "doubt"))
    yield Fact("Suite", summary.suite)
    yield Fact("Started", moment(report.started_at))
    if report.finished_at:
        yield Fact("Ended", f"{moment(report.finished_at)}{_took(report.started_at, report.finished_at)}")
    found = report.findings
    yield Fact("Findings", f"{counted(found.problems)}, {count(len(found.insights), 'insight')}")
    early = mapping_in(report.manifest.get(EARLY_STOP))
    if early.get("sentence"):
        yield Fact("Stopped early", str(early["sentence"]))


def _of_questions(report: Report, settings: Mapping[str, Any]) -> Iterator[Fact]:
    asked = mapping_in(settings.get("questions"))
    number = asked.get("count", report.run.summary.questions)
    limit = f", the first {settings['limit']:,} of the file" if isinstance(settings.get("limit"), int) else ""
    yield Fact(
        "Questions", f"{number:,}{limit}" if isinstance(number, int) else str(number), str(asked.get("hash", ""))
    )
    if "repeat" in settings:
        yield Fact("Each asked", "once" if settings["repeat"] == 1 else f"{settings['repeat']} times")
    if settings.get("latency_run"):
        yield Fact("In flight", "one question at a time, bot after bot (latency run)")
    elif "concurrency" in settings:
        yield Fact("In flight", f"up to {settings['concurrency']} questions at each bot that is not embedded")
    if "seed" in settings:
        yield Fact("Seed", str(settings["seed"]))


def _of_making(manifest: Mapping[str, Any], again: HoldingAgain) -> Iterator[Fact]:
    settings = mapping_in(manifest.get("settings"))
    if settings.get("suite_file"):
        text_hash = str(settings.get("suite_hash", ""))
        sample = ", the sample that comes with Proctor" if text_hash == _sample_hash() else ""
        yield Fact("Suite file", f"{settings['suite_file']}{sample}", text_hash)
    if settings.get("recorded"):
        yield Fact("Recorded answers", str(settings["recorded"]), str(settings.get("hash", "")))
    if again.variables:
        yield Fact("Environment", "the suite takes values from these variables", ", ".join(again.variables))
    python = f"Python {manifest['python']}" if manifest.get("python") else "Python of an unknown version"
    yield Fact("Proctor", f"{manifest.get('proctor', 'of an unknown version')}, {python}")
    machine = mapping_in(manifest.get("machine"))
    if machine:
        parts = [str(machine[name]) for name in ("system", "release", "processor") if machine.get(name)]
        cores = [count(machine["cores"], "core")] if isinstance(machine.get("cores"), int) else []
        yield Fact("Machine", ", ".join([" ".join(parts), *cores]))
    if manifest.get("attribution"):
        yield Fact("Made to explain", "", settings_text(manifest["attribution"]))


@cache
def _sample_hash() -> str:
    """Of the text of the suite that a run without one is held by."""
    sample = files(f"{__package__.partition('.')[0]}.knowledge") / "samples" / "help_centre" / "suite.yaml"
    return hashlib.sha256(sample.read_bytes()).hexdigest()


def _bot(bot: BotRecord, report: Report) -> dict[str, object]:
    problem = next((each.problem for each in report.run.bots if each.name == bot.name), None)
    return {
        "name": bot.name,
        "kind": bot.kind,
        "model": bot.model,
        "embedded": bot.embedded,
        "problem": problem,
        "settings": settings_text(redacted(bot.settings)) if bot.settings else "",
        "prompts": {name: _cut(text) for name, text in bot.prompts.items()},
        "parts": bot.parts,
        "models": bot.models,
    }


def _documents(settings: Mapping[str, Any]) -> dict[str, object] | None:
    """The documents as the manifest has them; None where it does not name them."""
    found = mapping_in(settings.get("documents"))
    each = list(mapping_in(found.get("each")).items())[:MOST_DOCUMENTS]
    number = found.get("count")
    if not isinstance(number, int):
        return None
    return {"count": number, "hash": str(found.get("hash", "")), "each": each, "more": max(0, number - len(each))}


def _metric(column: MetricColumn) -> dict[str, str]:
    wanted = bound(column)
    default = ", the evaluator's default" if wanted and column.threshold_is_default else ""
    return {
        "name": column.name, "better": column.better, "threshold": f"{wanted}{default}" or "none",
        "version": column.version,
    }  # fmt: skip


def moment(written: str) -> str:
    """A date of the database as people read it: to the second, in UTC.

    >>> moment("2026-11-21T17:51:38.123456+00:00")
    '2026-11-21 17:51:38 UTC'
    """
    return f"{written[:19].replace('T', ' ')} UTC"


def _took(started: str, finished: str) -> str:
    try:
        seconds = (datetime.fromisoformat(finished) - datetime.fromisoformat(started)).total_seconds()
    except (ValueError, TypeError):  # a date that another program wrote
        return ""
    if seconds < 0:
        return ""
    if seconds < 60:
        return f", after {seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f", after {hours} h {minutes} min" if hours else f", after {minutes} min {rest} s"


def _cut(text: str) -> str:
    if len(text) <= LONGEST_PROMPT:
        return text
    return f"{text[:LONGEST_PROMPT]}…\n({len(text):,} characters; the database has them all)"
