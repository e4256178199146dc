"""Preference beside people: the embedded judge on labelled pairs, and the statistics on simulated judges.

Run: python tests/benchmarks/measure_preference.py [--runs N] [--questions N] [--no-embedded]

Embedded: llmbar, pandalm, pairwise_mixed and ragchecker_pref beside the checkout (../shared/data), development halves.
"coverage" is the share of pairs with a verdict, "agreement" the share of those on which people prefer the same answer
(pairs that people call a tie left out), "floor" prefers the longer answer. Intervals are Wilson's, of 95 %.

Pairs without an expected answer and evidence (llmbar, pandalm, pairwise_mixed) have no verdict. Looked at for them:
the cosine of the question with answer and nearest sentence, lengths, shared words, abstention, compression, layout.
None agrees with people on 6 of 10 pairs of all three sets; a logistic regression of all, fitted on two of the sets,
agrees on 29 to 43 % of the third (longer is better on two of them, and worse on llmbar, which was made so).

Simulated: bots of known strengths answer questions of 20 documents; a judge sees both orders and errs by position,
length and noise. "truth" is the win rate that this judge has over all questions that there could be, ties half; of a
judge that likes length, also what it would be at equal length; both are worked out, not drawn. Goals: the interval
holds the truth in 93 to 97 of 100 runs; of two bots of one strength, "better" or "worse" is said in 5 of 100 at most;
power beside counting wins of one order, whose false verdicts show what they are worth. The figures of 10,000 runs
(4 minutes) are known to .4 at 5 of 100; those of 1,000 to 1.4, which is too little to tell 5 from 6.
"""

import argparse
import asyncio
import math
import sys
from dataclasses import dataclass

import numpy as np
from labelled_data import ABSENT, DATA, open_embedder, read
from proctor.knowledge.models.support_model import open_support_model
from proctor.metrics.judge.embedded.judge import EmbeddedJudge
from proctor.metrics.judge.pairs import judged_pair
from proctor.metrics.score import NotApplicable
from proctor.reports.statistics.agreement import share
from proctor.reports.statistics.paired import mcnemar
from proctor.reports.statistics.preference import length_controlled, win_rate
from scipy.stats import norm

SETS = ("ragchecker_pref", "llmbar", "pandalm", "pairwise_mixed")


def people_prefer(name, row):
    """1 where people prefer the second answer, 0 the first, None for a tie."""
    if name == "ragchecker_pref":
        total = sum(row["label"]["overall"])
        return None if total == 0 else int(total > 0)
    return {"a": 0, "b": 1}.get(row["label"]["preferred"])


async def embedded():
    judge = EmbeddedJudge(open_embedder(), None, open_support_model())
    print(f"{'set':18} {'pairs':>6} {'coverage':>9}  {'agreement':>22}  {'floor: longer':>22}")
    for name in SETS:
        rows = [(row, people_prefer(name, row)) for row in read(name)]
        rows = [(row, wanted) for row, wanted in rows if wanted is not None]
        agreed = judged = longer = 0
        for row, wanted in rows:
            answers = row["answer"], row["answer_b"]
            longer += (len(answers[1]) > len(answers[0])) == bool(wanted)
            expected = [row["expected_answer"]] if row["expected_answer"] else []
            try:
                verdict = await judged_pair(judge, row["question"], *answers, expected, row["contexts"] or ())
            except NotApplicable:
                continue
            judged += 1
            agreed += verdict.value == wanted
        print(f"{name:18} {len(rows):6} {judged / len(rows):9.0%}  {shown(agreed, judged):>22}  "
              f"{shown(longer, len(rows)):>22}")  # fmt: skip


def shown(part, whole):
    found = share(part, whole)
    return "-" if found is None else f"{found.value:.0%} [{found.low:.0%}, {found.high:.0%}]"


@dataclass(frozen=True)
class Judge:
    """Log-odds that a judge adds for the answer shown first, and for one that is longer; and its noise."""

    name: str
    position: float = 0.0
    length: float = 0.0
    noise: float = 0.5


JUDGES = (
    Judge("fair"),
    Judge("noisy", noise=2.0),
    Judge("likes the first", position=1.5),
    Judge("likes length", length=1.5),
    Judge("all three", position=1.0, length=1.0, noise=1.0),
)


DOCUMENT, QUESTION, RATIO = (
    0.6,
    1.0,
    0.5,
)  # deviations of what documents and questions add, and of log ratios of lengths


def verdicts(source, judge, edge, documents, questions, longer=0.4):
    """Value of each pair, log of the lengths' ratio, cluster, and the outcome of one order alone."""
    clusters = np.repeat(np.arange(documents), questions // documents)
    count = len(clusters)
    quality = edge + source.normal(0, DOCUMENT, documents)[clusters] + source.normal(0, QUESTION, count)
    ratio = source.normal(longer, RATIO, count)
    heard = quality + judge.length * ratio + source.normal(0, judge.noise, (2, count))
    first = heard[0] - judge.position > 0  # the candidate is shown second
    second = heard[1] + judge.position > 0
    values = np.where(first == second, first.astype(float), 0.5)
    return values, ratio, clusters, first


def win_rate_of(judge, edge, longer, spread):
    """The win rate that ``verdicts`` have in the long run, of lengths' ratios with that mean and deviation."""
    deviation = math.sqrt(DOCUMENT**2 + QUESTION**2 + (judge.length * spread) ** 2 + judge.noise**2)
    likes = edge + judge.length * longer
    return float(norm.cdf([(likes - judge.position) / deviation, (likes + judge.position) / deviation]).mean())


def simulate(runs, questions):
    print(
        f"\n{runs} runs of {questions} questions from 20 documents; +- {196 * math.sqrt(0.05 * 0.95 / runs):.1f} at 5"
    )
    print(f"{'judge':16} {'edge':>5} {'truth':>6} {'holds it':>9} {'goal':>6}  {'said':>6} {'goal':>6}  "
          f"{'one order':>9}  {'at equal length':>15}")  # fmt: skip
    source = np.random.default_rng(20261122)
    for judge in JUDGES:
        for edge in (0.0, 0.5):
            longer = 0.4 if judge.length else 0.0
            truth = win_rate_of(judge, edge, longer, RATIO)
            level_truth = win_rate_of(judge, edge, 0.0, 0.0)
            holds = said = naive = fair_holds = fair_said = 0
            for _ in range(runs):
                values, ratio, clusters, first = verdicts(source, judge, edge, 20, questions, longer)
                found = win_rate(values, clusters)
                holds += found.low <= truth <= found.high
                said += found.verdict in ("better", "worse")
                naive += mcnemar(int(first.sum()), int((~first).sum())) <= 0.05
                level = length_controlled(values, ratio, clusters)
                fair_holds += level is not None and level.low <= level_truth <= level.high
                fair_said += level is not None and level.verdict in ("better", "worse")
            wanted = "<= 5 %" if edge == 0 and not judge.length else "power"
            even = f"{fair_holds / runs:.1%}, {fair_said / runs:.1%}"
            print(f"{judge.name:16} {edge:5.1f} {truth:6.3f} {holds / runs:9.1%} {'93-97':>6}  {said / runs:6.1%} "
                  f"{wanted:>6}  {naive / runs:9.1%}  {even:>15}", flush=True)  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--no-embedded", action="store_true")
    given = parser.parse_args()
    if not given.no_embedded:
        if not DATA.is_dir():
            sys.exit(ABSENT)
        asyncio.run(embedded())
    simulate(given.runs, given.questions)


if __name__ == "__main__":
    main()
