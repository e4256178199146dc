"""Embedded nugget recall beside people: whether answers hold the facts that they should, on four labelled sets.

Run: python tests/benchmarks/measure_nuggets.py [--rows 250] [--skip 300]

The nuggets are the claims of the expected answer, as where a question names none; the value is ``nugget_recall`` as a
run with the embedded judge has it. student_answers and evouna: AUROC for answers that people call right, and balanced
accuracy of ``nugget_recall_strict``. realsumm: mean correlation within an article with the share of content units that
people found in the summary. ragchecker_pref: correlation of the difference between two answers with the completeness
that two people prefer (RAGChecker with GPT-4 reports .617, the annotators with each other .72 overall).
The floor is ``keyword_recall`` on the same rows. Goal: the interval of the difference to the floor is above 0.

What was chosen where: that the judge's probabilities are the points, and that they are the mean of the matching of
expected claims and of the support model, was chosen on the first 300 sampled rows of the two sets of answers, on 12
articles of realsumm and on ragchecker_pref; the rows here are others, but for ragchecker_pref, whose figure is
therefore of the rows on which it was chosen. Matching alone was run once on the reported rows before: .788, .976, .412.
No goal exists for single nuggets: none of the sets has verdicts on them.
"""

import argparse
import asyncio
import sys

import numpy as np
from agreement import auroc, bootstrap, decided
from labelled_data import ABSENT, DATA, accepted, documents, open_embedder, read, sampled, values
from proctor.knowledge.models.support_model import open_support_model
from proctor.metrics import builtin_catalog
from proctor.metrics.judge.embedded.judge import EmbeddedJudge

METRICS = ("nugget_recall", "nugget_recall_strict", "keyword_recall")
CHOSEN = 300  # rows of each set of answers on which it was chosen
ARTICLES = 12


def scores(judge, rows, embedder, answer="answer"):
    plan = builtin_catalog().plan(METRICS)

    async def every():
        facts = [
            {"question": row["question"] or "", "answer": row[answer], "expected_answers": accepted(row)}
            for row in rows
        ]
        return [await plan.score({**one, "judge": judge, "embedder": embedder}) for one in facts]

    found = asyncio.run(every())
    return {name: values([row[place] for row in found]) for place, name in enumerate(METRICS)}


def line(name, rows, figure, floor, difference, more=""):
    met = "yes" if difference.low > 0 else "no"
    print(f"{name:18} {rows:5}  {figure!s:24} {floor!s:24} {difference!s:26} {met:4} {more}", flush=True)


def of_answers(judge, embedder, name, count, skip):
    rows = [row for row in read(name) if row["label"]["correct"] is not None]
    known = {row["id"] for row in sampled(rows, skip)}
    rows = sampled([row for row in rows if row["id"] not in known], count)
    made = scores(judge, rows, embedder)
    kept = ~np.isnan(made["nugget_recall"])
    labels = np.array([row["label"]["correct"] for row in rows], dtype=np.bool_)[kept]
    clusters = documents([row for row, is_kept in zip(rows, kept, strict=True) if is_kept], lambda row: row["question"])
    value, strict, floor = (made[metric][kept] for metric in METRICS)
    found = bootstrap(lambda drawn: auroc(value[drawn], labels[drawn]), clusters)
    base = bootstrap(lambda drawn: auroc(floor[drawn], labels[drawn]), clusters)
    gain = bootstrap(lambda drawn: auroc(value[drawn], labels[drawn]) - auroc(floor[drawn], labels[drawn]), clusters)
    line(f"{name}, AUROC", len(labels), found, base, gain, f"{decided(strict >= 0.5, labels).balanced:.3f} balanced")


def of_summaries(judge, embedder, count):
    rows = read("realsumm")
    articles = documents(rows, lambda row: row["contexts"][0])
    order = np.random.default_rng(1).permutation(articles.max() + 1)
    few = set(order[ARTICLES : ARTICLES + max(2, count // 24)].tolist())
    rows = [row for row, article in zip(rows, articles, strict=True) if article in few]
    clusters = documents(rows, lambda row: row["contexts"][0])
    human = np.array([row["label"]["litepyramid_recall"] for row in rows])
    made = scores(judge, rows, embedder)
    every = range(clusters.max() + 1)

    def within(of):
        return np.array([np.corrcoef(of[clusters == one], human[clusters == one])[0, 1] for one in every])

    each = {metric: within(made[metric]) for metric in METRICS}
    places = np.arange(len(each["nugget_recall"]))
    found, base = (bootstrap(lambda drawn, of=each[m]: np.nanmean(of[drawn]), places) for m in (METRICS[0], METRICS[2]))
    apart = each["nugget_recall"] - each["keyword_recall"]
    gain = bootstrap(lambda drawn: np.nanmean(apart[drawn]), places)
    line("realsumm, Pearson", len(rows), found, base, gain)


def of_pairs(judge, embedder):
    rows = read("ragchecker_pref")
    wanted = np.array([sum(row["label"]["completeness"]) for row in rows], dtype=np.float64)
    one, other = (scores(judge, rows, embedder, answer) for answer in ("answer", "answer_b"))
    value, floor = (other[metric] - one[metric] for metric in ("nugget_recall", "keyword_recall"))
    kept = ~np.isnan(value) & ~np.isnan(floor)
    value, floor, wanted = value[kept], floor[kept], wanted[kept]

    def correlation(of):
        return bootstrap(lambda drawn: float(np.corrcoef(of[drawn], wanted[drawn])[0, 1]), np.arange(len(wanted)))

    gain = bootstrap(
        lambda drawn: float(
            np.corrcoef(value[drawn], wanted[drawn])[0, 1] - np.corrcoef(floor[drawn], wanted[drawn])[0, 1]
        ),
        np.arange(len(wanted)),
    )
    line("ragchecker, Pearson", len(wanted), correlation(value), correlation(floor), gain)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=250)
    parser.add_argument("--skip", type=int, default=CHOSEN)
    given = parser.parse_args()
    if not DATA.is_dir():
        sys.exit(ABSENT)
    embedder = open_embedder()
    judge = EmbeddedJudge(embedder, None, open_support_model())
    print(f"{'set':18} {'rows':>5}  {'nugget_recall':24} {'floor: keyword_recall':24} {'to the floor':26} {'met':4}")
    for name in ("student_answers", "evouna"):
        of_answers(judge, embedder, name, given.rows, given.skip)
    of_summaries(judge, embedder, given.rows)
    of_pairs(judge, embedder)
    embedder.close()


if __name__ == "__main__":
    main()
