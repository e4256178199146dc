"""The embedded judge's verdicts on support against human labels, beside lexical floors and published systems.

Run: python tests/benchmarks/measure_support.py [--leave-one-out] [--entailment FOLDER_OR_HUB_ID] [SET ...]

What was chosen where: the weights are fitted on nli_pool, begin, defacto and bump (fit_support.py), none of which is
reported. The signals were chosen by how those four sets and cad_nli, fever_symmetric and factcheckgpt_stance came out;
q2_wow, wice, summedits and mtrag_human were looked at beside them, and decided one thing: that a negation on one side
counts only between texts that mostly speak of the same, because on q2_wow it was as frequent in right answers as in
wrong ones. Looked at and dropped, because nothing was gained anywhere: the longest shared run, the share of words in
order, hedges, and a logistic head on the products and differences of the frozen vectors, trained on nli_pool (AUROC .73
on cad_nli, .51 to .72 on the other six by itself; within .002 of no gain beside the wording). A second nearest sentence
gained nothing, and the cosine of whole sentences is worked out only where it can change the verdict: .004 of AUROC on
cad_nli, .006 on factcheckgpt_stance for three times the speed.
--leave-one-out fits the
weights anew on all sets but one, and reports that one: a check that the choice of training sets carries nothing.
Nearness to the question (``needed``) and to the expected answer (``supporting``) have one threshold each, chosen on
clapnq and on wice: the figures for these two are with thresholds chosen on other documents, five-fold.

A row's score is the mean over its answer's sentences; intervals are of 95 %, from 1,000 resamples of whole documents.
"To the floor" is the difference to the share of the answer's content words that the contexts hold, on the same rows.
"Balanced" is the balanced accuracy of what the metric faithfulness says at its own threshold: that three sentences of
four hold at the formula's threshold of 0.5; nothing is chosen on the set.
Claims a second: on two cores, with an embedder as a suite has it that has read nothing yet, 16 rows in flight; beside
it the claims for each second of processor time, which other work on the machine changes less.
"""

import argparse
import asyncio
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from agreement import Figure, Floats, auroc, bootstrap, correlation, cross_validated, decided
from fit_support import NAMES, SETS, balanced, fitted, rows_of_signals
from floors import content_overlap
from labelled_data import ABSENT, DATA, open_embedder, read, table
from numpy.typing import NDArray
from proctor.knowledge.models.batching import BatchingEmbedder
from proctor.knowledge.models.classifier import find_entailment
from proctor.knowledge.models.finding import ModelChoice
from proctor.metrics.judge.embedded.judge import EmbeddedJudge
from proctor.metrics.judge.embedded.support import Support, supported, vectors_of
from proctor.metrics.judge.embedded.wording import wording
from proctor.metrics.tools import Entailment
from support_cases import Case, cases, clusters, labels, training_pairs

# Floors and published figures as the data's page gives them, AUROC unless said otherwise.
NOTES = {
    "q2_wow": (".632, bigrams .634", "MiniLM cosine .58, MiniLM trained on nli_pool .63"),
    "wice": (".688, bigrams .627", "oracle evidence: GPT-4 .767 (n=53), T5-3B .831 to .878 (n=94)"),
    "fever_symmetric": (".667, bigrams .580", "accuracy: BERT 57.5, re-weighted 61.6 (generated pairs)"),
    "cad_nli": (".716, bigrams .619", "MiniLM cosine .76, MiniLM trained on nli_pool .87"),
    "summedits": (".460, bigrams .476", "balanced accuracy, ten domains: SummaCConv 57.1, QAFactEval 65.5, GPT-4 82.1"),
    "factcheckgpt_stance": (".737, bigrams .684", "MiniLM cosine .80, MiniLM trained on nli_pool .73"),
    "mtrag_human": ("none given", "Spearman on model answers: RL_F .576, Bert-KPrec .638, ROUGE-L .491"),
}
FAITHFUL = 3.5  # mean vote of 1 to 4 from which an answer of mtrag_human counts as faithful
FAITHFUL_SHARE = 0.75  # of its sentences: threshold of the metric faithfulness
PAIRS = 4_000


