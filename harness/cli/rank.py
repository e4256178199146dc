"""``rank``: which bot is best; ``abstain``: what wrong answers and abstentions cost."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from ...reports.compare.comparison import ALPHA, cluster_noun
from ...reports.compare.messages import interval, p_value, signed
from ...reports.compare.scores import Mean
from ...reports.export.ranking import abstained_object, ranked_object
from ...reports.leaderboard import ARROWS, count, figure, milliseconds
from ...reports.ranking.abstention import OUTCOMES, Abstention, Promise
from ...reports.ranking.ranked_run import AbstainedRun, Caution, InDetail, RankedMetric, RankedRun
from ...reports.ranking.ranking import Against, RankAgreement, as_measured, names_in_order
from ...reports.ranking.routing import Offer, Router
from ...reports.statistics.paired import Difference
from ...reports.summary import MetricColumn
from ...reports.text import printable
from .console import grid, write_json
from .conventions import Database, Json, interruptible

if TYPE_CHECKING:
    from ...reports.compare.scores import RunTables


SIDE_BY_SIDE = 3  # bots in 80 columns
COVERAGES = (0.1, 0.25, 0.5, 0.75, 0.9)
ABOUT_CURVES = (
    "Risk: share of wrong ones among the answers it is surest of, when that share of all questions is answered; '-'"
    " where it abstained more. AURC: the mean risk along the way; best: were all wrong answers the least sure; 'all' is"
    " also what a confidence that tells nothing would give."
)
COST = MetricColumn("cost", "", "lower", None, 1.0, None)  # shown with two digits after the point


def abstention_table(found: AbstainedRun) -> RenderableType:
    """The four outcomes and their cost; then what the bots' confidence is worth."""
    parts: list[RenderableType] = [*_title(found), *_outcomes(found), *_notes(found)]
    if any(caution.curve for caution in found.cautions.values()):
        parts += [Text(), _curves(found), Text(ABOUT_CURVES, style="dim", overflow="fold")]
    if found.cautions:
        parts += [Text(), *_promises(found)]
    else:
        parts += [Text(), Text("No bot reports a confidence (trace: confidence, similarity or score).", style="dim")]
    return Group(*parts)


def _title(found: AbstainedRun) -> Iterator[Text]:
    run = found.run
    unfinished = "" if run.status == "finished" else f" ({run.status})"
    unknown = f", {found.unknown:,} unlabelled and left out" if found.unknown else ""
    yield (
        Text(overflow="fold")
        .append(printable(run.suite), style="bold")
        .append(
            f": {found.answerable:,} answerable and {count(found.unanswerable, 'unanswerable question')}{unknown},"
            f" run {printable(run.run)}{unfinished}"
        )
    )
    why = " (--metric names another)" if found.chosen else ""
    yield Text(f"An answer is right when {printable(found.rule.sentence)}{why}.", overflow="fold")


def _outcomes(found: AbstainedRun) -> Iterator[RenderableType]:
    """The bots side by side, the cheapest first; some more of them below."""
    bots = list(found.bots.values())
    for start in range(0, len(bots), SIDE_BY_SIDE):
        yield Text()
        yield _beside(found, bots[start : start + SIDE_BY_SIDE])


def _beside(found: AbstainedRun, bots: Sequence[Abstention]) -> RenderableType:
    table = grid("", first=16)
    for each in bots:
        table.add_column(Text(printable(each.bot), style="bold", overflow="fold"), width=18, overflow="fold")
    for name in OUTCOMES:
        table.add_row(name.replace("_", " "), *(_rate(each.counts[name], each.rates[name]) for each in bots))
    best = min(each.cost.value for each in found.bots.values()) if len(found.bots) > 1 else None
    costs = (Text(_cost(each.cost), style="bold green" if each.cost.value == best else "") for each in bots)
    table.add_row("expected cost", *costs)
    if found.ranking is not None:
        odds = dict(zip(found.ranking.bots, found.ranking.best.tolist(), strict=True))
        table.add_row("cheapest", *(percent(odds[each.bot]) for each in bots))
    return table


