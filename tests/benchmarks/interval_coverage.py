"""How often the 95 % interval of a mean holds the truth, by layout, likeness, kind of score and mean: goal 93 to 97.

Run: python tests/benchmarks/interval_coverage.py [samples] (2 minutes with 2,000; the same table every time)
"""

import sys

import numpy as np
from proctor.reports.compare.scores import clustered_mean
from statistics_layouts import SEED, layouts, scores


def main(samples: int) -> None:
    inside = known = 0
    print(f"{'layout':22}{'kind':8}{'alike':>6}{'mean':>6}{'held':>7}  goal 93-97")
    for name, codes in layouts().items():
        alone = len(codes) == codes.max() + 1
        for yes_no in (True, False):
            for alike in (0.0,) if alone else (0.1, 0.3, 0.6):
                for mean in (0.5, 0.8, 0.95):
                    drawn = scores(np.random.default_rng(SEED), samples, codes, mean, alike, yes_no)
                    found = [clustered_mean(values, codes, 0, 1) for values in drawn]
                    head = f"{name:22}{'yes/no' if yes_no else 'score':8}{alike:6.1f}{mean:6.2f}"
                    if found[0].low is None:
                        print(f"{head}      -  not told: {found[0].no_interval}")
                        continue
                    held = 100 * np.mean([each.low <= mean <= each.high for each in found])
                    known, inside = known + 1, inside + (93 <= held <= 97)
                    print(f"{head}{held:7.1f}{'' if 93 <= held <= 97 else '  narrow' if held < 93 else '  wide'}")
    print(f"within 93 to 97: {inside} of {known} that are told")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