@dataclass(frozen=True, slots=True)
class Measured:
    """Scores and verdicts of the rows of a set, and how many claims a second were judged."""

    scores: Floats
    faithful: NDArray[np.bool_]
    claims_a_second: tuple[float, float]  # of the clock, and of the processor


def measured(found: Sequence[Case], entailment: Entailment | None) -> Measured:
    """Every answer's claims against all of its chunks, by an embedder that has read nothing yet."""
    embedder = open_embedder()

    async def judge_all() -> list[list[Support]]:
        in_flight = asyncio.Semaphore(16)

        async def judge(case: Case) -> list[Support]:
            async with in_flight:
                made = await supported(case.claims, case.chunks, embedder, entailment)
                return [one.joint for one in made]

        return await asyncio.gather(*map(judge, found))

    asyncio.run(embedder.load())
    began, worked = time.perf_counter(), time.process_time()
    made = asyncio.run(judge_all())
    seconds = (time.perf_counter() - began, time.process_time() - worked)
    embedder.close()
    scores = np.array([np.mean([one.score for one in row]) for row in made])
    faithful = np.array([np.mean([one.holds for one in row]) >= FAITHFUL_SHARE for row in made], dtype=np.bool_)
    claims = sum(map(len, made))
    return Measured(scores, faithful, (claims / seconds[0], claims / seconds[1]))


def support(names: Sequence[str], entailment: Entailment | None) -> None:
    lines = [_support_line(name, entailment) for name in names]
    columns = ("set", "rows", "documents", "AUROC", "floor here", "to the floor", "balanced")
    table((*columns, "floor on the page", "published, tried", "claims/s, clock / processor"), lines)


def _support_line(name: str, entailment: Entailment | None) -> tuple[object, ...]:
    found = cases(name)
    yes, groups = labels(found, FAITHFUL if name == "mtrag_human" else 0.5), clusters(found)
    made = measured(found, entailment)
    floor = np.array([content_overlap(case.answer, case.chunks) for case in found])
    gain = bootstrap(lambda rows: auroc(made.scores[rows], yes[rows]) - auroc(floor[rows], yes[rows]), groups)
    said = bootstrap(lambda rows: decided(made.faithful[rows], yes[rows]).balanced, groups)
    if name == "mtrag_human":
        _votes(found, made.scores, floor, groups)
    figures = (area(made.scores, yes, groups), f"{auroc(floor, yes):.3f}", gain, said)
    return (name, len(found), groups.max() + 1, *figures, *NOTES[name], "{:.0f} / {:.0f}".format(*made.claims_a_second))


def area(scores: Floats, yes: NDArray[np.bool_], groups: NDArray[np.intp]) -> Figure:
    return bootstrap(lambda rows: auroc(scores[rows], yes[rows]), groups)


def _votes(found: Sequence[Case], scores: Floats, floor: Floats, groups: NDArray[np.intp]) -> None:
    """Correlation with the mean vote on the answers of models, which is what was published."""
    rows = np.array([row["label"]["system"] != "reference" for row in read("mtrag_human")])
    votes = np.array([case.label for case in found])
    for who, made in (("the judge", scores), ("the floor", floor)):
        figure = _spearman(made[rows], votes[rows], groups[rows])
        print(f"mtrag_human, Spearman of {who} with the mean vote on {rows.sum()} answers of models: {figure}\n")


def _spearman(scores: Floats, votes: Floats, groups: NDArray[np.intp]) -> Figure:
    return bootstrap(lambda drawn: correlation("spearman", scores[drawn], votes[drawn]), groups)


def relevance() -> None:
    """Is a passage of any use for a claim? The last class of factcheckgpt_stance is irrelevant."""
    found, rows = cases("factcheckgpt_stance"), read("factcheckgpt_stance")
    yes = np.array([row["label"]["stance"] != "irrelevant" for row in rows], dtype=np.bool_)
    scores, groups = measured(found, None).scores, clusters(found)
    print("### Usefulness: factcheckgpt_stance, relevant passages (floor on the page .717)\n")
    table(("AUROC",), [(area(scores, yes, groups),)])


