"""Perturbing: the second exam of a suite that has its questions reworded, beside the first one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TextIO

from ...reports.leaderboard import count
from ...reports.printable import printable
from ...reports.summary import find_run
from ..exams.exam import Exam, Outcome, hold
from ..showing.outcome import outcome_object, watching
from ..showing.progress import Silent

if TYPE_CHECKING:
    from ...reports.robustness.robustness import Robustness
    from ...reports.store import Store
    from ..deciding.perturbed_run import PerturbedRun


def hold_again(
    run: PerturbedRun | None, first: Outcome, store: Store, environ: Mapping[str, str], say: Callable[[str], None]
) -> tuple[Outcome | None, str]:
    """Hold the exam of the reworded questions; None where there is none, or where the first one came to nothing.

    Beside it stands why a judge could not write questions that it should have; blank where it could.
    """
    if run is None or first.judge_problem or len(first.unable) == len(first.summary.bots):
        return None, ""
    with watching() as watcher:
        exam: Exam = run.exam(environ, say if isinstance(watcher, Silent) else watcher.said, store)
        return hold(exam, store, watcher), run.written.problem


def found_robust(first: Outcome, second: Outcome, store: Store) -> Robustness:
    """How the answers to reworded questions compare with those to the questions themselves."""
    from ...reports.comparing.run_tables import run_tables
    from ...reports.robustness.robustness import robustness

    runs = [find_run(store, outcome.summary.run)[0] for outcome in (first, second)]
    return robustness(*(run_tables(store, run) for run in runs))


def show_again(first: Outcome, second: Outcome, store: Store, stdout: TextIO) -> None:
    """What the second exam asked, and the tables of robustness."""
    from ..showing.robustness_table import show_robustness

    kept = f", {second.kept:,} kept from before" if second.kept else ""
    asked = f"asked {count(second.asked, 'question')}{kept}, in {second.seconds:.1f} s"
    stdout.write(f"\n{printable(second.summary.suite)}, run {printable(second.summary.run)}: {asked}.\n\n")
    show_robustness(found_robust(first, second, store), stdout)


def again_object(first: Outcome, second: Outcome | None, store: Store) -> dict[str, object]:
    """The second exam for machines; nothing where there was none."""
    if second is None:
        return {}
    from ...reports.robustness.robustness_object import robustness_object

    return {
        "perturbed": outcome_object(second),
        "robustness": robustness_object(found_robust(first, second, store)),
    }
