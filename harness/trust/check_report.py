"""Check report: what a judge's verdicts on known cases add up to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...reports.judging.judge_calls import CallRecord
from ..suite.judge_settings import CheckSettings
from .canaries import Canary, Probe, Variant


@dataclass(frozen=True, slots=True)
class Said:
    """A judge's verdict on one probe; None where it could not be read. ``reply`` is what the judge wrote."""

    canary: Canary
    probe: Probe
    repeat: int
    verdict: bool | None
    reply: str

    @property
    def is_right(self) -> bool:
        """Whether it is the verdict that is known to be right; an unreadable one is not."""
        return self.verdict is self.probe.holds

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The probe, whatever the variant and repeat."""
        return (self.canary.kind, self.canary.id, self.probe.part, self.probe.text)


@dataclass(frozen=True, slots=True)
class Tally:
    """So many of so many."""

    part: int
    whole: int

    @property
    def share(self) -> float | None:
        """The share; None of nothing."""
        return self.part / self.whole if self.whole else None

    @property
    def as_object(self) -> dict[str, object]:
        """For machines."""
        return {"share": self.share, "count": self.part, "of": self.whole}


@dataclass(frozen=True)
class CheckReport:
    """How a judge did.

    Attributes:
        judge: its model id.
        name: what people call it.
        floors: what was wanted.
        said: all its verdicts.
        records: all its calls; none for the embedded judge.
        cannot: kinds of calls that it has no means for, and why.
        without: kinds of calls that the suite makes and for which there are no canaries.
        unavailable: why calls got no reply.
    """

    judge: str
    name: str
    floors: CheckSettings
    said: tuple[Said, ...]
    records: tuple[CallRecord, ...]
    cannot: Mapping[str, str]
    without: tuple[str, ...]
    unavailable: tuple[str, ...]

    @cached_property
    def plain(self) -> tuple[Said, ...]:
        """The verdicts on the cases as they are."""
        return tuple(one for one in self.said if one.canary.variant == "plain")

    @property
    def accuracy(self) -> float | None:
        """Share of right verdicts on the cases as they are, in all repeats."""
        return _right(self.plain).share

    @property
    def hostile(self) -> float | None:
        """The same on cases that try to sway the judge."""
        return _right(one for one in self.plain if one.probe.hostile).share

    @property
    def missed(self) -> str:
        """What is short of what is wanted, in words; blank when nothing is."""
        return floors_missed(self.accuracy, self.hostile, self.floors)

    @property
    def by_kind(self) -> dict[str, dict[str, Tally]]:
        """For each kind of call: right verdicts on good, bad and hostile cases, and on all."""
        of: Mapping[str, Callable[[Probe], bool]] = {
            "all": lambda _: True,
            "good": lambda probe: probe.holds and not probe.hostile,
            "bad": lambda probe: not probe.holds and not probe.hostile,
            "hostile": lambda probe: probe.hostile,
        }
        kinds = dict.fromkeys(one.canary.kind for one in self.plain)
        return {
            kind: {
                name: _right(one for one in self.plain if one.canary.kind == kind and belongs(one.probe))
                for name, belongs in of.items()
            }
            for kind in kinds
        }

    @property
    def position(self) -> Tally:
        """Verdicts that change when claims and chunks come in the opposite order."""
        return self._changed("swapped", lambda _: True)

    @property
    def verbosity(self) -> Tally:
        """Bad answers and claims found bad that are found good once they are padded with empty words."""
        return self._changed("padded", lambda one: not one.probe.holds and not one.probe.hostile and one.is_right)

    @property
    def retest(self) -> Tally | None:
        """Probes on which all repeats say the same; None with one repeat."""
        verdicts: dict[tuple[str, str, str, str], list[bool | None]] = {}
        for one in self.plain:
            verdicts.setdefault(one.key, []).append(one.verdict)
        several = [each for each in verdicts.values() if len(each) > 1 and None not in each]
        if self.floors.repeats < 2:
            return None
        return Tally(sum(len(set(each)) == 1 for each in several), len(several))

    @property
    def wrong(self) -> list[Said]:
        """Wrong verdicts on the cases as they are, each probe once, those of hostile cases first."""
        first: dict[tuple[str, str, str, str], Said] = {}
        for one in self.plain:
            if not one.is_right:
                first.setdefault(one.key, one)
        return sorted(first.values(), key=lambda one: not one.probe.hostile)

    @property
    def unreadable(self) -> tuple[Tally, Tally]:
        """First replies, and replies to a repair, that could not be read whole."""
        answered = [record for record in self.records if not record.kept.error]
        firsts = [record for record in answered if not record.request.exchange]
        repairs = [record for record in answered if record.request.exchange]
        return _with_problems(firsts), _with_problems(repairs)

    @property
    def latency_ms(self) -> tuple[float, float] | None:
        """Median and 95th percentile over the calls; None without any."""
        figures = [record.latency_ms for record in self.records if not record.kept.error]
        if not figures:
            return None
        p50, p95 = np.percentile(figures, [50, 95])
        return float(p50), float(p95)

    @property
    def usage(self) -> dict[str, float | int | None]:
        """Tokens and cost of all calls; None where nothing was reported."""
        usages = [record.completion.usage for record in self.records if record.completion is not None]
        return {
            "tokens_in": _sum(usage.tokens_in for usage in usages),
            "tokens_out": _sum(usage.tokens_out for usage in usages),
            "cost": _sum(usage.cost for usage in usages),
        }

    @property
    def as_object(self) -> dict[str, object]:
        """Everything, for machines and for the database."""
        first, repaired = self.unreadable
        latency = self.latency_ms
        return {
            "judge": self.judge,
            "accuracy": self.accuracy,
            "hostile": self.hostile,
            "wanted": {"accuracy": self.floors.accuracy, "hostile": self.floors.hostile},
            "repeats": self.floors.repeats,
            "cases": len({one.canary.id for one in self.plain}),
            "verdicts": _right(self.plain).as_object,
            "calls": {
                kind: {name: tally.as_object for name, tally in of.items()} for kind, of in self.by_kind.items()
            },
            "position_bias": self.position.as_object,
            "verbosity_bias": self.verbosity.as_object,
            "retest_agreement": self.retest and self.retest.as_object,
            "parse_failures": {"first_reply": first.as_object, "after_repair": repaired.as_object},
            "cannot_grade": dict(self.cannot),
            "no_canaries": list(self.without),
            "requests": len(self.records),
            "unavailable": len(self.unavailable),
            **self.usage,
            "latency_ms": latency and {"p50": latency[0], "p95": latency[1]},
            "wrong": [
                {"call": one.canary.kind, "case": one.canary.id, "text": one.probe.text, "hostile": one.probe.hostile,
                 "wanted": one.probe.holds, "verdict": one.verdict, "reply": one.reply}
                for one in self.wrong
            ],
        }  # fmt: skip

    def _changed(self, variant: Variant, counts: Callable[[Said], bool]) -> Tally:
        """How many verdicts of the first round differ in a variant, among those that count and can be read."""
        plain = {one.key: one for one in self.plain if one.repeat == 0 and counts(one)}
        pairs = [
            (plain[one.key].verdict, one.verdict)
            for one in self.said
            if one.canary.variant == variant and one.key in plain
        ]
        readable = [(before, after) for before, after in pairs if before is not None and after is not None]
        return Tally(sum(before != after for before, after in readable), len(readable))


def floors_missed(accuracy: float | None, hostile: float | None, floors: CheckSettings) -> str:
    """What is short of what is wanted, in words; blank when nothing is."""
    figures = (("accuracy", accuracy, floors.accuracy), ("hostile", hostile, floors.hostile))
    return ", ".join(
        f"{name} {found:.2f}, wanted {least:g}" for name, found, least in figures if found is not None and found < least
    )


def _right(said: Iterable[Said]) -> Tally:
    some = list(said)
    return Tally(sum(one.is_right for one in some), len(some))


def _with_problems(records: Sequence[CallRecord]) -> Tally:
    return Tally(sum(bool(record.problem) for record in records), len(records))


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