def _rate(number: int, rate: Mean) -> str:
    ends = "" if rate.low is None or rate.high is None else f" {rate.low * 100:.0f}-{rate.high * 100:.0f}"
    return f"{number:,}  {percent(rate.value)}{ends}"


def _cost(mean: Mean) -> str:
    return f"{mean.value:.2f} {interval(mean.low, mean.high, COST)}".rstrip()


def _notes(found: AbstainedRun) -> Iterator[Text]:
    costs = ", ".join(
        f"{name.replace('_', ' ')} {cost:g}" for name, cost in zip(OUTCOMES, found.costs.each, strict=True)
    )
    clusters = "" if found.cluster == "none" else f", by {cluster_noun(found.cluster)}"
    yield Text(f"95 % intervals{clusters}. Costs: {costs} (--costs wrong=2,...).", style="dim", overflow="fold")
    if found.unanswerable == 0:
        yield Text(
            "No question is unanswerable, so abstaining can only be wrong here.", style="yellow", overflow="fold"
        )
    if found.answerable == 0:
        yield Text("No question is answerable, so answering can only be wrong here.", style="yellow", overflow="fold")
    for bot, each in found.bots.items():
        name = printable(bot)
        if not each.tells:
            yield Text(f"{name} does not report abstentions, so every answer counts.", style="yellow")
        if each.failed:
            yield _left_out(f"{name}: {each.failed:,} of {_asked(each)} left out: failed.")
        if each.unmarked:
            yield _left_out(f"{name}: {each.unmarked:,} of {_asked(each)} left out: no value of the metric.")
    if found.without:
        yield Text(f"Without any outcome: {', '.join(map(printable, found.without))}.", style="yellow", overflow="fold")


def _asked(found: Abstention) -> str:
    return count(found.rows + found.failed + found.unmarked, "row")


def _left_out(sentence: str) -> Text:
    return Text(sentence, style="yellow", overflow="fold")


def _curves(found: AbstainedRun) -> RenderableType:
    table = grid("risk at coverage", *(f"{share:.0%}".replace("%", " %") for share in COVERAGES), "all", "AURC", "best")
    for bot, caution in found.cautions.items():
        if caution.curve is None:
            continue
        curve = caution.curve
        risks = (curve.at(share) for share in COVERAGES)
        table.add_row(
            f"{printable(bot)}, {printable(caution.confidence.key)}",
            *("-" if risk is None else f"{risk:.2f}" for risk in risks),
            f"{curve.random_aurc:.2f}",
            f"{curve.aurc:.3f}",
            f"{curve.best_aurc:.3f}",
        )
    return table


def _promises(found: AbstainedRun) -> Iterator[RenderableType]:
    elsewhere = any(caution.elsewhere for caution in found.cautions.values())
    other = f"of another {cluster_noun(found.cluster)}"
    table = grid("threshold for", "more like these", "answers", "wrongly", *([other] if elsewhere else []))
    for bot, caution in found.cautions.items():
        if caution.alike is None:
            continue
        beyond = [_threshold(caution.elsewhere)] if elsewhere else []
        table.add_row(f"{printable(bot)}, {_setting(caution)}", *_promised(caution.alike), *beyond)
    yield Text(f"To answer at most {_risk(found.risk)} of all questions wrongly, answer from this confidence on:")
    yield table
    hidden = (sentence for bot, caution in found.cautions.items() for sentence in _hidden(bot, caution))
    for sentence in (*_broken(found, elsewhere=False), *_broken(found, elsewhere=True), *_hollow(found), *hidden):
        yield Text(sentence, style="yellow", overflow="fold")
    yield Text(
        f"The promise (conformal risk control): answering from that threshold on, a new question is answered wrongly"
        f" with a probability of at most {_risk(found.risk)}. That is an average over new questions, and over sets like"
        " this one on which the threshold could have been chosen. It holds for questions that come as these did, not"
        " for each topic, nor for this very set."
        + (
            f" The last column is for questions {other}: then whole new ones are what must be estimated with."
            if elsewhere
            else ""
        ),
        style="dim",
        overflow="fold",
    )


