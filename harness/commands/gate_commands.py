"""Gate commands: whether a change made bots worse, and what later runs are held against."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .conventions import Database, Fresh, Json, Judge, JudgeUrl, LocalModel, interruptible

Bots = Annotated[
    list[str] | None, typer.Option("--bot", metavar="NAME", help="Gate only this bot; it must be there. Repeatable.")
]
Margins = Annotated[
    list[str] | None,
    typer.Option("--margin", metavar="METRIC=0.02", help="How much worse a metric may become; it is gated."),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option("--metric", "-m", metavar="ID", help="Gate this metric, or all of them: all. Repeatable."),
]
Scopes = Annotated[
    str,
    typer.Option("--scope", metavar="these|like_these", help="Worse on these questions, or on questions like them?"),
]
Confirm = Annotated[
    int | None, typer.Option("--confirm", min=0, metavar="N", help="Ask again what changed, N times at most; 0: never.")
]
Baseline = Annotated[
    str,
    typer.Option(
        "--baseline",
        "-b",
        metavar="X",
        help="A file of 'proctor baseline', a run, previous, FILE.db, or another bot.",
    ),
]
EarlyStop = Annotated[
    bool, typer.Option("--early-stop", help="Ask in random order, and stop when the verdict is certain.")
]
Attribute = Annotated[
    bool,
    typer.Option(
        "--attribute",
        help="Say which of several changes cost the points: what stands between then and now is asked, too.",
    ),
]
OldKnowledge = Annotated[
    Path | None, typer.Option("--old-knowledge", metavar="PATH", help="Documents of the baseline, for --attribute.")
]


def gate(
    subject: Annotated[
        str | None,
        typer.Argument(
            metavar="[SUITE.yaml|RUN|FILE.db]",
            help="A suite, whose exam is held first, or a run that is only looked at; left out, suite.yaml in this "
            "folder when there is one, else the latest run.",
        ),
    ] = None,
    baseline: Baseline = "",
    database: Database = Path("proctor.db"),
    bot: Bots = None,
    metric: Metrics = None,
    margin: Margins = None,
    scope: Scopes = "",
    confirm: Confirm = None,
    flips: Annotated[int, typer.Option("--flips", min=0, metavar="N", help="Name N questions that got worse.")] = 3,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Ask only the first N questions.")] = None,
    repeat: Annotated[int | None, typer.Option(min=1, metavar="N", help="Ask each question N times.")] = None,
    concurrency: Annotated[int | None, typer.Option(min=1, metavar="N", help="Questions in flight.")] = None,
    fresh: Fresh = False,
    judge: Judge = "",
    judge_url: JudgeUrl = "",
    local_model: LocalModel = None,
    early_stop: EarlyStop = False,
    attribute: Attribute = False,
    old_knowledge: OldKnowledge = None,
    as_json: Json = False,
    junit: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="JUnit XML for a build server.")] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="A comment for a pull request; '-' for stdout.")
    ] = None,
    github: Annotated[bool, typer.Option("--github", help="Annotations and step summary of GitHub Actions.")] = False,
) -> None:
    """Say whether a change made bots worse than a baseline, by the primary metric.

    Exit code: 0 not worse, 1 regressed, 2 wrong input, 3 undecided, 4 too much missing, 5 below a threshold.
    """
    from ..deciding.gate import GateOptions
    from ..showing.gate_outputs import GateOutputs
    from .gating import Asking, gate_and_show, read_margins, read_scope

    options = GateOptions(
        database, baseline, tuple(bot or ()), read_margins(margin or ()), flips, tuple(metric or ()), read_scope(scope),
        confirm,
    )  # fmt: skip
    models = tuple(local_model or ())
    asking = Asking(
        limit, repeat, concurrency, fresh, judge, judge_url, models, early_stop, attribute, old_knowledge
    )  # fmt: skip
    outputs = GateOutputs(as_json, junit, markdown, github)
    with interruptible("Stopped. All that was answered is kept; the same command goes on from there."):
        raise typer.Exit(gate_and_show(subject, options, asking, outputs))


def baseline(
    run: Annotated[
        str | None,
        typer.Argument(metavar="[RUN|FILE.db]", help="The run's name or its beginning; left out, the latest."),
    ] = None,
    database: Database = Path("proctor.db"),
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Where to write it.")] = Path(
        "baseline.json"
    ),
    bot: Annotated[list[str] | None, typer.Option("--bot", metavar="NAME", help="Only this bot. Repeatable.")] = None,
    metric: Annotated[
        list[str] | None, typer.Option("--metric", "-m", metavar="ID", help="Only this metric. Repeatable.")
    ] = None,
    no_answers: Annotated[bool, typer.Option("--no-answers", help="Leave out what the bots said.")] = False,
) -> None:
    """Write a run's scores to a small file for 'proctor gate'.

    It is JSON, to be committed with the prompts.
    """
    from .gating import keep_baseline

    with interruptible("Stopped. Nothing was written."):
        typer.echo(keep_baseline(run, database, out, tuple(bot or ()), tuple(metric or ()), not no_answers))
