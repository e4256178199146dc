"""What became of planted faults: which were blamed, which were found inside, and what was named for nothing."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from planted_faults import Fault
from proctor.reports.analysis.findings import AblatedAnswer
from proctor.reports.statistics.intervals import wilson

COLUMNS = (
    "fault", "faults", "turned an answer wrong", "answers turned", "blame: recall", "blame: precision",
    "finding: recall", "finding: precision", "causes", "found as",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A wrong answer to the question of a fault, marked by a metric, and what was said of it."""

    made: str
    fault: Fault
    metric: str
    answer: AblatedAnswer
    was_right: bool

    @property
    def others(self) -> tuple[str, ...]:
        """The documents that are wrongly blamed: those that are not the fault, of an answer that it turned wrong.

        An answer that was wrong before may still have come to say what was planted. Where it has not, the fault is
        the one that is wrongly blamed.
        """
        planted = self.fault.planted
        if self.was_right:
            return tuple(one for one in self.answer.documents if one != planted)
        return (planted,) if self.is_found and self.fault.wrong not in self.answer.answer else ()

    @property
    def is_found(self) -> bool:
        """Whether the planted document is among those blamed."""
        return self.fault.planted in self.answer.documents


@dataclass(frozen=True)
class Result:
    """A copy of a set with faults: their answers, and what was found inside.

    Attributes:
        made: name of the set.
        faults: all that were planted.
        cases: the answers that are wrong with them in it.
        found: by fault, the kinds of findings that name it.
        named: of the findings that are not there without the faults, whether each names one.
    """

    made: str
    faults: tuple[Fault, ...]
    cases: tuple[Case, ...]
    found: dict[Fault, tuple[str, ...]]
    named: tuple[tuple[str, str, bool], ...]  # kind of fault, shape or blank, right


Key = tuple[str, str, str, str]


def key(made: str, fault: Fault) -> Key:
    """One fault is the same however often it is drawn, and whichever bots fall for it."""
    return made, fault.kind, fault.shape, fault.target.key


def line(name: str, results: Sequence[Result], of: Iterable[Key], metric: str = "", bot: str = "") -> list[object]:
    """A line of the table over some distinct faults, which are right where all that is said of them is."""
    wanted = set(of)
    cases = [
        case
        for result in results
        for case in result.cases
        if key(case.made, case.fault) in wanted and metric in ("", case.metric) and bot in ("", case.answer.bot)
    ]
    turned = by_fault(case for case in cases if case.was_right)
    planted = [ones for ones in turned.values() if ones[0].fault.planted]
    attributed = by_fault(case for case in cases if case.answer.documents and (case.was_right or case.is_found))
    found, whole = found_of(results, wanted), not (metric or bot)
    return [
        name, len(found), len(turned), sum(map(len, turned.values())),
        share([all(case.is_found for case in ones) for ones in planted]),
        share([not any(case.others for case in ones) for ones in attributed.values()]),
        share([all(kinds) for kinds in found.values()]) if whole else "",
        share(named_of(results, wanted)) if whole else "",
        listed(Counter(case.answer.cause for case in cases if case.was_right)),
        listed(Counter(kind for each in found.values() for kinds in each for kind in kinds)) if whole else "",
    ]  # fmt: skip


def found_of(results: Iterable[Result], wanted: Collection[Key]) -> dict[Key, list[tuple[str, ...]]]:
    """The kinds of findings that name each of the faults, each time that it was planted."""
    found: dict[Key, list[tuple[str, ...]]] = {}
    for result in results:
        for fault in result.faults:
            if (each := key(result.made, fault)) in wanted:
                found.setdefault(each, []).append(result.found[fault])
    return found


def named_of(results: Iterable[Result], wanted: Collection[Key]) -> list[bool]:
    """Whether each new finding names a fault, in the copies that the faults are from."""
    sets, shapes = {each[0] for each in wanted}, {each[1:3] for each in wanted}
    kinds = {kind for kind, _ in shapes}
    return [
        right
        for result in results
        for kind, shape, right in result.named
        if result.made in sets and ((kind, shape) in shapes or (kind in kinds and not shape))
    ]


def by_fault(cases: Iterable[Case]) -> dict[Key, list[Case]]:
    """The cases of each distinct fault."""
    made: dict[Key, list[Case]] = {}
    for case in cases:
        made.setdefault(key(case.made, case.fault), []).append(case)
    return made


def share(right: Sequence[bool]) -> str:
    """A share with Wilson's 95 % interval."""
    if not right:
        return "-"
    low, high = wilson(sum(right) / len(right), len(right))
    return f"{sum(right) / len(right):.3f} [{low:.3f}, {high:.3f}] of {len(right)}"


def listed(counts: Counter[str]) -> str:
    """Counts, the greatest first."""
    return ", ".join(f"{what} {count}" for what, count in counts.most_common())