def _setting(caution: Caution) -> str:
    return "min_similarity" if caution.confidence.floor is not None else printable(caution.confidence.key)


def _promised(promise: Promise) -> Iterator[str]:
    yield _threshold(promise)
    yield "-" if promise.answered is None else percent(promise.answered)
    yield "-" if promise.wrong is None else percent(promise.wrong)


def _threshold(promise: Promise | None) -> str:
    return "none" if promise is None or promise.threshold is None else rounded_up(promise.threshold)


def _broken(found: AbstainedRun, elsewhere: bool) -> Iterator[str]:
    """What can be promised where the wanted risk can't."""
    smallest, questions = [], 0
    for bot, caution in found.cautions.items():
        promise = caution.elsewhere if elsewhere else caution.alike
        if promise is not None and promise.threshold is None:
            questions = promise.questions
            risk = _risk(promise.smallest_risk, up=True)
            at = f"at {rounded_up(promise.at)}, answering {percent(promise.at_answered)}"
            smallest.append(f"{risk} for {printable(bot)} ({at})")
    whose = f" for questions of another {cluster_noun(found.cluster)}" if elsewhere else ""
    if smallest:
        yield (
            f"none: no threshold can promise {_risk(found.risk)}{whose} with"
            f" {count(questions, 'question')}; the smallest risk that can be promised is {', '.join(smallest)}."
        )


def _hollow(found: AbstainedRun) -> Iterator[str]:
    """Promises met by abstaining, of bots whose most confident answers are mostly wrong."""
    promises = {bot: caution.alike for bot, caution in found.cautions.items() if caution.alike is not None}
    hollow = [bot for bot, each in promises.items() if each.wrong and each.answered and 2 * each.wrong > each.answered]
    if hollow:
        names = ", ".join(map(printable, hollow))
        yield f"Above their thresholds these answer more wrong than right: {names}."


def _hidden(bot: str, caution: Caution) -> Iterator[str]:
    """Whether a lower threshold may do, which the bot's own setting hides; where the lowest fails, none does."""
    if caution.hidden and caution.alike is not None and caution.alike.threshold == caution.alike.lowest:
        yield (
            f"{printable(bot)} ran with min_similarity {caution.confidence.floor:g} and abstained"
            f" {count(caution.hidden, 'row')}: a lower threshold may do, which a run with min_similarity 0 would show."
        )


def _risk(risk: float, up: bool = False) -> str:
    """A risk in percent, rounded up where a smaller figure would not be true."""
    return f"{float(rounded_up(risk)) * 100 if up else risk * 100:.3g} %"


MOST_ROUTERS = 5  # that are shown, the best first; the rest are in --json


def router_table(detail: InDetail, ranked: RankedRun) -> Iterator[RenderableType]:
    """A line for each pair of bots of which the first tells a confidence; then what the columns are."""
    if not ranked.confidences:
        yield Text("No router: no bot reports a confidence (trace: confidence, similarity or score).", style="dim")
        return
    if not detail.routers:
        yield Text("No router: too few questions or different confidences to choose a threshold by.", style="dim")
        return
    column, single = detail.metric.column, detail.best.single
    priced = any(router.cost is not None for router in detail.routers)
    table = grid("router: first, else", "from", "quality", f"gain over {printable(single)}", "first", "p50",
                 *(["cost"] if priced else []))  # fmt: skip
    for router in detail.routers[:MOST_ROUTERS]:
        table.add_row(*_cells(router, column, priced))
    yield table
    if len(detail.routers) > MOST_ROUTERS:
        yield Text(f"and {len(detail.routers) - MOST_ROUTERS:,} more, all of which are in --json", style="dim")
    for sentence in _legend(detail, ranked):
        yield Text(sentence, style="dim", overflow="fold")


