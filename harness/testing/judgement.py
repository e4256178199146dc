"""Judgement: what a gate says of a bot, as a test asserts it."""

from __future__ import annotations

from dataclasses import dataclass

from ...reports.gating.gate_report import GateReport
from ...reports.gating.gate_rule import NOT_WORSE, UNDECIDED
from ...reports.gating.gate_words import answers, failures, headline, missing, threshold
from ...reports.gating.verdicts import BotVerdict
from ...reports.printable import printable_lines


@dataclass(frozen=True, slots=True, repr=False)
class Judgement:
    """True when the bot is not worse; its text says what was found, and which answers got worse."""

    report: GateReport
    or_undecided: bool = False

    @property
    def verdict(self) -> BotVerdict:
        """What the gate says of the bot."""
        return self.report.bots[0]

    def __bool__(self) -> bool:
        """Whether an assertion of it holds."""
        return self.verdict.exit_code == NOT_WORSE or (self.or_undecided and self.verdict.exit_code == UNDECIDED)

    def __repr__(self) -> str:
        """The verdict in a line, a sentence for each figure, and the questions that got worse."""
        found, allowed = self.verdict, self.report.rule.missing
        lines = [
            f"{headline(found)} (compared with {self.report.baseline}, run {found.base_run})",
            *([failures(found)] if failures(found) else []),
            *(f"{each.metric}: {each.outcome}: {each.sentence}" for each in found.metrics),
            *(f"{each.metric}: {lost}" for each in found.metrics if (lost := missing(each, allowed))),
            *(f"{threshold(each)}: {each.sentence}" for each in found.thresholds),
            f"latency: {found.latency.sentence}",
            *found.notes,
            *self.report.notes,
        ]
        for flip in found.flips:
            lines += [f"{flip.key}: {flip.question}", *(f"  {when}: {said}" for when, said in answers(flip))]
        return printable_lines("\n  ".join(lines))
