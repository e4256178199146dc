"""Judgement: what a gate says of a bot, as a test asserts it."""

from __future__ import annotations

from dataclasses import dataclass

from ...reports.gating.gate_rule import NOT_WORSE, UNDECIDED
from ...reports.gating.verdicts import BotVerdict
from ...reports.printable import printable_lines


@dataclass(frozen=True, slots=True, repr=False)
class Judgement:
    """True when the bot is not worse; its text says what was found, and which answers got worse."""

    verdict: BotVerdict
    or_undecided: bool = False

    def __bool__(self) -> bool:
        """Whether an assertion of it holds."""
        return self.verdict.exit_code == NOT_WORSE or (self.or_undecided and self.verdict.exit_code == UNDECIDED)

    def __repr__(self) -> str:
        """The verdict in a word, a sentence for each figure, and the questions that got worse."""
        found = self.verdict
        lines = [
            f"{found.bot}: {found.word} than {found.base_bot} of run {found.base_run}",
            *(f"{each.metric}: {each.outcome}: {each.sentence}" for each in found.metrics),
            *(f"{each.metric}, threshold: {each.sentence}" for each in found.thresholds),
            *([f"latency: {found.latency.sentence}"] if found.latency.sentence else []),
            *found.notes,
        ]
        for flip in found.flips:
            lines += [f"{flip.key}: {flip.question}", f"  was: {flip.base_answer}", f"  now: {flip.head_answer}"]
        return printable_lines("\n  ".join(lines))
