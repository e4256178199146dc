"""Power of the gate's rule: in how many of 100 runs it says "not worse" or "regressed", by questions and true loss.

Run: python tests/benchmarks/power_curves.py (half a minute; the same table every time)
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from gate_rule import Verdicts, verdicts
from paired_samples import Draw, Source, alone, mostly_none, normal, yes_no

SIZES = (30, 60, 100, 200, 300, 500)
LOSSES = (0.0, 0.05, 0.1)
MARGIN = 0.03
SAMPLES = 300
SEED = 20261121


def shifted(draw: Draw, loss: float) -> Draw:
    """One question in three loses three times as much, so that the mean loses ``loss``."""

    def moved(chance: np.random.Generator, samples: int) -> np.ndarray:
        values = draw(chance, samples)
        return values - 3 * loss * (chance.random(values.shape) < 1 / 3)

    return moved


def documents(questions: int) -> np.ndarray:
    """Ten questions of each document."""
    return np.arange(questions) // 10


def kinds(questions: int, loss: float) -> Iterator[tuple[str, Source]]:
    """Metrics of the kinds that runs have, with a true loss."""
    codes, by_document = alone(questions), documents(questions)

    def kind(name: str, draw: Draw, clusters: np.ndarray = codes, binary: bool = False) -> tuple[str, Source]:
        return name, Source(name, clusters, -loss, draw, binary)

    yield kind("score, spread 0.2", normal(codes, 0, -loss, 0.2))
    alike = normal(by_document, 0.22, -loss, 0.2)
    yield kind("score, spread 0.2, ten questions a document, correlated by 0.22", alike, by_document)
    yield kind("score, one question in ten changes; one in three loses", shifted(mostly_none(codes, 0.1, 0.5), loss))
    yield kind("yes/no, 5 of 100 change either way, beside the loss", yes_no(codes, 0.05, 0.05 + loss), binary=True)
    yield kind("yes/no, 1 of 100 changes either way, beside the loss", yes_no(codes, 0.01, 0.01 + loss), binary=True)


def curve(kind: int, loss: float) -> tuple[str, list[Verdicts]]:
    """Verdicts of one kind by the number of questions."""
    made = [list(kinds(questions, loss))[kind] for questions in SIZES]
    return made[0][0], [verdicts([source], SAMPLES, MARGIN, SEED) for _, source in made]


def main() -> None:
    print(f"margin of harm {MARGIN}, one metric, {SAMPLES} samples each; of 100: not worse / regressed")
    for kind in range(len(list(kinds(30, 0.0)))):
        rows = [(loss, *curve(kind, loss)) for loss in LOSSES]
        print(f"\n{rows[0][1]}")
        print("  true loss" + "".join(f"{f'n = {questions}':>12}" for questions in SIZES))
        for loss, _, found in rows:
            cells = [f"{one.not_worse:.0f} / {one.regressed:.0f}" for one in found]
            print(f"  {loss:9.2f}" + "".join(f"{cell:>12}" for cell in cells))


if __name__ == "__main__":
    main()
