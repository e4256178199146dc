"""SurveyOptions: what the command line says of a survey."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ... import InputError
from ..exams.run_config import RunConfig
from ..suite.mistakes import nearest
from ..suite.survey_settings import SurveySettings, overridden_grid

if TYPE_CHECKING:
    from ..suite.suite_file import LoadedSuite

PARTS: Final = ("grid", "gaps", "documents", "blame", "inside", "audit")


@dataclass(frozen=True, slots=True)
class SurveyOptions:
    """What is looked at, and what it may take.

    Attributes:
        parts: some of PARTS.
        asks: whether bots are asked; without it there is no blame, and cards say nothing of answers.
        run: what the command line changes about the suite's run.
        metric: the metric that says whether an answer is right; None for the suite's, else the one that says it best.
        grid: settings of the grid that go before those of the suite, as ``KEY=VALUE,VALUE``.
        against: a folder of other documents; None without.
        most_calls: most answers that blame may ask for, and as many for ``against``; None for the suite's.

    Raises:
        InputError: they contradict each other.
    """

    parts: frozenset[str] = field(default=frozenset(PARTS))
    asks: bool = True
    run: RunConfig = field(default_factory=RunConfig)
    metric: str | None = None
    grid: tuple[str, ...] = ()
    against: Path | None = None
    most_calls: int | None = None

    def __post_init__(self) -> None:
        if self.against is not None and not self.asks:
            raise InputError("--against compares answers; leave out --no-answers.")
        if self.metric is not None and not self.asks:
            raise InputError("--metric marks answers; leave out --no-answers.")


def named_parts(names: list[str]) -> frozenset[str]:
    """The parts of these names, each perhaps several with commas; all where none is named.

    Raises:
        InputError: a name is none of a part, or there is an option and no name.
    """
    wanted = [name.strip() for each in names for name in each.split(",") if name.strip()]
    if names and not wanted:
        raise InputError(f"--only names no part; the parts are {', '.join(PARTS)}.")
    for name in wanted:
        if name not in PARTS:
            raise InputError(f"--only {name}: there is no such part{nearest(name, PARTS, 'the parts are')}")
    return frozenset(wanted or PARTS)


def settings_of(loaded: LoadedSuite, options: SurveyOptions) -> SurveySettings:
    """The suite's, with what the command line changes about them; raises InputError where that can't be."""
    given = loaded.suite.survey
    return given.model_copy(
        update={
            "grid": overridden_grid(given.grid, options.grid),
            "metric": options.metric or given.metric,
            "most_calls": given.most_calls if options.most_calls is None else options.most_calls,
        }
    )
