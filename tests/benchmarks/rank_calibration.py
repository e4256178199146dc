"""How often the bot that `rank` says is best with 95 or more of 100 is the best: goal no less than is said, less 3.

Run: python tests/benchmarks/rank_calibration.py [runs] (2 minutes with 400; the same table every time)

True means differ by half to four standard errors of a mean. Of two bots whose spread is known, odds that presume
nothing say .990 there and are right in .966; two documents say .976 and are right in .917, which is why they give none.
With 4,000 runs, two bots and three bots: three documents .980 and .952, .975 and .954; four .983 and .960, .979 and
.965; five .985 and .965, .982 and .973. What a table of 400 runs has beyond that is chance (.01 to .03 a line).
"""

import sys

import numpy as np
from proctor.reports.ranking.ranking import Goodness, rank
from statistics_layouts import layouts


def main(runs: int) -> None:
    print(f"{'layout':22}{'bots':>5}{'said >= .95':>13}{'mean said':>11}{'right':>8}")
    for name, codes in layouts().items():
        for bots in (2, 3, 5):
            said, right = [], []
            error = 0.3 * np.sqrt((1 + 0.3 * ((np.bincount(codes) ** 2).sum() / len(codes) - 1)) / len(codes))
            for run in range(runs):
                chance = np.random.default_rng(run * 7 + bots)
                truth = chance.normal(0, (0.5, 1, 2, 4)[run % 4] * error, bots)
                alike = np.sqrt(0.3) * chance.normal(size=(codes.max() + 1, bots))[codes]
                own = np.sqrt(0.7) * chance.normal(size=(len(codes), bots))
                found = rank(Goodness(tuple("abcde"[:bots]), truth + 0.3 * (alike + own), codes), draws=1_000)
                if found.best.max() >= 0.95:
                    said.append(found.best.max())
                    right.append(found.best.argmax() == truth.argmax())
            share = f"{np.mean(said):11.3f}{np.mean(right):8.3f}" if said else f"{'-':>11}{'-':>8}"
            print(f"{name:22}{bots:5}{len(said) / runs:13.2f}{share}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
