"""Robustness as Markdown: what becomes of bots when questions are reworded or asked again, for a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from ..board_objects import table
from ..comparing.short_figures import change, share
from ..leaderboard import figure
from ..markdown_text import cell_code, code, html_code, prose
from .flipped_pairs import FlippedPair
from .robustness import BotRobustness, MetricRobustness, Robustness
from .robustness_words import (
    DEMANDS,
    LEGEND,
    SPREAD_LEGEND,
    about,
    conclusions,
    head,
    how_reworded,
    of_answers,
    what_flipped,
)  # fmt: skip
from .score_spread import ScoreSpread

MOST_FLIPS = 10  # of each bot


def robustness_markdown(found: Robustness, most_flips: int = MOST_FLIPS) -> str:
    """The page. Names, questions and answers in it are texts of others, and stay texts."""
    return "\n".join(_page(found, most_flips)) + "\n"


def _page(found: Robustness, most_flips: int) -> Iterator[str]:
    yield f"## Robustness of {prose(found.suite, 100)}: {prose(head(found))}"
    yield ""
    for warning in found.warnings:
        yield f"> {prose(warning)}"
        yield ""
    for bot in found.bots:
        yield from _bot(bot, most_flips)
    yield f"{LEGEND[0].upper()}{LEGEND[1:]}; {SPREAD_LEGEND}.".replace("*", "\\*")


def _bot(bot: BotRobustness, most_flips: int) -> Iterator[str]:
    yield f"### {cell_code(bot.bot, 60)}"
    yield ""
    yield f"{about(bot)[0].upper()}{about(bot)[1:]}."
    yield ""
    yield from table(["answers", ""], [[what, said] for what, said in of_answers(bot)], numbers=1)
    yield ""
    if bot.answers.kinds:
        yield from _kinds(bot)
        yield ""
    lines = list(conclusions(bot))
    yield from (f"- {prose(line)}" for line in lines)
    yield from [""] if lines else []
    yield from _spreads(bot.metrics)
    for metric in bot.metrics:
        yield from _counts(metric)
    yield from _flips(bot, most_flips)


def _kinds(bot: BotRobustness) -> Iterator[str]:
    metrics = [metric for metric in bot.metrics if metric.kinds]
    by_metric = [{(kind.kind, kind.must): kind for kind in metric.kinds} for metric in metrics]
    lines = []
    for answers in bot.answers.kinds:
        kinds = [each[answers.kind, answers.must] for each in by_metric]
        rates = ["-" if kind.counts.rate is None else f"{kind.counts.rate:.2f}" for kind in kinds]
        cells = [f"**{rate}** \\*" if kind.is_above else rate for rate, kind in zip(rates, kinds, strict=True)]
        name = f"{cell_code(answers.kind, 60)}{DEMANDS[answers.must]}"
        lines.append([name, f"{answers.rows:,}", share(answers.as_wanted), *cells])
    headings = ["rewording", "rows", "as it must", *(code(metric.column.name) for metric in metrics)]
    yield from table(headings, lines, numbers=1)


def _spreads(metrics: tuple[MetricRobustness, ...]) -> Iterator[str]:
    there = [
        (metric, spread) for metric in metrics for spread in (metric.rewordings, metric.repeats) if spread is not None
    ]
    if there:
        lines = [_spread(*each) for each in there]
        yield from table(["score", "over", "plain", "worst", "sd", "range"], lines, numbers=2)
        yield ""


def _spread(metric: MetricRobustness, spread: ScoreSpread) -> list[str]:
    plain = figure(spread.plain.mean, metric.column)
    ends = share(spread.worst), share(spread.deviation), share(spread.range)
    return [code(metric.column.name), spread.over, plain, *ends]


def _counts(metric: MetricRobustness) -> Iterator[str]:
    if not metric.kinds:
        return
    curves = {curve.kind: curve.breakdown for curve in metric.curves}
    lines = []
    for kind in metric.kinds:
        where = curves.get(kind.kind)
        lines.append([
            f"{cell_code(kind.kind, 60)}{DEMANDS[kind.must]}", f"{kind.pass_to_fail:,}", f"{kind.fail_to_pass:,}",
            f"{kind.counts.not_comparable:,}", share(kind.rate), change(kind.above_control), change(kind.score_change),
            where.sentence if where else "-",
        ])  # fmt: skip
    yield f"<details><summary>{html_code(metric.column.name)} by kind</summary>"
    yield ""
    headings = ["rewording", "pass to fail", "fail to pass", "not comparable", "flips", "against the control"]
    yield from table([*headings, "score change", "breaks down"], lines, numbers=1)
    yield ""
    yield "</details>"
    yield ""


def _flips(bot: BotRobustness, most: int) -> Iterator[str]:
    if not bot.flips or not most:
        return
    shown = bot.flips[:most]
    yield f"The worst flips, {sum(len(pair.flips) for pair in shown):,} of {bot.flip_count:,}:"
    yield ""
    lines = [_pair(pair, bot) for pair in shown]
    headings = ["question", "rewording", "flipped", "asked", "said", "asked then", "said then"]
    yield from table(headings, lines, numbers=7)
    yield ""


def _pair(pair: FlippedPair, bot: BotRobustness) -> list[str]:
    first = pair.first
    texts = (first.question, pair.answer or "", first.reworded, pair.reworded_answer or "")
    return [
        cell_code(first.rewording.source, 60), cell_code(how_reworded(first), 60),
        prose(what_flipped(pair, bot.metrics)), *(cell_code(text) for text in texts),
    ]  # fmt: skip
