"""Rewording: what a reworded question says of itself: of which question it is, how it was made, what must happen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, cast, get_args

from ...knowledge.perturbing.kinds import IDENTITY, Must
from ...knowledge.questions import PERTURBS
from ..comparing.score_table import Case

CONTROL: Final = IDENTITY  # the kind that changes nothing, to tell what chance does


@dataclass(frozen=True, slots=True)
class Rewording:
    """How a question came about from another one.

    Attributes:
        source: id of the question that was reworded.
        kind: how, such as ``keyboard_typo``; ``identity`` is a copy, the control.
        intensity: share of the units that were changed; None where it has no measure.
        variant: its number among those made alike.
        must: what a good bot does: give the ``same`` answer, an ``other`` one, or ``decline``.
    """

    source: str
    kind: str = "reworded"
    intensity: float | None = None
    variant: int = 0
    must: Must = "same"

    @property
    def is_control(self) -> bool:
        """Whether it is a copy that changes nothing."""
        return self.kind == CONTROL


def rewording_of(extra: Mapping[str, object]) -> Rewording | None:
    """What the other keys of a question's line say; None when it is no rewording.

    ``perturbs: q1`` is enough for one that was written by hand.

    Raises:
        ValueError: there is such a key, but it can't be read.

    >>> rewording_of({"perturbs": {"id": "q1", "kind": "comma", "intensity": 0.1}})
    Rewording(source='q1', kind='comma', intensity=0.1, variant=0, must='same')
    """
    mark = extra.get(PERTURBS)
    if mark is None:
        return None
    given: Mapping[str, object] = mark if isinstance(mark, Mapping) else {"id": mark}
    source, kind = given.get("id"), given.get("kind", "reworded")
    intensity, variant, must = given.get("intensity"), given.get("variant", 0), given.get("must", "same")
    if not isinstance(source, str | int) or isinstance(source, bool) or not str(source).strip():
        raise ValueError("it names no question under 'id'")
    if not isinstance(kind, str) or not kind.strip():
        raise ValueError("its kind is no word")
    if intensity is not None and not _is_share(intensity):
        raise ValueError("its intensity is no number from 0 to 1")
    if not isinstance(variant, int) or must not in get_args(Must):
        raise ValueError(f"its variant is no number, or its must is none of {', '.join(get_args(Must))}")
    share = None if intensity is None else float(cast("float", intensity))
    return Rewording(str(source), kind, share, variant, cast("Must", must))


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and 0 <= value <= 1


def read_rewordings(cases: Iterable[Case]) -> tuple[dict[int, Rewording], dict[str, str]]:
    """The rewordings among questions by their place, and why others can't be read, by their keys."""
    found: dict[int, Rewording] = {}
    unreadable: dict[str, str] = {}
    for place, case in enumerate(cases):
        try:
            rewording = rewording_of(case.extra)
        except ValueError as problem:
            unreadable[case.key] = str(problem)
            continue
        if rewording is not None:
            found[place] = rewording
    return found, unreadable
