"""Judge check: a judge put to cases whose verdict is known, and how it did."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import orjson

from ... import InputError
from ...metrics.judge.rendering import prompt_hash
from ...metrics.plan import Plan
from ...metrics.score import JudgeUnavailable, NotApplicable, Unreadable
from ...metrics.tools import Judge
from ...reports.judging.judge_calls import CallRecord
from ...reports.judging.kept_checks import keep_check, kept_check
from ...reports.store import Store
from ..engine.judging import Judging
from ..suite.judge_settings import CheckSettings
from .canaries import Canary, canaries, file_hash, kinds
from .check_report import CheckReport, Said, floors_missed

MOST_QUOTED = 300  # characters of a judge's reply beside a wrong verdict


class JudgeUnfit(InputError):  # noqa: N818 - an outcome, told as a sentence
    """The judge failed its check, or can't be reached to be put to it."""


@dataclass(slots=True)
class _Round:
    """Everything that is asked of one judge without any kept replies, and what it said."""

    judging: Judging
    number: int
    records: list[CallRecord] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    cannot: dict[str, str] = field(default_factory=dict)
    unavailable: list[str] = field(default_factory=list)

    async def ask(self, asked: Sequence[Canary]) -> None:
        """Ask all of them at once; the model's own limits keep the calls in order."""
        await asyncio.gather(*(self._ask(canary) for canary in asked))

    async def _ask(self, canary: Canary) -> None:
        records: list[CallRecord] = []
        judge = self.judging.unkept(records.append)
        verdicts: Sequence[bool | None] = [None] * len(canary.probes)
        why = ""
        try:
            verdicts = canary.verdicts(await _answer(judge, canary))
        except NotApplicable as refusal:
            self.cannot[canary.kind] = str(refusal.details.get("message", ""))
            return
        except JudgeUnavailable as error:
            self.unavailable.append(str(error))
            return
        except Unreadable as error:
            why = str(error)
        finally:
            self.records += records
        reply = why or (records[-1].kept.text or "" if records else "")
        for probe, verdict in zip(canary.probes, verdicts, strict=True):
            self.said.append(Said(canary, probe, self.number, verdict, reply[:MOST_QUOTED]))


async def _answer(judge: Judge | None, canary: Canary) -> object:
    if judge is None:
        raise NotApplicable("judge_cannot_grade", message="there is no judge")
    return await judge.ask(canary.call)


async def check_judge(judging: Judging, calls: Collection[str], floors: CheckSettings) -> CheckReport:
    """Put a judge to the canaries of some kinds of calls; no kept reply is used and none is kept.

    Args:
        judging: the judge; it is made ready and left open.
        calls: kinds of calls, as ``calls_of`` finds them; those without canaries are named in the report.
        floors: what is wanted of it, and how often each case is put to it.

    Raises:
        JudgeUnfit: the judge can't be reached at all.
    """
    await judging.prepare()
    asked = canaries(calls)
    rounds = [_Round(judging, number) for number in range(floors.repeats)]
    for each in rounds:  # one after the other, or a server might answer two equal requests as one
        await each.ask([canary for canary in asked if canary.variant == "plain" or each.number == 0])
    unavailable = [why for each in rounds for why in each.unavailable]
    order = {id(canary): place for place, canary in enumerate(asked)}
    said = sorted((one for each in rounds for one in each.said), key=lambda one: order[id(one.canary)])
    if unavailable and not said:
        raise JudgeUnfit(f"The judge {judging.name} can't be reached: {judging.problem or unavailable[0]}")
    return CheckReport(
        judge=judging.model_id,
        name=judging.name,
        floors=floors,
        said=tuple(said),
        records=tuple(record for each in rounds for record in each.records),
        cannot=dict(sorted((kind, why) for each in rounds for kind, why in each.cannot.items())),
        without=tuple(sorted(set(calls) - set(kinds()))),
        unavailable=tuple(unavailable),
    )


def calls_of(plan: Plan) -> list[str]:
    """The kinds of calls that a plan's metrics make."""
    return list(dict.fromkeys(call for request in plan.requests.requests for call in request.calls))


def fingerprint(judging: Judging, calls: Collection[str], floors: CheckSettings) -> str:
    """What decides how a check comes out: judge, prompts, cases, how often; not what is wanted."""
    prompts = {kind: prompt_hash(kind) for kind in sorted(set(calls) & set(kinds()))}
    parts = [judging.model_id, prompts, file_hash(), floors.repeats]
    return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]


async def require_check(store: Store, judging: Judging, plan: Plan) -> str:
    """See that a judge is fit for a plan, where its settings want that; a kept result will do.

    Returns:
        A sentence that says how it did; blank where no check is wanted or nothing can be checked.

    Raises:
        JudgeUnfit: it is not fit, or can't be reached.
    """
    floors, calls = judging.settings.check, calls_of(plan)
    if floors is None or not set(calls) & set(kinds()):
        return ""
    key = fingerprint(judging, calls, floors)
    kept = kept_check(store, key)
    if kept is None:
        report = await check_judge(judging, calls, floors)
        if not report.unavailable:
            keep_check(store, key, report.judge, report.accuracy, report.hostile, report.as_object)
        accuracy, hostile = report.accuracy, report.hostile
    else:
        accuracy, hostile = kept
    missed = floors_missed(accuracy, hostile, floors)
    if missed:
        raise JudgeUnfit(
            f"The judge {judging.name} failed its check: {missed}. 'proctor judge-check' shows what it got wrong; take"
            " another judge, or lower `check` under `judge`."
        )
    if accuracy is None:
        return ""
    known = " (known from before)" if kept is not None else ""
    return f"The judge {judging.name} passed its check: {accuracy:.0%} of the verdicts were right{known}."
