"""Rank table: which bot of a run is best and how sure that is, for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ...reports.comparing.comparison_words import p_value, signed
from ...reports.comparing.doubts import cluster_noun
from ...reports.comparing.metric_comparison import ALPHA
from ...reports.leaderboard import ARROWS, count, figure, milliseconds
from ...reports.printable import printable
from ...reports.ranking.frontier import Offer
from ...reports.ranking.rank_agreement import Against, RankAgreement
from ...reports.ranking.ranked_run import InDetail, RankedMetric, RankedRun
from ...reports.ranking.ranking import names_in_order
from ...reports.ranking.shared_questions import as_measured
from .figures import gain_text, grid, mean_text, percent
from .router_table import router_table

RANKS = ("best", "2nd", "3rd", "4th")  # that have a column; with more bots the expected rank says it
SURE = 0.95  # probability of being the best from which on we say that a bot is, where its lead passes the test too
ABOUT_RANKS = "best, 2nd, ...: probability that a bot comes there, were all questions of this kind asked; ties share"
ABOUT_STABILITY = "same: probability that the winner, or the whole ranking, is as it was measured"
MOST_AGAINST = 5  # differing rankings that are shown, the surest first; the rest are in --json
MOST_BEATING = 2  # bots that are named where one is dominated
MOST_LACKING = 3  # bots that are named where questions are left out


def rank_table(ranked: RankedRun) -> RenderableType:
    """The bots by each wanted metric, what else speaks for them, and whether other metrics and judges agree."""
    parts: list[RenderableType] = [_title(ranked), *(_verdict(detail, ranked) for detail in ranked.details)]
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


def _title(ranked: RankedRun) -> Text:
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
        sentence = f"{best} leads on {name} by {by}, but one {what} alone does not tell how sure that is."
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
        yield Text(f"No answer: {', '.join(found)}. All figures are of answers.", style="yellow", overflow="fold")


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
        yield Text(f"Not ranked, for want of any value: {names}.", style="dim", overflow="fold")
    if shared.dropped:
        lacking = [f"{printable(bot)} on {number:,}" for bot, number in shared.lacking.items()]
        more = ", ..." if len(lacking) > MOST_LACKING else ""
        yield Text(
            f"Without {count(shared.dropped, 'question')} on which not every bot has a value (it lacks:"
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
        yield Text("dominated: by what was measured; a small lead may be chance", style="dim")
    if not priced:
        yield Text("No bot tells its costs; --costs BOT=COST,... states what an answer costs.", style="dim")
    elif any(offer.cost is None for offer in detail.offers):
        yield Text("Cost plays no part: it is not known of every bot (--costs BOT=COST,...).", style="dim")
    if free := [bot for bot, cost in ranked.costs.items() if not cost and ranked.run.tables[bot].embedded]:
        yield Text(f"Without a language model, so taken to cost nothing: {', '.join(map(printable, free))}.", "dim")


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
        "No choice among these bots can reach more; that flatters, as the best of several is often but lucky."
        + ("" if best.honest_gain else " Questions asked twice (--repeat 2) tell what is not luck."),
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
