"""Tables of cases that one test runs through: a test of its own costs more than what most cases check."""

import functools
import inspect
import reprlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

_SHOWN = reprlib.Repr()
_SHOWN.maxdict, _SHOWN.maxlist, _SHOWN.maxtuple = 9, 9, 9
_SHOWN.maxstring = _SHOWN.maxother = 300


def in_one_test(
    names: str | Sequence[str], table: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As ``pytest.mark.parametrize``, but in one test: every case is run, and those that fail are shown.

    For checks that leave nothing behind: what a fixture gives is the same for all cases.
    """
    named = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    rows = [_row(named, case) for case in table]
    assert rows, "a table without cases tests nothing"

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run_all(**given: Any) -> None:
            failed: list[BaseException] = []
            for row in rows:
                try:
                    test(**given, **row)
                except (Exception, pytest.fail.Exception) as wrong:  # noqa: BLE001 - raised below, with the others
                    wrong.add_note(f"Case: {_SHOWN.repr(row)}")
                    failed.append(wrong)
            if failed:
                raise BaseExceptionGroup(f"{len(failed)} of {len(rows)} cases failed", failed)

        signature = inspect.signature(test)
        others = [each for name, each in signature.parameters.items() if name not in named]
        run_all.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return run_all

    return decorated


def _row(names: Sequence[str], case: Any) -> dict[str, Any]:
    if isinstance(case, type(pytest.param())):
        assert not case.marks, f"{case.id}: a case of a table has no marks"
        values = case.values
    else:
        values = case if len(names) > 1 else (case,)
    return dict(zip(names, values, strict=True))
