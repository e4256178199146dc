"""Abstention table: what bots answer and decline, and from which confidence they should, for 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ...reports.comparing.clustered_mean import Mean
from ...reports.comparing.comparison_words import interval
from ...reports.comparing.doubts import cluster_noun
from ...reports.leaderboard import count
from ...reports.printable import printable
from ...reports.ranking.abstained_run import AbstainedRun, Caution
from ...reports.ranking.abstention import OUTCOMES, Abstention
from ...reports.ranking.promised_threshold import Promise
from ...reports.summary import MetricColumn
from .figures import grid, percent, rounded_up

SIDE_BY_SIDE = 3  # bots in 80 columns
COVERAGES = (0.1, 0.25, 0.5, 0.75, 0.9)
ABOUT_CURVES = (
    "Risk: share of wrong ones among the answers it is surest of, when that share of all questions is answered; '-'"
    " where it declined more. AURC: the mean risk along the way; best: were all wrong answers the least sure; 'all' is"
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
        parts += [Text(), Text("No bot tells a confidence (trace: confidence, similarity or score).", style="dim")]
    return Group(*parts)


def _title(found: AbstainedRun) -> Iterator[Text]:
    run = found.run
    unfinished = "" if run.status == "finished" else f" ({run.status})"
    unknown = f", {found.unknown:,} that don't say and are left out" if found.unknown else ""
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
        yield Text("No question is unanswerable, so declining can only be wrong here.", style="yellow", overflow="fold")
    if found.answerable == 0:
        yield Text("No question is answerable, so answering can only be wrong here.", style="yellow", overflow="fold")
    for bot, each in found.bots.items():
        name = printable(bot)
        if not each.tells:
            yield Text(f"{name} does not tell whether it declines, so it counts as answering.", style="yellow")
        if each.failed:
            yield _left_out(f"{name}: {each.failed:,} of {_asked(each)} left out, on which it failed.")
        if each.unmarked:
            yield _left_out(f"{name}: {each.unmarked:,} of {_asked(each)} left out, not marked by the metric.")
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
            f" The last column is for questions {other}: then whole new ones are what must be reckoned with."
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
    """Promises that are kept by declining, of bots whose surest answers are mostly wrong."""
    promises = {bot: caution.alike for bot, caution in found.cautions.items() if caution.alike is not None}
    hollow = [bot for bot, each in promises.items() if each.wrong and each.answered and 2 * each.wrong > each.answered]
    if hollow:
        names = ", ".join(map(printable, hollow))
        yield f"Of what these would answer from their thresholds on, more is wrong than right: {names}."


def _hidden(bot: str, caution: Caution) -> Iterator[str]:
    """Whether a lower threshold may do, which the bot's own setting hides; where the lowest fails, none does."""
    if caution.hidden and caution.alike is not None and caution.alike.threshold == caution.alike.lowest:
        yield (
            f"{printable(bot)} ran with min_similarity {caution.confidence.floor:g} and declined"
            f" {count(caution.hidden, 'row')}: a lower threshold may do, which a run with min_similarity 0 would show."
        )


def _risk(risk: float, up: bool = False) -> str:
    """A risk in percent, rounded up where a smaller figure would not be true."""
    return f"{float(rounded_up(risk)) * 100 if up else risk * 100:.3g} %"