def _cells(router: Router, column: MetricColumn, priced: bool) -> Iterator[str | Text]:
    pays = router.gain.low is not None and router.gain.low > 0
    yield Text(f"{printable(router.first)}, {printable(router.second)}", overflow="fold")
    yield "never" if router.threshold is None else rounded_up(router.threshold)
    yield figure(as_measured(router.held_out, column), column)
    yield Text(gain_text(router.gain, column), style="bold green" if pays else "")
    yield percent(router.share_first)
    yield "-" if router.latency_ms is None else milliseconds(router.latency_ms)
    if priced:
        yield "-" if router.cost is None else f"{router.cost:.2g}"


def _legend(detail: InDetail, ranked: RankedRun) -> Iterator[str]:
    keys = {router.first: router.key for router in detail.routers}
    notify = ", ".join(f"{printable(key)} of {printable(bot)}" for bot, key in keys.items())
    yield (
        f"The first bot's answer is kept from that confidence on ({notify}). Quality and gain are on held-out "
        f"questions:"
        " the threshold of each fifth is chosen on the other four, whole clusters at a time."
    )
    if len(detail.routers) > 1:
        yield f"The best of {len(detail.routers)} routers is flattered by being selected."
    for bot, each in ranked.confidences.items():
        if each.floor and bot in keys:
            yield (
                f"{printable(bot)} abstained below its own min_similarity of {each.floor:g}: what it would have said"
                " below is unknown, so only higher thresholds could be tried."
            )


RANKS = ("best", "2nd", "3rd", "4th")  # that have a column; with more bots the expected rank says it
SURE = 0.95  # probability of being the best from which on we say that a bot is, where its lead passes the test too
ABOUT_RANKS = "best, 2nd, ...: probability that a bot comes there, were all questions of this kind asked; ties share"
ABOUT_STABILITY = "same: probability that the winner, or the whole ranking, is as it was measured"
MOST_AGAINST = 5  # differing rankings that are shown, the surest first; the rest are in --json
MOST_BEATING = 2  # bots that are named where one is dominated
MOST_LACKING = 3  # bots that are named where questions are left out


def rank_table(ranked: RankedRun) -> RenderableType:
    """The bots by each wanted metric, what else speaks for them, and whether other metrics and judges agree."""
    parts: list[RenderableType] = [_rank_title(ranked), *(_verdict(detail, ranked) for detail in ranked.details)]
    if (primary := ranked.run.primary) and primary.name == ranked.details[0].metric.column.name:
        parts.append(Text(printable(primary.why), style="dim", overflow="fold"))
    parts += _unanswered(ranked)
    for detail in ranked.details:
        parts += [Text(), _heading(detail.metric, ranked), _standings(detail.metric), *_without(detail.metric)]
        parts += [Text(), *_frontier(detail, ranked), Text(), *_best(detail), Text()]
        parts += [*router_table(detail, ranked)]
    parts += [
        Text(),
        _stability(ranked),
        Text(ABOUT_STABILITY, style="dim"),
        Text(),
        *_agreement(ranked.agreement),
        *_judges(ranked),
    ]
    return Group(*parts)


def _rank_title(ranked: RankedRun) -> Text:
    run = ranked.run
    unfinished = "" if run.status == "finished" else f" ({run.status})"
    questions = len(next(iter(run.tables.values())).cases)
    title = Text(overflow="fold").append(printable(run.suite), style="bold")
    return title.append(
        f": {count(questions, 'question')}, {count(len(run.tables), 'bot')}, run {printable(run.run)}{unfinished}"
    )


def _heading(metric: RankedMetric, ranked: RankedRun) -> Text:
    text = Text(overflow="fold").append(f"{printable(metric.column.name)} {ARROWS[metric.column.better]}", style="bold")
    ranking = metric.ranking
    of = "" if ranked.cluster == "none" else f" of {count(ranking.clusters, cluster_noun(ranked.cluster))}"
    text.append(f"  {count(ranking.questions, 'question')}{of}, {ranking.draws:,} draws")
    return text