def nearness() -> None:
    """Context sentences that a question needs (clapnq) and that support a claim (wice)."""
    embedder = open_embedder()
    lines = []
    for name, made in (("clapnq: needed", _needed(embedder)), ("wice: supporting", _supporting(embedder))):
        scores, floor, yes, groups = made
        said = cross_validated(scores, yes, groups)
        lines.append(
            (
                name,
                len(yes),
                f"{yes.mean():.3f}",
                area(scores, yes, groups),
                f"{auroc(floor, yes):.3f}",
                decided(said, yes),
            )
        )
    embedder.close()
    print("### Sentences of the contexts (floor: share of the content words)\n")
    columns = ("set", "sentences", "share yes", "AUROC", "floor", "accuracy / balanced / F1, thresholds elsewhere")
    table(columns, lines)


Nearness = tuple[Floats, Floats, NDArray[np.bool_], NDArray[np.intp]]


def _needed(embedder: BatchingEmbedder) -> Nearness:
    rows = [
        (row["question"], row["label"]["sentences"], set(row["label"]["selected_sentences"])) for row in read("clapnq")
    ]
    return _near(rows, embedder, coverage=False)


def _supporting(embedder: BatchingEmbedder) -> Nearness:
    rows = [
        (row["answer"], row["contexts"], {place for one in row["label"]["supporting_sentences"] for place in one})
        for row in read("wice")
        if row["label"]["supporting_sentences"]
    ]
    return _near(rows[:100], embedder, coverage=True)  # of 18,000 sentences


def _near(rows: Sequence[tuple[str, Sequence[str], set[int]]], embedder: BatchingEmbedder, coverage: bool) -> Nearness:
    vectors = asyncio.run(vectors_of([text for row in rows for text in (row[0], *row[1])], embedder))
    scores, floor, yes, groups = [], [], [], []
    for number, (text, sentences, chosen) in enumerate(rows):
        content = wording(text).content
        for place, sentence in enumerate(sentences):
            share = len(content & wording(sentence).content) / max(1, len(content))
            scores.append(float(vectors[text] @ vectors[sentence]) + coverage * share)
            floor.append(share)
            yes.append(place in chosen)
            groups.append(number)
    return np.array(scores), np.array(floor), np.array(yes, dtype=np.bool_), np.array(groups)


def leave_one_out(names: Sequence[str]) -> None:
    """The weights fitted on all sets but one, reported on that one."""
    embedder = open_embedder()
    sets = {name: cases(name) for name in NOTES}
    sets |= {name: cases(name)[:1000] for name in SETS} | {"nli_pool": training_pairs()[:PAIRS]}
    made = {name: asyncio.run(rows_of_signals(found, embedder)) for name, found in sets.items()}
    embedder.close()
    yes = {name: labels(found, FAITHFUL if name == "mtrag_human" else 0.5) for name, found in sets.items()}
    lines = []
    for name in names:
        others = [one for one in sets if one != name]
        weights = np.concatenate([balanced(yes[one]) for one in others])
        rows, said = np.concatenate([made[one] for one in others]), np.concatenate([yes[one] for one in others])
        _, found = fitted(rows, said, weights / weights.sum())
        scores, groups = made[name] @ found, clusters(sets[name])
        figure = area(scores, yes[name], groups)
        lines.append((name, figure, ", ".join(f"{one} {weight:.2f}" for one, weight in zip(NAMES, found, strict=True))))
    print("### Leave one set out\n")
    table(("set", "AUROC", "weights from the others"), lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET", help=", ".join(NOTES))
    parser.add_argument("--leave-one-out", action="store_true")
    parser.add_argument("--entailment", metavar="MODEL", help="a cross-encoder, by folder or hub id")
    given = parser.parse_args()
    if unknown := [name for name in given.sets if name not in NOTES]:
        parser.error(f"there is no set {unknown[0]!r}; there are {', '.join(NOTES)}")
    if not DATA.is_dir():
        print(ABSENT)
        return
    entailment = find_entailment(ModelChoice(given.entailment)) if given.entailment else None
    load = f"{os.getloadavg()[0]:.1f} of {os.cpu_count()} cores busy before"
    print(f"### Support ({EmbeddedJudge(open_embedder(), entailment).model_id}; {load})\n")
    support(given.sets or list(NOTES), entailment)
    if not given.sets:
        relevance()
        nearness()
    if given.leave_one_out:
        leave_one_out(given.sets or list(NOTES))


if __name__ == "__main__":
    main()
