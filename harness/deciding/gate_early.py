"""Gate and early stop: what is bet on before an exam, and the verdicts that it ended with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...reports.comparing.score_table import RunTables, ScoreTable
from ...reports.comparing.sides import Side
from ...reports.gating.gate_rule import GateRule, is_share
from ...reports.gating.metric_verdicts import MetricVerdict
from ...reports.gating.verdicts import BotVerdict
from ...reports.leaderboard import count
from ...reports.run import bot_fingerprint
from ...reports.statistics.paired import Difference
from ...reports.store import Store
from ..exams.exam import Exam
from .early_result import EarlyResult, EarlyVerdict
from .wagers import Wager

KEPT = "SELECT 1 FROM replies JOIN bots ON bots.id = bot_id WHERE fingerprint = ? LIMIT 1"
TEST = "betting, valid at any time of looking"


def wagers(exam: Exam, base: Side | str, gated: Sequence[str], rule: GateRule, store: Store) -> list[Wager]:
    """A wager for every gated metric of every gated bot.

    A bot that is in the same state as its baseline and has answers here will not be asked again: there is nothing to
    bet on, and the others would have to wait for it.

    Args:
        exam: before it is held.
        base: what it is held against; a name where that is another bot of the same exam.
        gated: bots that have to be gated; blank for all that can be.
        rule: what is gated.
        store: where answers are kept.
    """
    made = []
    for name, identity in exam.header.bots:
        against = _against(base, name)
        if against is None or (gated and name not in gated):
            continue
        fingerprint = bot_fingerprint(name, identity)
        same = isinstance(against, ScoreTable) and against.fingerprint == fingerprint and not exam.header.fresh
        if same and store.query(KEPT, [fingerprint]):
            continue
        made += [Wager(name, metric, rule.margin_of(metric), against) for metric in _metrics(exam, against, rule)]
    return made


def _against(base: Side | str, name: str) -> ScoreTable | str | None:
    if isinstance(base, str):
        return base if base != name else None
    if base.bot is not None:
        return base.run.tables[base.bot]
    return base.run.tables.get(name)


def _metrics(exam: Exam, against: ScoreTable | str, rule: GateRule) -> Iterator[str]:
    for metric in exam.header.metrics:
        if metric.level == "row" and (
            metric.name in rule.wanted
            or (not rule.wanted and is_share(metric) and (isinstance(against, str) or metric.name in against.columns))
        ):
            yield metric.name


def asked_in_full(run: RunTables) -> RunTables:
    """The run without questions of which an early stop has left out some repeats: these are not missing."""

    def table(of_bot: ScoreTable) -> ScoreTable:
        return replace(of_bot, asked=of_bot.asked & of_bot.asked.all(axis=1, keepdims=True))

    return replace(run, tables={bot: table(of_bot) for bot, of_bot in run.tables.items()})


def early_verdict(result: EarlyResult, found: BotVerdict) -> BotVerdict:
    """A bot's verdict with what the bets say in the place of intervals and p values, which don't allow for looking."""
    said = {each.metric: each for each in result.verdicts if each.bot == found.bot}
    return replace(found, metrics=tuple(_early(each, said.get(each.metric)) for each in found.metrics))


def _early(found: MetricVerdict, said: EarlyVerdict | None) -> MetricVerdict:
    if said is None or found.gain is None or said.mean is None:
        return found
    gain: Difference = replace(
        found.gain,
        mean=said.mean,
        low=said.low,
        high=said.high,
        standard_error=None,
        questions=said.questions,
        clusters=said.clusters,
        wins=said.wins,
        ties=said.questions - said.wins - said.losses,
        losses=said.losses,
        effect=None,
        p_value=None,
        test=TEST,
        few_changes=False,
        cautious_p_value=None,
    )
    after = f"after {count(said.questions, 'question')}, at any time of looking"
    sentence = {
        "regressed": f"a loss is certain {after}",
        "not worse": f"a loss of {found.margin:g} is ruled out {after}",
        "undecided": f"nothing is certain {after}",
    }[said.word]
    return replace(
        found, outcome=said.word, base_mean=said.base_mean, head_mean=said.head_mean, gain=gain, adjusted_p=None,
        further=None, sentence=sentence,
    )  # fmt: skip