def _verdict(detail: InDetail, ranked: RankedRun) -> Text:
    """Who is best, as one sentence that says how sure that is."""
    metric, lead = detail.metric, detail.lead
    ranking, name = metric.ranking, printable(metric.column.name)
    if lead is None:
        winners = "all bots" if len(ranking.winners) == len(ranking.bots) else _names(ranking.winners)
        return Text(f"On {name} {winners} tie.", style="bold", overflow="fold")
    best, rival = printable(lead.bot), printable(lead.rival)
    by = f"{signed(lead.by.mean, metric.column)} over {rival}"
    if ranking.clusters < 2:
        what = "question" if ranked.cluster == "none" else cluster_noun(ranked.cluster)
        sentence = f"{best} leads on {name} by {by}, but one {what} is too few for a probability."
        return Text(sentence, style="bold", overflow="fold")
    odds, other = (float(ranking.best[ranking.bots.index(bot)]) for bot in (lead.bot, lead.rival))
    tested = f"p {p_value(lead.by.p_value)}"
    if odds >= SURE and lead.by.p_value is not None and lead.by.p_value <= ALPHA:
        sentence = f"{best} is best on {name}: {by} ({tested}), probability {percent(odds)}."
        return Text(sentence, style="bold green", overflow="fold")
    sentence = f"{best} leads on {name}, but that is not settled: {by} ({tested}); {percent(odds)} to be best,"
    return Text(f"{sentence} {percent(other)} for {rival}.", style="bold", overflow="fold")


def _names(bots: Sequence[str]) -> str:
    *most, last = map(printable, bots)
    return f"{', '.join(most)} and {last}" if most else last


def _unanswered(ranked: RankedRun) -> Iterator[Text]:
    """Which bots failed: all that follows is about their answers."""
    found = []
    for bot, table in ranked.run.tables.items():
        rows, timed_out, failed = (int(flags.sum()) for flags in (table.asked, table.timed_out, table.failed))
        if timed_out + failed:
            late = f" ({timed_out:,} timed out)" if timed_out else ""
            found.append(f"{printable(bot)} on {timed_out + failed:,} of {rows:,}{late}")
    if found:
        yield Text(f"No answer: {', '.join(found)}. All figures are over answers.", style="yellow", overflow="fold")


def _standings(metric: RankedMetric) -> Table:
    ranking, known = metric.ranking, metric.ranking.clusters > 1
    ranks = range(1, min(len(ranking.bots), len(RANKS)))
    table = grid("bot", "mean 95 %", *(RANKS[rank] for rank in (0, *ranks)), "expected rank")
    for place in ranking.order:
        first = ranking.bots[place] in ranking.winners
        table.add_row(
            Text(printable(ranking.bots[place]), style="bold green" if first else "bold"),
            mean_text(metric.means[place], metric.column),
            percent(float(ranking.best[place])) if known else "-",
            *(percent(float(ranking.shares[place, rank])) if known else "-" for rank in ranks),
            f"{ranking.expected[place]:.2f}" if known else "-",
        )
    return table


def _without(metric: RankedMetric) -> Iterator[Text]:
    """What the ranking leaves out, and what its columns are."""
    shared = metric.shared
    if shared.without:
        names = ", ".join(map(printable, shared.without))
        yield Text(f"Not ranked, no values: {names}.", style="dim", overflow="fold")
    if shared.dropped:
        lacking = [f"{printable(bot)} on {number:,}" for bot, number in shared.lacking.items()]
        more = ", ..." if len(lacking) > MOST_LACKING else ""
        yield Text(
            f"Without {count(shared.dropped, 'question')} on which not every bot has a value (it misses:"
            f" {', '.join(lacking[:MOST_LACKING])}{more}); --bot names those to rank.",
            style="dim",
            overflow="fold",
        )
    yield Text(ABOUT_RANKS, style="dim", overflow="fold")


