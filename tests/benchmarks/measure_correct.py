"""``correct`` beside human verdicts, as users get it, and whether its probability is calibrated.

Run: python tests/benchmarks/measure_correct.py [--rows N] [--fit] [--write] [SET ...]
Sets: evouna, nq301, efficientqa, student_answers, haluquestqa (which has no expected answers, so no value), and where
they are named "written" and "tricky": answers kept back of those written for the support model's training, as they
come, and such that the words they share with the expected one tell nothing. No person has judged these.

Reads the development halves beside the checkout (../shared/data) in place. The value is ``correct`` of each row as a
run makes it by the embedded judge: abstention by the answer's words, else the judge's probability against every
accepted answer, decided at .5. A row without a value counts as one that disagrees. "Floor" decides by token F1 at .5.
Intervals are of 95 %, from 1,000 resamples of whole questions with a fixed seed.

The reliability table is of probabilities "left out": bias and slope are fitted on the other sets, each set with the
same mass; so is the agreement "left out". The expected calibration error is over all sets, each with the same mass.
What of it is a base rate that no formula can know is seen from the second error: the slope is left out as before, and
the bias is what makes each set's mean right.
--fit prints by which bias and slope the log-odds as shipped (``CALIBRATION`` and what stands beside it, in
metrics/judge/embedded/correctness.py) would suit all sets better.
--write stores the agreement in agreement.json beside it, from which the page and METRICS.md have it.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from agreement import Figure, Floats, auroc, bootstrap, decided
from floors import token_f1
from labelled_data import ABSENT, DATA, Row, accepted, documents, open_embedder, read, sampled, score, table, values
from numpy.typing import NDArray
from proctor.knowledge.models.batching import BatchingEmbedder
from proctor.knowledge.models.support_model import SupportModel, open_support_model
from proctor.metrics import Facts
from proctor.metrics.judge.embedded import correctness
from proctor.metrics.judge.embedded.judge import EmbeddedJudge
from training.written_texts import written_answers

SETS: Final = ("evouna", "nq301", "efficientqa", "student_answers", "haluquestqa")
BINS: Final = 10
HALF: Final = 0.5
UNDECIDED: Final = -1e3  # log-odds of an answer that abstains, below all others
KINDS: Final = {
    "evouna": "answers of models to factual questions",
    "nq301": "answers of systems to search questions",
    "efficientqa": "near misses of systems",
    "student_answers": "answers of pupils in science",
}
GOAL: Final = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """A set: what people say, what ``correct`` says, and the log-odds behind its probability (nan where none is)."""

    name: str
    yes: NDArray[np.bool_]
    groups: NDArray[np.intp]
    value: Floats
    odds: Floats
    floor: Floats


def facts_of(row: Row, judge: EmbeddedJudge, expected: Sequence[str]) -> Facts:
    return {"question": row["question"], "answer": row["answer"], "expected_answers": expected, "judge": judge}


def labelled(name: str) -> list[Row]:
    """The rows of a set that have an expected answer and a verdict."""
    if name not in ("written", "tricky"):
        return [row for row in read(name) if row["label"].get("correct") is not None and row["expected_answer"]]
    return [
        {"question": asked["question"], "expected_answer": asked["expected"], "answer": answer,
         "label": {"correct": bool(right)}, "family": asked["family"]}
        for asked in written_answers(kept_back=True)
        if asked["kind"].startswith("natural") == (name == "written")
        for answer, right in asked["answers"]
    ]  # fmt: skip


def measure(name: str, rows: Sequence[Row], embedder: BatchingEmbedder, model: SupportModel) -> Measured:
    judge = EmbeddedJudge(embedder, model=model)
    made = score([facts_of(row, judge, accepted(row)) for row in rows], ["correct"], embedder)["correct"]
    likely = values(made, "probability")  # of several accepted answers it is that of the one that decided
    several = [(place, row) for place, row in enumerate(rows) if len(accepted(row)) > 1]
    pairs = [(place, text) for place, row in several for text in dict.fromkeys(accepted(row))]
    alone = score([facts_of(rows[place], judge, [text]) for place, text in pairs], ["correct"], embedder)["correct"]
    for (place, _), found in zip(pairs, values(alone, "probability"), strict=True):
        likely[place] = np.fmax(likely[place], found)
    logit = np.log(np.clip(likely, 1e-6, 1 - 1e-6) / (1 - np.clip(likely, 1e-6, 1 - 1e-6)))
    return Measured(
        name,
        np.array([row["label"]["correct"] for row in rows], dtype=np.bool_),
        documents(rows, lambda row: row.get("family") or row["question"]),
        values(made),
        logit,
        np.array([token_f1(row["answer"], accepted(row)) for row in rows]),
    )


def agreement(one: Measured) -> Figure:
    """Share of the answers on which the metric says what people say; one without a value is none of them."""
    same = ((one.value == 1) == one.yes) & np.isfinite(one.value)
    return bootstrap(lambda rows: float(same[rows].mean()), one.groups)


def left_out_line(one: Measured, sets: Sequence[Measured]) -> str:
    """The same with the calibration of the other sets; where no judge decides the value stays."""
    likely = probabilities(one, fitted([other for other in sets if other is not one]))
    said = np.where(np.isfinite(likely), likely >= HALF, one.value == 1)
    return f"{float((said == one.yes).mean()):.3f}"


def agreement_line(one: Measured, sets: Sequence[Measured]) -> tuple[object, ...]:
    said = one.value == 1
    balanced = bootstrap(lambda rows: decided(said[rows], one.yes[rows]).balanced, one.groups)
    scores = np.nan_to_num(one.odds, nan=UNDECIDED)
    area = bootstrap(lambda rows: auroc(scores[rows], one.yes[rows]), one.groups)
    floor = f"{float(((one.floor >= HALF) == one.yes).mean()):.3f}"
    left_out = left_out_line(one, sets) if len(sets) > 1 else ""
    counts = (len(one.yes), one.groups.max() + 1, f"{one.yes.mean():.0%}", f"{said.mean():.0%}")
    return one.name, *counts, floor, agreement(one), left_out, balanced, area


def fitted(sets: Sequence[Measured]) -> Floats:
    """Bias and slope of the likeliest logistic curve; each set has the same mass."""
    from scipy.optimize import minimize

    odds, yes, mass = joined(sets)

    def loss(tried: Floats) -> float:
        margin = np.where(yes, 1, -1) * (tried[0] + tried[1] * odds)
        return float((mass * np.logaddexp(0, -margin)).sum())

    return np.asarray(minimize(loss, np.array([0.0, 0.5])).x)


def rated(one: Measured, sets: Sequence[Measured]) -> Floats:
    """Probabilities by the slope that the other sets have together, and the bias of this set's own share of right."""
    from scipy.optimize import brentq

    slope = fitted([other for other in sets if other is not one])[1]
    known = np.isfinite(one.odds)

    def excess(bias: float) -> float:
        return float((probabilities(one, np.array([bias, slope]))[known] - one.yes[known]).mean())

    return probabilities(one, np.array([brentq(excess, -20, 20), slope]))


