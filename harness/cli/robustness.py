"""``perturb``: variants of questions; ``robustness``: how perturbed or repeated questions change answers."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ... import InputError
from ...knowledge.perturbations.perturbations import GROUPS, KINDS, Kind, Tally
from ...reports.compare.messages import change, share
from ...reports.export.robustness import (
    DEMANDS,
    DETAILS_LEGEND,
    LEGEND,
    SPREAD_LEGEND,
    about,
    conclusions,
    head,
    how_perturbed,
    of_answers,
    what_flipped,
)
from ...reports.leaderboard import count, figure
from ...reports.markdown_text import one_line
from ...reports.robustness.flips import FlippedPair, KindFlips
from ...reports.robustness.robustness import BotRobustness, IntensityCurve, MetricRobustness, Robustness
from ...reports.text import printable
from ..perturb import Perturbed
from .console import write_json
from .conventions import DONE, UNABLE, Database, Json, Judge, JudgeUrl, complain, interruptible, judge_fit

if TYPE_CHECKING:
    from ...knowledge.perturbations.perturbations import Recipe
    from ...reports.store.database import Store


NAME, MUST, FIGURE, WIDTH = 19, 9, 9, 80
MOST_QUOTED = 200  # characters of an example


def show_perturbed(made: Perturbed, stdout: TextIO, as_json: bool) -> None:
    """Print what was made."""
    if as_json:
        write_json(perturbed_object(made), stdout)
    else:
        stdout.write("\n".join(_lines(made)) + "\n")


def perturbed_object(made: Perturbed) -> dict[str, object]:
    """What was made, for machines."""
    tally = made.tally
    return {
        "file": str(made.out),
        "questions": tally.sources,
        "passed_over": tally.passed_over,
        "variants": tally.made.total(),
        "refused": tally.refused.total(),
        "seed": made.recipe.seed,
        "kinds": {kind.name: _kind_made(kind, tally) for kind in made.recipe.all_kinds},
        "judge": {"calls": made.written.paid, "problem": made.written.problem or None},
        "warnings": list(made.warnings),
    }


def _kind_made(kind: Kind, tally: Tally) -> dict[str, object]:
    before, after = tally.examples.get(kind.name, (None, None))
    return {
        "must": kind.must,
        "variants": tally.made[kind.name],
        "refused": tally.refused[kind.name],
        "reasons": dict(tally.reasons.get(kind.name, {})),
        "example": {"before": before, "after": after},
    }


EXPERIMENTAL = "; experimental: only where it is named"


def show_kinds(stdout: TextIO, as_json: bool) -> None:
    """Print all kinds: what each does, what must become of the answer, and what it needs."""
    if as_json:
        write_json({"kinds": [kind_object(kind) for kind in KINDS.values()], "groups": GROUPS}, stdout)
        return
    stdout.write("\n".join(_listed()) + "\n")


def kind_object(kind: Kind) -> dict[str, object]:
    """A kind for machines."""
    return {
        "name": kind.name,
        "must": kind.must,
        "unit": kind.unit,
        "summary": kind.summary,
        "needs": kind.needs,
        "offline": kind.offline,
        "graded": kind.graded,
        "experimental": kind.experimental,
    }


def _lines(made: Perturbed) -> Iterator[str]:
    tally = made.tally
    yield f"{'kind':<{NAME}}{'answer':<{MUST}}{'variants':>{FIGURE}}{'refused':>{FIGURE}}"
    for kind in made.recipe.all_kinds:
        row = f"{kind.name:<{NAME}}{kind.must:<{MUST}}{tally.made[kind.name]:>{FIGURE},}"
        yield f"{row}{tally.refused[kind.name]:>{FIGURE},}"
        yield from _example(kind, tally)
        if reasons := tally.reasons.get(kind.name):
            why, often = reasons.most_common(1)[0]
            yield from _folded(f"refused, mostly because {printable(why)} ({often:,})")
    yield ""
    of = count(tally.sources, "question")
    yield from _folded(f"{count(tally.made.total(), 'variant')} of {of} in {printable(str(made.out))}.", "")
    if tally.passed_over:
        yield from _folded(f"{count(tally.passed_over, 'question')} passed over: variants already.", "")
    yield from _folded(
        "Expected answers, constraints and evidence are kept where the answer must be the same. The key `perturbs` says"
        " how each was made.", "",
    )  # fmt: skip


def _example(kind: Kind, tally: Tally) -> Iterator[str]:
    if kind.name not in tally.examples:
        return
    before, after = (printable(_short(text)) for text in tally.examples[kind.name])
    yield from _folded(before)
    if after != before:
        yield from _folded(f"-> {after}")


def _short(text: str) -> str:
    return text if len(text) <= MOST_QUOTED else f"{text[:MOST_QUOTED]}..."


def _listed() -> Iterator[str]:
    for must, title in (
        ("same", "The answer must stay the same"),
        ("other", "Another answer must come"),
        ("abstain", "The bot must abstain"),
    ):
        yield f"{title}:"
        for kind in (kind for kind in KINDS.values() if kind.must == must):
            needs = f" (needs {kind.needs})" if kind.needs else ""
            lines = textwrap.wrap(f"{kind.summary}{needs}{EXPERIMENTAL * kind.experimental}", WIDTH - NAME - 2)
            yield f"  {kind.name:<{NAME}}{lines[0]}".rstrip()
            yield from (f"  {'':{NAME}}{line}" for line in lines[1:])
        yield ""
    groups = (f"{name} ({len(kinds)})" for name, kinds in GROUPS.items())
    yield from _folded(f"Several at once: {', '.join(groups)}.", "")
    yield from _folded(
        "Intensity is a share of the letters or words that a kind can change, at least one of them. Numbers, what they"
        " count, addresses and words of denial are left as they are by all kinds that keep the answer; a misspelt word"
        " is never another common word of English, and acronyms and single letters stay. The word lists ship with"
        " Proctor.", "",
    )  # fmt: skip


def _folded(sentence: str, indent: str = "  ") -> Iterator[str]:
    yield from textwrap.wrap(sentence, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


SIDE_BY_SIDE = 4  # metrics in one table
LONGEST = 160  # characters of a question or answer


def show_robustness(found: Robustness, stdout: TextIO, flips: int = 5, details: bool = False) -> None:
    """Print the tables; warnings go to stderr.

    Args:
        found: the result.
        stdout: where to print.
        flips: how many flipped pairs of each bot are shown.
        details: also every kind with its counts and changes, and the curves over intensities.
    """
    for warning in found.warnings:
        sys.stderr.write(f"proctor: {printable(warning)}\n")
    console = Console(emoji=False, highlight=False, file=stdout)
    console.print(robustness_table(found, flips, details), width=console.width if console.is_terminal else 80)


def robustness_table(found: Robustness, flips: int = 5, details: bool = False) -> RenderableType:
    """Bot by bot: kinds of perturbations, spread and worst case, what flips above chance, and the worst flips."""
    title = Text(overflow="fold")
    title.append(printable(found.suite), style="bold").append(f": {head(found)}")
    parts: list[RenderableType] = [title]
    for bot in found.bots:
        parts += [Text(), *_bot(bot, flips, details)]
    parts.append(Text())
    if any(bot.perturbations for bot in found.bots):
        parts.append(Text(LEGEND, style="dim", overflow="fold"))
        if details:
            parts.append(Text(DETAILS_LEGEND, style="dim", overflow="fold"))
    parts.append(Text(SPREAD_LEGEND, style="dim", overflow="fold"))
    return Group(*parts)


def _bot(bot: BotRobustness, flips: int, details: bool) -> Iterator[RenderableType]:
    title = Text(overflow="fold")
    yield title.append(printable(bot.bot), style="bold").append(f": {about(bot)}")
    if bot.answers.kinds:
        with_flips = [metric for metric in bot.metrics if metric.kinds]
        for start in range(0, max(len(with_flips), 1), SIDE_BY_SIDE):
            yield Text()
            yield _kinds(bot, with_flips[start : start + SIDE_BY_SIDE])
    yield Text()
    yield _answers(bot)
    if any(metric.perturbations or metric.repeats for metric in bot.metrics):
        yield Text()
        yield _spreads(bot.metrics)
    if details:
        yield from _details(bot)
    lines = list(conclusions(bot))
    if lines:
        yield Text()
        yield from (Text(printable(line), overflow="fold") for line in lines)
    yield from _flips(bot, flips)


def _kinds(bot: BotRobustness, metrics: Sequence[MetricRobustness]) -> Table:
    """A line a kind: the share of answers that did as they must, and the flip rate of each metric."""
    table = _table("perturbation")
    table.add_column("rows", justify="right", header_style="dim")
    table.add_column("as it must", header_style="dim")
    for metric in metrics:
        table.add_column(_broken(metric.column.name), justify="right", header_style="dim", overflow="fold")
    by_metric = [{(kind.kind, kind.must): kind for kind in metric.kinds} for metric in metrics]
    for answers in bot.answers.kinds:
        name = f"{printable(answers.kind)}{'' if answers.must == 'same' else f' ({answers.must})'}"
        cells = [_flip_rate(kinds[answers.kind, answers.must]) for kinds in by_metric]
        table.add_row(Text(name, overflow="fold"), f"{answers.rows:,}", share(answers.as_wanted), *cells)
    return table


def _flip_rate(kind: KindFlips) -> Text:
    if kind.counts.rate is None:
        return Text("-", style="dim")
    text = Text(f"{kind.counts.rate:.2f}", style="bold red" if kind.is_above else "")
    return text.append("*" if kind.is_above else " ")


def _answers(bot: BotRobustness) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False, show_header=False)
    for what, said in of_answers(bot):
        table.add_row(what, Text(said, overflow="fold"))
    return table


def _spreads(metrics: Sequence[MetricRobustness]) -> Table:
    table = _table("score")
    for name in ("over", "plain", "worst", "sd", "range"):
        table.add_column(name, header_style="dim")
    for metric in metrics:
        for spread in (metric.perturbations, metric.repeats):
            if spread is not None:
                worst = "-" if spread.worst is None else share(spread.worst)
                table.add_row(
                    Text(printable(metric.column.name), overflow="fold"), spread.over,
                    figure(spread.plain.mean, metric.column), worst, f"{spread.deviation.mean:.2f}",
                    f"{spread.range.mean:.2f}",
                )  # fmt: skip
    return table


def _details(bot: BotRobustness) -> Iterator[RenderableType]:
    for metric in bot.metrics:
        if metric.kinds:
            yield Text()
            yield Text(printable(metric.column.name), style="bold", overflow="fold")
            yield _counts(metric)
        if metric.curves:
            yield Text()
            yield _curves(metric.curves)
            yield Text()
            for curve in metric.curves:
                if curve.breakdown is not None:
                    yield Text(f"{printable(curve.kind)} {curve.breakdown.sentence}", overflow="fold")


def _counts(metric: MetricRobustness) -> Table:
    """A line a kind: what passed before and fails now, the reverse, and how both differ from before."""
    table = _table("perturbation", padding=1)
    for name in ("lost", "won", "n/a"):
        table.add_column(name, justify="right", header_style="dim")
    for name in ("flips", "against control", "score change"):
        table.add_column(name, header_style="dim")
    for kind in metric.kinds:
        table.add_row(
            f"{printable(kind.kind)}{DEMANDS[kind.must]}", f"{kind.pass_to_fail:,}", f"{kind.fail_to_pass:,}",
            f"{kind.counts.not_comparable:,}", share(kind.rate), change(kind.above_control), change(kind.score_change),
        )  # fmt: skip
    return table


def _curves(curves: Sequence[IntensityCurve]) -> Table:
    table = _table("perturbation", padding=1)
    for name in ("intensity", "flips", "above", "fit", "score"):
        table.add_column(name, justify="right" if name == "intensity" else "left", header_style="dim")
    for curve in curves:
        for place, point in enumerate(curve.points):
            table.add_row(
                "" if place else printable(curve.kind), f"{point.intensity:g}", share(point.flips),
                _signed(point.above_control), _signed(point.fitted), share(point.score),
            )  # fmt: skip
    return table


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.2f}"


def _flips(bot: BotRobustness, most: int) -> Iterator[RenderableType]:
    if not bot.flips or not most:
        return
    yield Text()
    shown = bot.flips[:most]
    inside = sum(len(pair.flips) for pair in shown)
    yield Text(f"The worst flips, {inside:,} of {bot.flip_count:,}:", style="bold")
    for pair in shown:
        yield _pair(pair, bot)


def _pair(pair: FlippedPair, bot: BotRobustness) -> RenderableType:
    first = pair.first
    text = Text(overflow="fold")
    text.append(f"{_cut(first.perturbation.source)}, {_cut(how_perturbed(first))}: ", style="bold")
    text.append(f"{printable(what_flipped(pair, bot.metrics))}\n")
    text.append(f"  asked: {_cut(first.question)}\n    said: {_said(pair.answer)}\n")
    text.append(f"  asked: {_cut(first.perturbed)}\n    said: {_said(pair.perturbed_answer)}")
    return Padding(text, (0, 0, 0, 2))


def _said(answer: str | None) -> str:
    return "(no answer)" if answer is None else _cut(answer)


def _cut(text: str) -> str:
    return printable(one_line(text, LONGEST))


def _broken(name: str) -> Text:
    """A name that may go on below, after a dot or an underscore."""
    lines, rest = [], printable(name)
    while len(rest) > 10:
        end = 1 + max(rest.rfind(mark, 0, 10) for mark in "._")
        if not end:
            break
        lines.append(rest[:end])
        rest = rest[end:]
    return Text("\n".join([*lines, rest]), overflow="fold")


def _table(first: str, padding: int = 2) -> Table:
    table = Table(box=None, padding=(0, padding, 0, 0), pad_edge=False, show_edge=False)
    table.add_column(Text(printable(first), overflow="fold"), header_style="dim", overflow="fold")
    return table


STOPPED = "Stopped. Nothing was written."


def perturb(
    questions: Annotated[
        Path | None, typer.Argument(metavar="QUESTIONS", help="The questions: CSV, JSONL, JSON or YAML.")
    ] = None,
    kinds: Annotated[
        str, typer.Option(metavar="A,B", help="Kinds of perturbation, or `encoding`, `offline`, `all`.")
    ] = "offline",
    intensity: Annotated[
        str, typer.Option(metavar="X,Y", help="Shares of letters or words to change, one variant each.")
    ] = "0.1",
    variants: Annotated[int, typer.Option(min=1, metavar="N", help="Variants per kind and intensity.")] = 1,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="The random seed.")] = 0,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="The file of variants: .jsonl, .json, .yaml, .csv or .tsv.")
    ] = Path("perturbed.jsonl"),
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N questions.")] = None,
    control: Annotated[
        bool, typer.Option("--control/--no-control", help="Add an unchanged copy of each question as a control.")
    ] = True,
    judge: Judge = "",
    judge_url: JudgeUrl = "",
    concurrency: Annotated[int | None, typer.Option(min=1, metavar="N", help="Calls to the judge in flight.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the kinds and exit.")] = False,
    as_json: Json = False,
) -> None:
    """Write variants of questions: typos, synonyms, negations. Each states how the answer must change, if at all."""
    from .console import own_stdout

    with interruptible(STOPPED), judge_fit(), own_stdout() as stdout:
        if listed:
            show_kinds(stdout, as_json)
            return
        if questions is None:
            raise InputError("Name the file of questions: proctor perturb QUESTIONS; --list shows the kinds.")
        from ..perturb import JudgeOptions, perturb_file

        named = tuple(name.strip() for name in kinds.split(",") if name.strip())
        recipe = _recipe(named, intensity, variants, seed, control)
        asked = JudgeOptions(judge, judge_url, concurrency)
        made = perturb_file(questions, out, recipe, named, limit, asked, os.environ)
        for warning in made.warnings:
            complain(warning)
        if made.written.problem:
            complain(made.written.problem)
        show_perturbed(made, stdout, as_json)
    raise typer.Exit(UNABLE if made.written.problem else DONE)


def _recipe(named: Sequence[str], intensity: str, variants: int, seed: int, control: bool) -> Recipe:
    from ...knowledge.perturbations.perturbations import Recipe, choose_kinds

    if not named:
        raise InputError("--kinds names no kind; 'proctor perturb --list' shows them.")
    return Recipe(choose_kinds(named), _shares(intensity), variants, seed, control)


def _shares(given: str) -> tuple[float, ...]:
    shares = []
    for text in filter(None, (part.strip() for part in given.split(","))):
        try:
            share = float(text)
        except ValueError:
            share = 0.0
        if not 0 < share <= 1:
            raise InputError(f"--intensity: {text!r} is no share; numbers above 0 and up to 1 are, such as 0.05,0.1.")
        shares.append(share)
    if not shares:
        raise InputError("--intensity names no share; numbers above 0 and up to 1 are wanted, such as 0.05,0.1.")
    return tuple(shares)


Names = list[str] | None
STDOUT = Path("-")
Run = Annotated[
    str | None,
    typer.Argument(metavar="RUN", help="The run's name or its beginning; by default the latest with perturbations."),
]
PerturbedRunName = Annotated[
    str | None,
    typer.Option("--perturbed", metavar="RUN", help="The run of perturbed questions; by default the matching one."),
]
Bots = Annotated[Names, typer.Option("--bot", metavar="NAME", help="Only this bot. Repeatable.")]
Metrics = Annotated[Names, typer.Option("--metric", "-m", metavar="ID", help="Only this metric, in full. Repeatable.")]
Level = Annotated[
    float,
    typer.Option(
        "--level", min=0, max=1, metavar="X", help="A bot breaks down where flips exceed chance by this share."
    ),
]
Flips = Annotated[int, typer.Option("--flips", min=0, metavar="N", help="List N flips per bot.")]
Markdown = Annotated[
    Path | None, typer.Option("--markdown", metavar="FILE", help="A page for a pull request; '-' for stdout.")
]


def robustness(
    run: Run = None,
    perturbed: PerturbedRunName = None,
    database: Database = Path("proctor.db"),
    bot: Bots = None,
    metric: Metrics = None,
    level: Level = 0.1,
    flips: Flips = 5,
    as_json: Json = False,
    markdown: Markdown = None,
) -> None:
    """Show how perturbed or repeated questions change answers. Nothing is asked."""
    from .console import own_stdout

    _check(as_json, markdown, database)
    with interruptible("Stopped. Unfinished files were not written."), own_stdout() as stdout:
        found = _measure(database, run, perturbed, bot, metric, level, flips)
        if markdown is not None:
            _write_markdown(found, markdown, flips, stdout)
        if as_json:
            from ...reports.export.robustness import robustness_object
            from .console import write_json

            write_json(robustness_object(found), stdout)
        elif markdown != STDOUT:
            show_robustness(found, stdout, flips, details=bool(metric))


def _check(as_json: bool, markdown: Path | None, database: Path) -> None:
    """Check the outputs before a long run is read."""
    if as_json and markdown == STDOUT:
        raise InputError("--json and --markdown can't both be written to stdout.")
    if markdown is not None and markdown != STDOUT:
        from ...reports.files import check_file

        check_file(markdown, "--markdown", {database.resolve(): "--db"})


def _write_markdown(found: Robustness, path: Path, flips: int, stdout: TextIO) -> None:
    from ...reports.export.robustness import robustness_markdown
    from ...reports.files import whole_file

    page = robustness_markdown(found, flips).encode()
    if path == STDOUT:
        stdout.flush()
        stdout.buffer.write(page)
        stdout.buffer.flush()
        return
    with whole_file(path) as file:
        file.write(page)
    typer.echo(f"Wrote {path}: a page for a pull request.", err=True)


def _measure(
    database: Path, run: str | None, perturbed: str | None, bots: Names, metrics: Names, level: float, flips: int
) -> Robustness:
    import contextlib

    from ...reports.compare.scores import run_tables
    from ...reports.robustness.robustness import robustness as measure
    from ...reports.store.database import Store

    with contextlib.closing(Store.open(database, create=False)) as store:
        store.query("BEGIN")  # one moment for both runs, even while one goes on
        base, after = _runs(store, run, perturbed)
        tables = run_tables(store, base)
        other = tables if after in (None, base) else run_tables(store, after)
        if after is None and all(table.repeats < 2 for table in tables.tables.values()):
            raise InputError(
                f"{database}: no run holds perturbations of the questions of run {tables.run}, which asks each of them"
                " once, so nothing tells how robust its bots are. Make perturbations with 'proctor perturb' or with"
                " 'perturb:' in the suite, or ask again with 'proctor run --repeat 3'."
            )
        return measure(tables, other, bots=bots, metrics=metrics, level=level, most_flips=flips)


def _runs(store: Store, run: str | None, perturbed: str | None) -> tuple[int, int | None]:
    """The run of the questions and that of their perturbations, if there is one."""
    from ...reports.robustness.perturbed import has_perturbations, latest_perturbed, perturbed_run, source_run
    from ...reports.summary import find_run

    if perturbed is not None:
        after = find_run(store, perturbed)[0]
        if not has_perturbations(store, after):
            raise InputError(f"Run {find_run(store, perturbed)[1]} of {store.path} holds no perturbations.")
        base = source_run(store, after) if run is None else find_run(store, run)[0]
    elif run is None:
        latest = latest_perturbed(store)
        if latest is None:
            return find_run(store)[0], None
        after, base = latest, source_run(store, latest)
    else:
        named = find_run(store, run)[0]
        if not has_perturbations(store, named):
            return named, perturbed_run(store, named)
        after, base = named, source_run(store, named)
    if base is None:
        name = store.query("SELECT name FROM runs WHERE id = ?", [after])[0][0]
        raise InputError(
            f"{store.path} holds the perturbations of run {name}, but no run of the same suite with the questions that"
            " they perturb. Run the suite itself, or name its run: proctor robustness RUN --perturbed RUN."
        )
    return base, after
