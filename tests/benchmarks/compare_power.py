"""How often `compare` finds a difference, against the best valid test: power within 3 points of it, false alarms <= 5.

Run: python tests/benchmarks/compare_power.py [samples] (2 minutes with 1,000; the same table every time)

The best test is Student's t on document means for scores of equal documents, and McNemar's mid-p for yes/no questions
alone, which is compared with the score test. Then the power that `plan` promises for 80, planned from a pilot.
"""

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from paired_samples import Draw, alone, equal, mostly_none, normal, yes_no, yes_no_mean
from proctor.reports.statistics.paired import difference
from proctor.reports.statistics.power import spread_of_pairs
from scipy.stats import norm, ttest_1samp

PILOTS = 12


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


def plans() -> Iterator[tuple[str, int, int, float, object, bool]]:
    """Name, questions of the pilot, questions a document, loss, what draws it, and whether it is yes or no."""
    yield "score, alone", 200, 1, 0.05, lambda codes: normal(codes, 0, -0.05, 0.2), False
    for alike in (0.1, 0.4):
        yield (
            f"score, documents of 10, alike {alike}",
            300,
            10,
            0.08,
            lambda c, a=alike: normal(c, a, -0.08, 0.2),
            False,
        )
    yield "score, one in ten changes", 200, 1, 0.04, lambda codes: mostly_none(codes, 0.1, 0.9), False
    yield "yes/no, 5 gained, 10 lost", 200, 1, 0.05, lambda codes: yes_no(codes, 0.05, 0.1), True
    yield "yes/no, 10 gained, 20 lost", 200, 1, 0.1, lambda codes: yes_no(codes, 0.1, 0.2), True
    yield "yes/no, none gained, 5 lost", 200, 1, 0.05, lambda codes: yes_no(codes, 0, 0.05), True
    for gained, lost, alike in ((0.05, 0.15, 0.2), (0.1, 0.2, 0.1)):
        loss = -yes_no_mean(gained, lost, alike)
        name = f"yes/no, documents of 10, alike {alike}"
        yield name, 300, 10, loss, lambda c, g=gained, m=lost, a=alike: yes_no(c, g, m, a), True


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
    print(f"\n{'plan for 80':42}{'found':>8}  goal 77-83")
    for name, questions, size, loss, draw, binary in plans():
        powers = []
        for pilot in range(PILOTS):
            codes = np.arange(questions) // size
            values = draw(codes)(np.random.default_rng(100 + pilot), 1)[0]
            spread = spread_of_pairs(np.zeros((questions, 1)), values[:, None], codes)
            planned = np.arange(math.ceil(spread.questions_needed(loss) / size) * size) // size
            drawn = draw(planned)(np.random.default_rng(pilot), max(samples // 10, 20))
            powers.append(found(drawn, planned, binary))
        print(f"{name:42}{np.mean(powers):8.1f}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
