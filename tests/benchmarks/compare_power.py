"""How often `compare` finds a difference, against the best valid test: power within 3 points of it, false alarms <= 5.

Run: python tests/benchmarks/compare_power.py [samples] (3 minutes with 1,000; the same table every time)

The best test is Student's t on document means for scores of equal documents, and McNemar's mid-p for yes/no questions
alone, which is compared with the score test. Then the power that `plan` promises for 80, planned from a pilot: the mean
over 300 pilots, each by the power that so many questions have, which is drawn at seven sizes and read between them. The
last four cases were added when `plan` had been settled by the others.
"""

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from paired_samples import Draw, alone, equal, mostly_none, normal, yes_no, yes_no_mean
from proctor.reports.statistics.paired import difference
from proctor.reports.statistics.power import spread_of_pairs
from scipy.stats import norm, ttest_1samp

PILOTS = 300
SIZES = (0.4, 0.6, 0.8, 1.0, 1.25, 1.6, 2.2)  # times what the normal approximation takes


def found(values: np.ndarray, codes: np.ndarray, binary: bool) -> float:
    """Of 100 samples, those of which a comparison of one metric says better or worse."""
    made = [difference(np.maximum(-row, 0), np.maximum(row, 0), codes, 0, 1, binary) for row in values]
    shown = [each for each in made if each.low is not None and not each.low <= 0 <= each.high]
    return 100 * sum(each.p_to_correct <= 0.05 for each in shown) / len(made)


def best(values: np.ndarray, codes: np.ndarray, binary: bool) -> float:
    if binary and len(codes) == codes.max() + 1:
        gained, lost = (values > 0).sum(axis=1), (values < 0).sum(axis=1)
        return float(100 * np.mean(2 * norm.sf(np.abs(gained - lost) / np.sqrt(np.maximum(gained + lost, 1))) <= 0.05))
    means = values.reshape(len(values), codes.max() + 1, -1).mean(axis=2)
    return float(100 * np.mean(np.nan_to_num(ttest_1samp(means, 0, axis=1).pvalue, nan=1.0) <= 0.05))


def cases() -> Iterator[tuple[str, np.ndarray, Draw, Draw, bool]]:
    for documents in (6, 10, 20, 30):
        codes = equal(documents, 10)
        for alike in (0.1, 0.4):
            loss = 2.9 * 0.2 * math.sqrt((1 + 9 * alike) / len(codes))
            name = f"score, {documents} documents of 10, alike {alike}"
            yield name, codes, normal(codes, alike), normal(codes, alike, -loss), False
        name = f"yes/no, {documents} documents of 10"
        yield name, codes, yes_no(codes, 0.1, 0.1, 0.2), yes_no(codes, 0.05, 0.2, 0.2), True
    for count in (30, 60, 100, 200):
        codes, loss = alone(count), 2.8 * 0.2 / math.sqrt(count)
        yield f"score, {count} alone", codes, normal(codes, 0), normal(codes, 0, -loss), False
        lost = 0.05 + 0.84 / math.sqrt(count)
        yield f"yes/no, {count} alone", codes, yes_no(codes, 0.05, 0.05), yes_no(codes, 0.05, lost), True


@dataclass(frozen=True)
class PlanCase:
    """What is planned for, from a pilot of so many questions: how to draw it, and the pilot where that is another."""

    name: str
    questions: int
    size: int  # questions a document
    loss: float
    draw: Callable[[np.ndarray], Draw]
    binary: bool = False
    pilot: Callable[[np.ndarray], Draw] | None = None