def _frontier(detail: InDetail, ranked: RankedRun) -> Iterator[RenderableType]:
    column = detail.metric.column
    priced = any(offer.cost is not None for offer in detail.offers)
    table = grid("frontier", "quality", "latency p50", *(["cost"] if priced else []), "")
    table.columns[-1].justify = "left"
    for offer in detail.offers:
        cost = ["-" if offer.cost is None else f"{offer.cost:.2g}"] if priced else []
        table.add_row(
            Text(printable(offer.bot), style="" if offer.dominated_by else "bold"),
            "-" if offer.quality is None else figure(as_measured(offer.quality, column), column),
            "-" if offer.latency_ms is None else milliseconds(offer.latency_ms),
            *cost,
            _beaten(offer),
        )
    yield table
    if any(offer.dominated_by for offer in detail.offers):
        yield Text("dominated: another bot is at least as good on every axis; a small lead may be chance", style="dim")
    if not priced:
        yield Text("No bot reports its cost; give it with --costs BOT=COST,...", style="dim")
    elif any(offer.cost is None for offer in detail.offers):
        yield Text("Cost is ignored: it is not known for every bot (--costs BOT=COST,...).", style="dim")
    if free := [bot for bot, cost in ranked.costs.items() if not cost and ranked.run.tables[bot].embedded]:
        yield Text(f"No language model, so no cost: {', '.join(map(printable, free))}.", "dim")


def _beaten(offer: Offer) -> Text:
    if not offer.dominated_by:
        return Text("on the frontier")
    names = [printable(bot) for bot in offer.dominated_by]
    more = f" and {len(names) - MOST_BEATING} more" if len(names) > MOST_BEATING else ""
    return Text(f"dominated by {', '.join(names[:MOST_BEATING])}{more}", style="dim", overflow="fold")


def _best(detail: InDetail) -> Iterator[Text]:
    best, column = detail.best, detail.metric.column
    text = Text("Best bot per question: ", overflow="fold")
    text.append(figure(as_measured(best.bound, column), column), style="bold")
    yield text.append(f", {gain_text(best.gain, column)} over {printable(best.single)}.")
    yield Text(
        "No choice among these bots can reach more; optimistic, since the best of several is often lucky."
        + ("" if best.honest_gain else " Repeats (--repeat 2) remove the luck."),
        style="dim",
        overflow="fold",
    )
    if best.honest is not None and best.honest_gain is not None:
        gain = gain_text(best.honest_gain, column)
        honest = figure(as_measured(best.honest, column), column)
        yield Text(f"Chosen by the other repeats of each question, without that luck: {honest}, {gain}.")


def _stability(ranked: RankedRun) -> Table:
    table = grid("by metric", "ranking", "same winner", "same ranking")
    table.columns[1].justify = "left"
    for name, metric in ranked.metrics.items():
        ranking = metric.ranking
        table.add_row(
            Text(f"{printable(name)} {ARROWS[metric.column.better]}"),
            _order(names_in_order(ranking)),
            percent(ranking.same_winner) if ranking.clusters > 1 else "-",
            percent(ranking.same_ranking) if ranking.clusters > 1 else "-",
        )
    return table


def _order(groups: Sequence[tuple[str, ...]]) -> str:
    return " > ".join(" = ".join(map(printable, group)) for group in groups)


def _agreement(found: RankAgreement) -> Iterator[Text]:
    if found.concordance is not None:
        tau = "" if found.mean_tau is None else f"; Kendall's tau of two metrics {found.mean_tau:.2f} on average"
        yield Text(
            f"Over the {len(found.complete)} metrics that rank all bots Kendall's W is {found.concordance:.2f}"
            f" (1: all the same, 0: no agreement){tau}.",
            overflow="fold",
        )
    if found.against:
        yield Text("Against the majority of metrics:")
    for each in sorted(found.against, key=lambda each: -each.sureness)[:MOST_AGAINST]:
        yield _against(each)
    if len(found.against) > MOST_AGAINST:
        yield Text(f"  and {len(found.against) - MOST_AGAINST:,} more, all of which are in --json", style="dim")


