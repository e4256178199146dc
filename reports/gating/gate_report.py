"""Gate report: the verdicts of a gate with what they are about, as every output shows them."""

from __future__ import annotations

from dataclasses import dataclass

from ..primary import Primary
from .gate_rule import WRONG, GateRule, worst_code
from .verdicts import BotVerdict


@dataclass(frozen=True, slots=True)
class GateReport:
    """What a gate found.

    Attributes:
        suite: name of the suite.
        run: name of the run that was looked at.
        status: how that run ended.
        baseline: where the other side came from, as a user would name it.
        baseline_run: name of that run.
        rule: what was gated and let pass.
        bots: a verdict for each gated bot.
        notes: sentences about what was left out.
        primary: the primary metric, with the reason; None where there is none.
    """

    suite: str
    run: str
    status: str
    baseline: str
    baseline_run: str
    rule: GateRule
    bots: tuple[BotVerdict, ...]
    notes: tuple[str, ...] = ()
    primary: Primary | None = None

    @property
    def exit_code(self) -> int:
        """0 not worse, 1 regressed, 2 not comparable, 3 undecided, 4 too much missing, 5 below threshold.

        Of several bots the first that holds of 2, 1, 5, 4, 3 and 0. Without a bot it is 2: nothing was decided.
        """
        return worst_code([bot.exit_code for bot in self.bots] or [WRONG])
