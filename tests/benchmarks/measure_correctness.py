"""The embedded judge's word on answers against human verdicts, beside lexical floors and published systems.

Run: python tests/benchmarks/measure_correctness.py [--rows N] [--fit] [SET ...]
Sets: evouna, nq301, efficientqa, student_answers.

Reads the development halves beside the checkout (../shared/data) in place. The weights of the shares were fitted on
the questions of evouna and student_answers whose CRC-32 is even ("chosen on"). The other questions of these sets, and
all of nq301 and efficientqa, had no part in the fit; but their figures were in view while the signals were designed and
the weights of what contradicts were set, so they are free of fitting and not of sight. Every accepted answer is tried,
and the best counts, as in a run.

"Decision" is the log-odds that the answer says what is expected (the mean over the expected claims), decided at 0;
"answer_correctness" the whole metric, decided at its threshold of 0.75, and at a threshold chosen on four fifths of the
questions for the last fifth. Intervals are of 95 %, from 1,000 resamples of whole questions with a fixed seed; "to the
floor" is the difference of AUROC to token F1 on the same rows. --fit prints the weights that the chosen-on half asks
for, with those of what contradicts held fast.
"""

import argparse
import asyncio
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from agreement import Figure, Floats, auroc, bootstrap, cross_validated, decided
from floors import token_f1
from labelled_data import ABSENT, DATA, Row, accepted, documents, open_embedder, read, sampled, table
from numpy.typing import NDArray
from proctor.knowledge.models.batching import BatchingEmbedder
from proctor.metrics.judge.calls import CompareClaims
from proctor.metrics.judge.embedded.correctness import BASE, WEIGHTS, Match, agree, compare
from proctor.metrics.judge.verdicts import Agreement
from proctor.metrics.text import sentences

SETS: Final = ("evouna", "nq301", "efficientqa", "student_answers")
CHOSEN_ON: Final = ("evouna", "student_answers")
THRESHOLD: Final = 0.75
FIXED: Final = ("figure", "name", "negation", "opposite", "refusal")
PUBLISHED: Final = {"bem": "BEM", "gpt4": "GPT-4", "text_davinci_003": "text-davinci-003"}

Flags = NDArray[np.bool_]
Groups = NDArray[np.intp]


@dataclass(frozen=True)
class Judged:
    """What the judge says of one row, by the accepted answer that fits best.

    Attributes:
        decision: mean log-odds over the expected claims.
        value: ``answer_correctness``.
        signals: mean signals over the expected claims, of the accepted answer that ``decision`` is of.
        claims: how many claims were decided on, of all accepted answers.
    """

    decision: float
    value: float
    signals: Floats
    claims: int


async def judge_row(row: Row, embedder: BatchingEmbedder) -> Judged:
    tried = [one for one in dict.fromkeys(accepted(row)) if one.strip()]
    calls = [
        CompareClaims(one, row["answer"], sentences(row["answer"]), sentences(one), row["question"]) for one in tried
    ]
    said = await asyncio.gather(*(agree(call, embedder) for call in calls))
    matches = [(await compare(call, embedder)).covering for call in calls]
    whole = (await embedder.embed([row["answer"] or " ", *tried])).vectors
    values = [
        correctness(one, float(whole[0] @ vector)) if row["answer"].strip() else 0.0
        for one, vector in zip(said, whole[1:], strict=True)
    ]
    best = max(matches, key=log_odds)
    signals = np.mean([one.signals for one in best if one] or [np.zeros(len(WEIGHTS))], axis=0)
    decided_on = sum(len(one.answer_claims) + len(one.expected_claims) for one in said)
    return Judged(log_odds(best), max(values), signals, decided_on)


def log_odds(matches: Sequence[Match | None]) -> float:
    return float(np.mean([one.log_odds if one else BASE for one in matches]))


def correctness(said: Agreement, similarity: float) -> float:
    """``answer_correctness`` of the specification, 9."""
    right, covered = (
        [bool(one and one.holds) for one in claims] for claims in (said.answer_claims, said.expected_claims)
    )
    hits = sum(right)
    missed = len(right) - hits + len(covered) - sum(covered)
    return 0.75 * (hits / (hits + missed / 2) if hits else 0.0) + 0.25 * similarity


def judge_rows(rows: Sequence[Row], embedder: BatchingEmbedder) -> list[Judged]:
    async def judge_all() -> list[Judged]:
        in_flight = asyncio.Semaphore(64)

        async def judge_one(row: Row) -> Judged:
            async with in_flight:
                return await judge_row(row, embedder)

        return await asyncio.gather(*map(judge_one, rows))

    return asyncio.run(judge_all())


def chosen_on(row: Row) -> bool:
    return zlib.crc32(row["question"].encode("utf-8")) % 2 == 0


