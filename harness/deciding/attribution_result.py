"""Attribution: what each change did to a bot, in sentences and for machines."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from ...reports.comparing.attribution import Effect, MetricEffects
from ...reports.statistics.paired import Difference


@dataclass(frozen=True, slots=True)
class Attribution:
    """What caused the difference between a bot and what it was.

    Attributes:
        bot: its name.
        base_run: the run in which it was as before.
        head_run: the run in which it is as now.
        changes: by factor, the change in words.
        effects: by metric, those first that moved most.
        configurations: how many were held between the two.
        asked: questions that were asked for it.
    """

    bot: str
    base_run: str
    head_run: str
    changes: Mapping[str, str]
    effects: tuple[MetricEffects, ...]
    configurations: int
    asked: int

    @property
    def ranked(self) -> tuple[MetricEffects, ...]:
        """The metrics that moved: those first that lost most for their range, those of no direction last."""
        moved = [
            found for found in self.effects if found.whole.mean or any(each.difference.mean for each in found.effects)
        ]
        return tuple(sorted(moved, key=_loss, reverse=True))

    @property
    def lines(self) -> tuple[str, ...]:
        """One sentence for each metric that moved."""
        return tuple(self._line(found) for found in self.ranked)

    @property
    def as_object(self) -> dict[str, object]:
        """For machines."""
        return {
            "bot": self.bot,
            "base_run": self.base_run,
            "head_run": self.head_run,
            "changes": dict(self.changes),
            "configurations": self.configurations,
            "asked": self.asked,
            "metrics": {
                found.column.name: {
                    "difference": asdict(found.whole),
                    "effects": {each.factor: asdict(each.difference) for each in found.effects},
                    "questions": found.questions,
                    "dropped": found.dropped,
                }
                for found in self.effects
            },
        }

    def _line(self, found: MetricEffects) -> str:
        """``top_k 4 -> 2 cost 0.11 [0.05, 0.17] of the 0.12 lost in keyword_recall; the prompt 0.01 [-0.02, 0.04]``."""
        whole = found.whole.mean
        way = 1.0 if whole > 0 else -1.0
        better = found.column.better
        if better == "neither":
            verb, noun = "moved", "more" if whole > 0 else "less"
        else:
            is_loss = (whole > 0) == (better == "lower")
            verb, noun = ("cost", "lost") if is_loss else ("brought", "gained")
        first, *others = sorted(found.effects, key=lambda each: -way * each.difference.mean)
        of_all = f"of the {abs(whole):.2f} {noun} in {found.column.name}"
        said = [f"{self._change(first)} {verb} {spread(first.difference, way)} {of_all}"]
        said += [f"{self._change(each)} {spread(each.difference, way)}" for each in others]
        return "; ".join(said)

    def _change(self, effect: Effect) -> str:
        return self.changes[effect.factor]


@dataclass(frozen=True, slots=True)
class Explained:
    """What caused the differences; ``notes`` are sentences about bots of which it can't be told."""

    attributions: tuple[Attribution, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def sentences(self) -> list[str]:
        """What caused what, and of what it can't be told."""
        said = [f"{each.bot}: {line}." for each in self.attributions for line in each.lines]
        asked = sum(each.asked for each in self.attributions)
        return [*said, *([f"To find that out {asked:,} questions were asked."] if asked else []), *self.notes]

    @property
    def as_object(self) -> dict[str, object]:
        """For machines."""
        return {"bots": {each.bot: each.as_object for each in self.attributions}, "notes": list(self.notes)}


def spread(found: Difference, way: float = 1.0) -> str:
    """``0.11 [0.05, 0.17]``; ``way`` -1 turns the sign."""
    ends = sorted(way * end for end in (found.low, found.high) if end is not None)
    interval = f" [{_figure(ends[0])}, {_figure(ends[1])}]" if len(ends) == 2 else ""
    return f"{_figure(way * found.mean)}{interval}"


def _figure(value: float) -> str:
    text = f"{value:.2f}"
    return text.removeprefix("-") if float(text) == 0 else text


def _loss(found: MetricEffects) -> float:
    column = found.column
    width = 1.0 if column.low is None or column.high is None else (column.high - column.low) or 1.0
    if column.better == "neither":
        return -math.inf
    return (found.whole.mean if column.better == "lower" else -found.whole.mean) / width