def _against(each: Against) -> Text:
    sure = "" if each.firm else f", but only in {percent(each.sureness)} of draws"
    others = f"{each.others} {'has' if each.others == 1 else 'have'} it the other way round"
    return Text(
        f"  {printable(each.ranking)}: {printable(each.above)} above {printable(each.below)} ({others}){sure}",
        style="" if each.firm else "dim",
        overflow="fold",
    )


def _judges(ranked: RankedRun) -> Iterator[Text]:
    judges = ranked.judges
    if judges.judge is None:
        return
    for each in judges.found:
        yield Text(f"{printable(each.metric)} by {len(each.rankings)} judges:")
        for judge, ranking in each.rankings.items():
            run = printable(each.runs[judge])
            yield Text(f"  {printable(judge)}: {_order(names_in_order(ranking))}  (run {run})", overflow="fold")
        if each.agreement.concordance is not None:
            yield Text(f"  Kendall's W {each.agreement.concordance:.2f}")
    alone = [metric for metric in judges.metrics if metric not in {each.metric for each in judges.found}]
    if alone:
        panel = " (a panel counts as one: of its members no scores are kept)" if judges.panel else ""
        yield Text(
            f"One judge only, {printable(judges.judge)}{panel}, for {', '.join(map(printable, alone))}: the same suite"
            " run with --judge MODEL on this database lets another one rank the same answers.",
            style="dim",
            overflow="fold",
        )


def show_ranking(ranked: RankedRun, as_json: bool) -> None:
    """Print the ranking."""
    if as_json:
        write_json(ranked_object(ranked), sys.stdout)
    else:
        _show(rank_table(ranked))


def show_abstention(found: AbstainedRun, as_json: bool) -> None:
    """Print the abstention table."""
    if as_json:
        write_json(abstained_object(found), sys.stdout)
    else:
        _show(abstention_table(found))


def _show(table: RenderableType) -> None:
    console = Console(emoji=False, highlight=False, markup=False)
    console.print(table, width=console.width if console.is_terminal else 80)


STOPPED = "Stopped. Nothing was written."