def plans() -> Iterator[PlanCase]:
    yield PlanCase("score, alone", 200, 1, 0.05, lambda codes: normal(codes, 0, -0.05, 0.2))
    for alike in (0.1, 0.4):
        draw = partial(normal, likeness=alike, mean=-0.08, deviation=0.2)
        yield PlanCase(f"score, documents of 10, alike {alike}", 300, 10, 0.08, draw)
    yield PlanCase("score, one in ten changes", 200, 1, 0.04, lambda codes: mostly_none(codes, 0.1, 0.9))
    for gained, lost in ((0.05, 0.1), (0.1, 0.2), (0.0, 0.05)):
        draw = partial(yes_no, gained=gained, lost=lost)
        yield PlanCase(f"yes/no, {gained:.0%} gained, {lost:.0%} lost", 200, 1, lost - gained, draw, True)
    for gained, lost, alike in ((0.05, 0.15, 0.2), (0.1, 0.2, 0.1)):
        draw = partial(yes_no, gained=gained, lost=lost, likeness=alike)
        loss = -yes_no_mean(gained, lost, alike)
        yield PlanCase(f"yes/no, documents of 10, alike {alike}", 300, 10, loss, draw, True)
    yield PlanCase("score, one in twenty, all lose", 200, 1, 0.025, lambda codes: mostly_none(codes, 0.05, 1.0))
    yield PlanCase("yes/no, 1% gained, 6% lost", 200, 1, 0.05, lambda codes: yes_no(codes, 0.01, 0.06), True)
    draw, equals = partial(yes_no, gained=0.05, lost=0.1), partial(yes_no, gained=0.05, lost=0.05)
    yield PlanCase("yes/no, 5% gained, 10% lost, none in the pilot", 200, 1, 0.05, draw, True, equals)
    draw = partial(yes_no, gained=0.02, lost=0.1, likeness=0.3)
    yield PlanCase("yes/no, documents of 5, alike 0.3", 200, 5, -yes_no_mean(0.02, 0.1, 0.3), draw, True)


def power_of_plan(case: PlanCase, samples: int) -> float:
    """Mean power, in per cent, of the plans of many pilots."""
    codes = np.arange(case.questions) // case.size
    spread = case.draw(codes)(np.random.default_rng(5), 2_000).mean(axis=1).std() * math.sqrt(case.questions)
    wanted = (2.8 * spread / case.loss) ** 2
    sizes, powers = [], []
    for part in SIZES:
        made = np.arange(math.ceil(wanted * part / case.size) * case.size) // case.size
        drawn = case.draw(made)(np.random.default_rng(round(100 * part)), samples)
        sizes.append(len(made))
        powers.append((samples * found(drawn, made, case.binary) / 100 + 0.5) / (samples + 1))
    told = [(size, power) for size, power in zip(sizes, powers, strict=True) if 0.02 < power < 0.995]
    curve = np.polyfit(np.sqrt([size for size, _ in told]), norm.ppf([power for _, power in told]), 2)
    pilots = (case.pilot or case.draw)(codes)(np.random.default_rng(77), PILOTS)
    spreads = [spread_of_pairs(np.zeros((case.questions, 1)), values[:, None], codes) for values in pilots]
    planned = np.array([math.ceil(each.questions_needed(case.loss) / case.size) * case.size for each in spreads])
    return float(100 * norm.cdf(np.polyval(curve, np.sqrt(np.clip(planned, told[0][0], told[-1][0])))).mean())


def main(samples: int) -> None:
    print(f"{'compare':42}{'none there':>11}{'<= 5':>6}{'found':>8}{'best':>7}{'short':>7}  goal: short by 3 at most")
    for name, codes, none, some, binary in cases():
        drawn, moved = (draw(np.random.default_rng(1), samples) for draw in (none, some))
        alarms, power, most = found(drawn, codes, binary), found(moved, codes, binary), best(moved, codes, binary)
        short = most - power
        print(
            f"{name:42}{alarms:11.1f}{'' if alarms <= 5 else ' above':>6}{power:8.1f}{most:7.1f}{short:7.1f}",
            flush=True,
        )
    print(f"\n{'plan for 80':48}{'found':>8}  goal 77-83")
    for case in plans():
        power = power_of_plan(case, max(samples // 2, 50))
        print(f"{case.name:48}{power:8.1f}{'' if 77 <= power <= 83 else '  MISSED'}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
