"""``plan``: how many questions it takes to show a difference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ...reports import BLANK, Block, Column, Heading, Sentence, Table, Words, columns, count, quoted
from ...reports.compare import CORRELATION, FEW_CLUSTERS, Need, Plan, Planned, interval, signed
from .conventions import Cluster, Database, Form, interruptible, own_stdout, show_as


def plan_object(plan: Plan) -> dict[str, object]:
    """The plan for machines."""
    return {
        "run": plan.run,
        **asdict(plan.wish),
        "level": 0.95,
        "pairs": [_planned_object(each) for each in plan.planned],
        "refused": dict(plan.refused),
    }


def _planned_object(planned: Planned) -> dict[str, object]:
    made = {name: value for name, value in asdict(planned).items() if name != "difference"}
    found = planned.difference
    made["difference"] = None if found is None else found.mean
    made["interval"] = None if found is None or found.low is None else [found.low, found.high]
    made["correlation_assumed"] = None if planned.paired else CORRELATION
    return made


def plan_blocks(plan: Plan) -> Iterator[Block]:
    """A line for each pair of bots, with what was seen and how many questions it takes."""
    wish = plan.wish
    clustered = wish.cluster != "none"
    yield Heading((quoted(wish.metric, 80, "bold"), f": how many questions for a difference of {wish.delta:g}?"), 2)
    seen = f"by the spread seen in run {plan.run}; 95 % intervals, power {wish.power * 100:g} %"
    yield from (Sentence(seen, "dim"), BLANK)
    made = columns("", "seen", "on", *(["design"] if clustered else []), "to show", "to settle")
    made[1] = Column("seen", "figures")
    yield Table(made, [cells for each in plan.planned for cells in _lines(each, plan, clustered)])
    yield BLANK
    yield from (Sentence((quoted(bots, 160), f": {why}")) for bots, why in plan.refused.items())
    yield BLANK
    yield from (Sentence(line, "dim") for line in _legend(plan))


def _lines(planned: Planned, plan: Plan, clustered: bool) -> Iterator[list[Words]]:
    """One line; where it is known what repeats buy, others below it for so many."""
    found, known = planned.difference, planned.repeats_known
    seen = "" if found is None else f"{signed(found.mean, plan.column)} {interval(found.low, found.high, plan.column)}"
    effect = [f"{planned.design_effect:.1f}"] if clustered else []
    figures = ["", ""] if known else _figures(planned.needs[0])
    yield [quoted(", ".join(planned.bots)), seen.strip(), f"{planned.questions:,}", *effect, *figures]
    if known:
        for need in sorted(planned.needs, key=lambda need: need.repeats):
            yield [f"  {_times(need)}", "", "", *([""] if clustered else []), *_figures(need)]


def _figures(need: Need) -> list[str]:
    return [f"{need.to_show:,}", f"{need.to_settle:,}"]


def _times(need: Need) -> str:
    return "asked once" if need.repeats == 1 else f"asked {need.repeats} times"


def _legend(plan: Plan) -> Iterator[str]:
    delta = f"{plan.wish.delta:g}"
    power = f"to show: questions that show a true difference of {delta} with that power; with as many the gate, margin"
    yield f"{power} {delta}, calls an equally good bot not worse"
    yield f"to settle: questions after which the gate, margin {delta}, nearly always decides"
    if plan.wish.cluster != "none":
        alike = f"design: how many times as many it takes, as those of one {plan.noun} are alike; further questions are"
        yield f"{alike} taken to come from further {plan.noun}s"
    fewest = min(each.clusters for each in plan.planned)
    if fewest < FEW_CLUSTERS:
        alone = all(each.clusters == each.questions for each in plan.planned)
        noun = "question" if alone else plan.noun
        yield f"a guess: the spread was seen on {count(fewest, noun)} only"
    if any(not each.paired for each in plan.planned):
        yield f"one bot alone: another is taken to vary alike, and to agree by {CORRELATION:g} (correlation)"
    if not any(each.repeats_known for each in plan.planned):
        yield "what repeats buy is not known: a run with --repeat 3 would show it"


def plan(
    run: Annotated[
        str | None,
        typer.Argument(metavar="RUN", help="An earlier run: RUN[:BOT] or FILE.db[:RUN]; by default the latest."),
    ] = None,
    metric: Annotated[str, typer.Option("--metric", "-m", metavar="ID", help="The metric.")] = "",
    delta: Annotated[
        float | None, typer.Option("--delta", metavar="D", help="The smallest difference to detect, such as 0.05.")
    ] = None,
    bot: Annotated[str, typer.Option("--bot", metavar="NAME", help="Only pairs with this bot.")] = "",
    power: Annotated[float, typer.Option("--power", metavar="P", help="Power: the chance to detect it.")] = 0.8,
    repeats: Annotated[
        int | None, typer.Option("--repeats", min=1, metavar="N", help="Answers per question, if not as in that run.")
    ] = None,
    cluster: Cluster = "source",
    database: Database = Path("proctor.db"),
    form: Form = Form.TEXT,
) -> None:
    """Plan how many questions are needed to show a difference.

    Estimated from the spread of an earlier run; nothing is asked.
    """
    from ... import InputError
    from ...reports.compare import Wish, check_bot, make_plan, open_operand

    if not metric:
        raise InputError("Name the metric with --metric ID, such as: proctor plan --metric keyword_recall --delta 0.05")
    if delta is None:
        raise InputError(f"Say what is to be shown with --delta, such as: proctor plan --metric {metric} --delta 0.05")
    with interruptible("Stopped."), own_stdout() as stdout, open_operand(run or "latest", database) as operand:
        if bot:
            check_bot(operand.run, bot)
        plan = make_plan(operand.run, Wish(metric, delta, power, repeats, cluster), bot)
        show_as(form, lambda: plan_object(plan), lambda: plan_blocks(plan), stdout)