Run = Annotated[
    str | None,
    typer.Argument(metavar="RUN", help="A run, its beginning, 'previous', or a database; by default the latest run."),
]
Cluster = Annotated[
    str, typer.Option("--cluster", metavar="HOW", help="Cluster questions by source, tag, tag:PREFIX, or none.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, metavar="N", help="The random seed.")]


def rank(
    run: Run = None,
    metric: Annotated[
        list[str] | None, typer.Option("--metric", "-m", metavar="ID", help="The metric to rank by. Repeatable.")
    ] = None,
    bot: Annotated[list[str] | None, typer.Option("--bot", metavar="NAME", help="Only these bots. Repeatable.")] = None,
    costs: Annotated[
        str,
        typer.Option("--costs", metavar="BOT=COST,...", help="The cost of an answer, overriding the run's."),
    ] = "",
    cluster: Cluster = "source",
    seed: Seed = 0,
    database: Database = Path("proctor.db"),
    as_json: Json = False,
) -> None:
    """Rank the bots: which is best, and with what probability.

    Also quality against latency and cost, and what a router would gain.
    """
    from ...reports.compare.operands import open_operand
    from ...reports.ranking.ranked_run import ranked_run

    stated = named_figures(costs, "--costs", None)
    with interruptible(STOPPED), open_operand(run or "latest", database, None) as operand:
        show_ranking(ranked_run(only(operand.run, bot or ()), metric or (), cluster, stated, seed), as_json)


def abstain(
    run: Run = None,
    metric: Annotated[
        str, typer.Option("--metric", "-m", metavar="ID", help="The metric that decides whether an answer is right.")
    ] = "",
    threshold: Annotated[
        float | None, typer.Option("--threshold", metavar="X", help="The value from which it is right.")
    ] = None,
    costs: Annotated[
        str,
        typer.Option(
            "--costs", metavar="...", help="right=0,wrong=1,abstained_rightly=0,abstained_wrongly=0.3, or some of them."
        ),
    ] = "",
    risk: Annotated[
        float,
        typer.Option("--risk", metavar="SHARE", help="The share of questions that may be answered wrongly."),
    ] = 0.1,
    bot: Annotated[list[str] | None, typer.Option("--bot", metavar="NAME", help="Only these bots. Repeatable.")] = None,
    cluster: Cluster = "source",
    seed: Seed = 0,
    database: Database = Path("proctor.db"),
    as_json: Json = False,
) -> None:
    """Weigh wrong answers against abstentions.

    Their cost, and the confidence from which a bot should answer.
    """
    from ... import InputError
    from ...reports.compare.operands import open_operand
    from ...reports.ranking.abstention import OUTCOMES, Costs
    from ...reports.ranking.ranked_run import abstained_run

    if not 0 < risk < 1:
        raise InputError(f"--risk is a share between 0 and 1, such as 0.1; not {risk:g}.")
    taken = Costs(**named_figures(costs, "--costs", OUTCOMES))
    with interruptible(STOPPED), open_operand(run or "latest", database, None) as operand:
        wanted = only(operand.run, bot or ())
        show_abstention(abstained_run(wanted, metric, threshold, taken, risk, cluster, seed), as_json)


def named_figures(text: str, option: str, names: Sequence[str] | None) -> dict[str, float]:
    """Figures by name from ``name=figure,name=figure``; ``names`` are those that there can be, None for any.

    Raises:
        InputError: what can't be read, with the nearest name.
    """
    import difflib

    from ... import InputError

    made: dict[str, float] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, _, figure = (piece.strip() for piece in part.rpartition("="))
        if names is not None and name not in names:
            near = difflib.get_close_matches(name, names, 1, 0.5)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise InputError(f"{option}: there is no {name or part!r}.{hint} There are: {', '.join(names)}.")
        try:
            made[name] = float(figure)
        except ValueError:
            made[name] = math.nan
        if not name or not math.isfinite(made[name]):
            raise InputError(f"{option}: {part!r} is not of the form name=figure, such as {(names or ['rag'])[0]}=0.2.")
    return made


def only(run: RunTables, bots: Sequence[str]) -> RunTables:
    """The run with those bots alone; all of them where none is named.

    Raises:
        InputError: there is no such bot, with the nearest.
    """
    from dataclasses import replace

    from ... import InputError
    from ...reports.compare.operands import unknown_bot

    for bot in bots:
        if bot not in run.tables:
            raise InputError(unknown_bot(bot, f"run {run.run}", list(run.tables)))
    return replace(run, tables={bot: table for bot, table in run.tables.items() if not bots or bot in bots})


def mean_text(mean: Mean, column: MetricColumn) -> str:
    """A mean with its interval."""
    return f"{figure(mean.value, column)} {interval(mean.low, mean.high, column)}".rstrip()


def gain_text(gain: Difference, column: MetricColumn) -> str:
    """A gain with its sign and interval."""
    return f"{signed(gain.mean, column)} {interval(gain.low, gain.high, column)}".rstrip()


def percent(share: float) -> str:
    """A share as a percentage; only what is certain is 0 or 100.

    >>> [percent(share) for share in (0.0, 0.001, 0.5, 0.999, 1.0)]
    ['0 %', '<1 %', '50 %', '>99 %', '100 %']
    """
    if 0 < share < 0.005:
        return "<1 %"
    if 0.995 <= share < 1:
        return ">99 %"
    return f"{share * 100:.0f} %"


def rounded_up(threshold: float) -> str:
    """A threshold in four digits after the point, never below what it is: so a promise is kept when it is typed in.

    >>> rounded_up(0.5163977794943222), rounded_up(1.0)
    ('0.5164', '1')
    """
    return f"{math.ceil(threshold * 10_000 - 1e-6) / 10_000:g}"
