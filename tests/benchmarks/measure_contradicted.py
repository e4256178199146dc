"""Whether the embedded judge calls those claims contradicted that are, and what ``faithful`` makes of it.

Run: python tests/benchmarks/measure_contradicted.py [--rows N]

"Flagged" is the share of the claims of each label that are called contradicted, "precision" that of those flagged which
are contradicted, if of ten claims eight are supported, one is contradicted and one is not mentioned. "Faithful" is the
balanced accuracy of ``faithful`` on answers of four claims that are drawn: all are supported, or one is not.
"Mean" is the same without the flag: the mean probability of the claims alone, from 0.75 on.
"""

import argparse
import asyncio
import sys
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from labelled_data import ABSENT, DATA, Row, open_embedder, read, sampled
from numpy.typing import NDArray
from proctor.knowledge.models.support_model import open_support_model
from proctor.metrics.judge.calls import CheckAnswer
from proctor.metrics.judge.embedded.judge import EmbeddedJudge
from training.written_texts import written_texts

SUPPORTED, CONTRADICTED, MISSING = LABELS = ("supported", "contradicted", "absent")
MIX: Final = (8, 1, 1)
DRAWN: Final = 20_000
CLAIMS: Final = 4
PASSES: Final = 0.75

Claims = list[tuple[str, tuple[str, ...], str]]  # claim, contexts and label
_SETS: Final[Mapping[str, Callable[[Row], str | None]]] = {
    "fever_symmetric": lambda row: SUPPORTED if row["label"]["consistent"] else CONTRADICTED,
    "cad_nli": lambda row: {"entailment": SUPPORTED, "contradiction": CONTRADICTED}.get(row["label"]["nli"], MISSING),
    "factcheckgpt_stance": lambda row: {
        "completely-support": SUPPORTED,
        "refute": CONTRADICTED,
        "irrelevant": MISSING,
    }.get(row["label"]["stance"]),
}


def claims(name: str) -> Claims:
    """The claims of a set that have one of the labels."""
    if name == "written":
        return [
            (claim, (text["text"],), label) for text in written_texts(kept_back=True) for claim, label in text["claims"]
        ]
    told = [(row, _SETS[name](row)) for row in read(name)]
    return [(row["answer"], tuple(row["contexts"]), label) for row, label in told if label]


def line(name: str, found: Claims, judge: EmbeddedJudge) -> tuple[object, ...]:
    """What is reported of a set."""

    async def ask_all() -> list[tuple[float, bool]]:
        calls = [CheckAnswer("What is said?", contexts, (claim,)) for claim, contexts, _ in found]
        said = [(await judge.ask(call)).claims[0] for call in calls]
        return [(one.probability, one.contradicted) for one in said]

    likely, flagged = map(np.array, zip(*asyncio.run(ask_all()), strict=True))
    label = np.array([label for *_, label in found])
    of_each = {one: np.flatnonzero(label == one) for one in LABELS}
    shares = [flagged[of_each[one]].mean() if len(of_each[one]) else 0.0 for one in LABELS]
    weighed = np.array(MIX) * shares
    figures = [_balanced(likely, flagged & uses, of_each) for uses in (True, False)]
    counts = " / ".join(str(len(of_each[one])) for one in LABELS)
    flags = " / ".join(f"{share:.3f}" for share in shares)
    return name, counts, flags, f"{weighed[1] / max(weighed.sum(), 1e-9):.2f}", *(f"{one:.3f}" for one in figures)


def _balanced(likely: NDArray[np.float64], flagged: NDArray[np.bool_], of_each: dict[str, NDArray[np.intp]]) -> float:
    """Balanced accuracy, by a fixed seed."""
    random = np.random.default_rng(0)

    def passing(last: str) -> float:
        rows = [random.choice(of_each[one], DRAWN) for one in (*[SUPPORTED] * (CLAIMS - 1), last)]
        return float(((np.mean(likely[rows], axis=0) >= PASSES) & ~flagged[rows].any(axis=0)).mean())

    wrong = [passing(one) for one in (CONTRADICTED, MISSING) if len(of_each[one])]
    return (passing(SUPPORTED) + 1 - float(np.mean(wrong))) / 2


def main() -> None:
    """Print a line for each set."""
    if not DATA.is_dir():
        sys.exit(ABSENT)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=400, help="at most of each set, by a fixed seed")
    count = parser.parse_args().rows
    embedder, model = open_embedder(), open_support_model(threads=1)
    judge = EmbeddedJudge(embedder, model=model)
    print(
        "| set | supported / contradicted / absent | flagged | precision | faithful | mean |\n|---|---|---|---|---|---|"
    )
    for name in ("written", *_SETS):
        found = line(name, sampled(claims(name), count), judge)  # type: ignore[type-var]
        print(f"| {' | '.join(map(str, found))} |", flush=True)
    embedder.close()
    model.close()


if __name__ == "__main__":
    main()
