"""Metric names: which metrics of a comparison a user means, and those that only a whole run has."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from ... import InputError

# A figure of a whole run says nothing of one question; these say the same of each row.
ROW_METRIC = "row_correct"


def wanted(metric: str, names: Sequence[str]) -> bool:
    """Whether a metric is among those named; a family names all of its metrics, and no names mean all."""
    return not names or any(metric == name or metric.startswith(f"{name}.") for name in names)


def check_names(names: Sequence[str], known: Sequence[str]) -> None:
    """Raise InputError for a name that is neither a known metric nor a family of them, with the nearest."""
    for name in names:
        if not any(wanted(each, [name]) for each in known):
            near = difflib.get_close_matches(name, known, 1, 0.4)
            hint = f" Did you mean {near[0]}?" if near else ""
            listed = ", ".join(dict.fromkeys(known)) or "none"
            raise InputError(f"There is no metric {name!r}.{hint} Measured were: {listed}.")


def refused_of_run(of_run: Sequence[str], names: Sequence[str]) -> Mapping[str, str]:
    """Why figures of a whole run are not compared, by metric."""
    sentence = f"A figure of the whole run, which has no value of a question to pair. Compare {ROW_METRIC} instead."
    return {name: sentence for name in dict.fromkeys(of_run) if wanted(name, names)}