def joined(sets: Sequence[Measured]) -> tuple[Floats, NDArray[np.bool_], Floats]:
    """Log-odds, labels and mass of the rows that the judge decides."""
    known = [np.isfinite(one.odds) for one in sets]
    odds = np.concatenate([one.odds[rows] for one, rows in zip(sets, known, strict=True)])
    yes = np.concatenate([one.yes[rows] for one, rows in zip(sets, known, strict=True)])
    mass = np.concatenate([np.full(rows.sum(), 1 / rows.sum()) for rows in known]) / len(sets)
    return odds, yes, mass


def probabilities(one: Measured, weights: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-(weights[0] + weights[1] * one.odds))))


def reliability(sets: Sequence[Measured]) -> None:
    """The table, and the expected calibration error, of each set by the curve of the others."""
    likely = [probabilities(one, fitted([other for other in sets if other is not one])) for one in sets]
    known = [np.isfinite(one.odds) for one in sets]
    lines, error = binned(likely, sets)
    table(("probability, left out", "rows", "mean said", "share right by people"), lines)
    _, without = binned([rated(one, sets) for one in sets], sets)
    print(f"Expected calibration error, left out: {error:.3f}, goal {GOAL}; {without:.3f} were base rates known")
    for one, each, rows in zip(sets, likely, known, strict=True):
        print(f"  {one.name}: said {each[rows].mean():.3f}, right {one.yes[rows].mean():.3f}")


def binned(likely: Sequence[Floats], sets: Sequence[Measured]) -> tuple[list[tuple[object, ...]], float]:
    """Lines of the table, and the expected calibration error."""
    _, yes, mass = joined(sets)
    said = np.concatenate([each[np.isfinite(one.odds)] for one, each in zip(sets, likely, strict=True)])
    bins = np.minimum((said * BINS).astype(int), BINS - 1)
    lines: list[tuple[object, ...]] = []
    error = 0.0
    for one in range(BINS):
        inside = bins == one
        if not inside.any():
            continue
        weight = mass[inside].sum()
        said_mean, found = ((mass * each)[inside].sum() / weight for each in (said, yes))
        error += weight * abs(said_mean - found)
        lines.append((f"{one / BINS:.1f} to {(one + 1) / BINS:.1f}", inside.sum(), f"{said_mean:.2f}", f"{found:.2f}"))
    return lines, error


def main() -> None:
    if not DATA.is_dir():
        sys.exit(ABSENT)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET", help=", ".join(SETS))
    parser.add_argument("--rows", type=int, default=1_000_000, help="at most so many of each set, by a fixed seed")
    parser.add_argument("--fit", action="store_true", help="print bias and slope that all sets would add")
    parser.add_argument("--write", action="store_true", help="store the agreement for the page and METRICS.md")
    given = parser.parse_args()
    embedder, model = open_embedder(), open_support_model()
    found = []
    for name in given.sets or SETS:
        rows = labelled(name)
        if not rows:
            print(f"{name}: no row has an expected answer and a verdict, so `correct` has no value\n", flush=True)
            continue
        found.append(measure(name, sampled(rows, given.rows), embedder, model))
    embedder.close()
    model.close()
    columns = (
        "set",
        "rows",
        "questions",
        "right by people",
        "right by us",
        "floor",
        "agreement",
        "left out",
        "balanced",
    )
    table((*columns, "AUROC"), [agreement_line(one, found) for one in found])
    if len(found) > 1:
        reliability(found)
    if given.write:
        made = [
            {"set": one.name, "what": KINDS[one.name], "rows": len(one.yes), "questions": int(one.groups.max()) + 1,
"agreement": [round(end, 4) for end in (figure.value, figure.low, figure.high)]}
            for one in found
            if one.name in KINDS
            for figure in [agreement(one)]
        ]  # fmt: skip
        place = Path(correctness.__file__).with_name("agreement.json")
        place.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
    if given.fit:
        bias, slope = fitted(found)
        print(
            f"Log-odds as shipped would be right with a bias of {bias:.3f} and a slope of {slope:.3f}: 0 and 1 at best"
        )


if __name__ == "__main__":
    main()