def measure(name: str, rows: Sequence[Row], judged: Sequence[Judged]) -> None:
    labels = np.array([row["label"]["correct"] for row in rows], dtype=np.bool_)
    groups = documents(rows, lambda row: row["question"])
    print(f"### {name}: {len(rows)} rows of {groups.max() + 1} questions, {labels.mean():.0%} right\n")
    floor = np.array([token_f1(row["answer"], accepted(row)) for row in rows])
    decision = np.array([one.decision for one in judged])
    value = np.array([one.value for one in judged])
    lines = [
        line("(floor: token F1)", floor, floor, cross_validated(floor, labels, groups), labels, groups),
        line("decision", decision, floor, decision >= 0, labels, groups),
        line("answer_correctness at 0.75", value, floor, value >= THRESHOLD, labels, groups),
        line(
            "answer_correctness, cross-validated", value, floor, cross_validated(value, labels, groups), labels, groups
        ),
    ]
    for system, shown in PUBLISHED.items():
        if system in rows[0]["label"].get("reference_systems", {}):
            said = np.array([row["label"]["reference_systems"][system] for row in rows], dtype=np.bool_)
            lines.append((f"(published: {shown})", "", "", *verdicts(said, labels, groups)))
    table(("", "AUROC", "to the floor", "accuracy / balanced / F1", "balanced"), lines)


def line(name: str, scores: Floats, floor: Floats, said: Flags, labels: Flags, groups: Groups) -> tuple[object, ...]:
    area = bootstrap(lambda rows: auroc(scores[rows], labels[rows]), groups)
    gained: object = ""
    if scores is not floor:
        gained = bootstrap(lambda rows: auroc(scores[rows], labels[rows]) - auroc(floor[rows], labels[rows]), groups)
    return (name, area, gained, *verdicts(said, labels, groups))


def verdicts(said: Flags, labels: Flags, groups: Groups) -> tuple[object, Figure]:
    return decided(said, labels), bootstrap(lambda rows: decided(said[rows], labels[rows]).balanced, groups)


def fit(rows: Sequence[Row], judged: Sequence[Judged]) -> None:
    """Weights of the shares by logistic regression; both sets and both verdicts count alike."""
    from scipy.optimize import minimize

    names = list(WEIGHTS)
    free = [place for place, name in enumerate(names) if name not in FIXED]
    fixed = np.array([WEIGHTS[name] if name in FIXED else 0.0 for name in names])
    signals = np.stack([one.signals for one in judged])
    labels = np.array([row["label"]["correct"] for row in rows], dtype=np.bool_)
    kinds = [(row["source"], row["label"]["correct"]) for row in rows]
    weights = np.array([1 / kinds.count(kind) for kind in kinds])

    def loss(given: Floats) -> float:
        odds = signals[:, free] @ given[:-1] + given[-1] + signals @ fixed
        return float(weights @ np.logaddexp(0, np.where(labels, -odds, odds)) + 5e-4 * given[:-1] @ given[:-1])

    found = minimize(loss, np.array([*(WEIGHTS[names[place]] for place in free), BASE])).x
    print("fitted:", {names[place]: round(float(one), 2) for place, one in zip(free, found, strict=False)}, end=" ")
    print(f"base: {found[-1]:.2f}; shipped: {[WEIGHTS[names[place]] for place in free]} {BASE}\n")


def parts(name: str, rows: Sequence[Row]) -> dict[str, Callable[[Row], bool]]:
    if name not in CHOSEN_ON:
        return {f"{name}, no part in the fit": lambda row: True}
    return {f"{name}, chosen on": chosen_on, f"{name}, no part in the fit": lambda row: not chosen_on(row)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET", help=", ".join(SETS))
    parser.add_argument("--rows", type=int, default=sys.maxsize, help="at most so many of each set, by a fixed seed")
    parser.add_argument("--fit", action="store_true", help="print the weights that the chosen-on half asks for")
    given = parser.parse_args()
    if unknown := [name for name in given.sets if name not in SETS]:
        parser.error(f"there is no set {unknown[0]!r}; there are {', '.join(SETS)}")
    if not DATA.is_dir():
        print(ABSENT)
        return
    embedder = open_embedder()
    print(f"Embedder: {embedder.model_id}. No entailment model.\n")
    kept: list[tuple[Row, Judged]] = []
    for name in given.sets or SETS:
        rows = sampled([row for row in read(name) if row["label"]["correct"] is not None], given.rows)
        began = time.perf_counter()
        judged = judge_rows(rows, embedder)
        took = time.perf_counter() - began
        for part, belongs in parts(name, rows).items():
            pairs = [(row, one) for row, one in zip(rows, judged, strict=True) if belongs(row)]
            measure(part, *map(list, zip(*pairs, strict=True)))
        claims = sum(one.claims for one in judged)
        print(
            f"({name}: {claims} claims in {took:.0f} s, embedding included: {claims / took:.0f} claims/s)\n", flush=True
        )
        if name in CHOSEN_ON:
            kept += [(row, one) for row, one in zip(rows, judged, strict=True) if chosen_on(row)]
    if given.fit and kept:
        fit(*map(list, zip(*kept, strict=True)))
    embedder.close()


if __name__ == "__main__":
    main()
