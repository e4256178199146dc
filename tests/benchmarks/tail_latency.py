"""How often the interval of the ratio of 95th percentiles holds the truth, where it is told: goal 93 to 97.

Run: python tests/benchmarks/tail_latency.py [samples] (3 minutes with 300; the same table every time)
"""

import sys

import numpy as np
from proctor.reports.statistics.latency import latency_difference
from statistics_layouts import SEED, layouts

KINDS = {"questions alike": (0.0, 0.0, 0.7), "documents alike": (0.4, 0.3, 0.4), "3 of 100 tenfold": (0.2, 0.2, 0.3)}


def main(samples: int) -> None:
    print(f"{'layout':22}{'kind':18}{'told':>6}{'p95':>7}{'p50':>7}  goal 93-97")
    for name, codes in layouts().items():
        for kind, (document, question, own) in KINDS.items():
            chance, held, medians = np.random.default_rng(SEED), [], []
            known = np.ones((len(codes), 1), bool)
            for _ in range(samples):
                common = document * chance.normal(size=codes.max() + 1)[codes] + question * chance.normal(
                    size=len(codes)
                )
                base, head = (np.exp(6 + common + own * chance.normal(size=len(codes))) for _ in range(2))
                if "tenfold" in kind:
                    base, head = (
                        operand * np.where(chance.random(len(codes)) < 0.03, 10, 1) for operand in (base, head)
                    )
                found = latency_difference(base[:, None], known, 1.3 * head[:, None], known, codes)
                for kept, ratio in ((held, found.p95), (medians, found.p50)):
                    if ratio.low is not None:
                        kept.append(ratio.low <= 1.3 <= ratio.high)
            shares = [f"{100 * np.mean(kept):7.1f}" if kept else f"{'-':>7}" for kept in (held, medians)]
            print(f"{name:22}{kind:18}{len(held) / samples:6.0%}{''.join(shares)}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
