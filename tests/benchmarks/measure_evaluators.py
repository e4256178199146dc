"""Our evaluators against human labels, beside lexical floors and published figures.

Run: python tests/benchmarks/measure_evaluators.py [--all] [TASK ...]
Tasks: correctness, similarity, groundedness, relevancy, overlap, leaks, language.

Reads the development halves beside the checkout (../shared/data) in place. Intervals are of 95 %, from 1,000
resamples of whole documents (or questions, templates) with a fixed seed. "To the floor" is the difference to a
lexical baseline on the same rows; an interval on one side of 0 settles it. Rows on which a metric has no value
(not applicable) are left out of its line, and "rows" counts those that stay. Thresholds are chosen for balanced
accuracy on four fifths of the documents and applied to the last fifth. "Default" is the metric's own threshold.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from agreement import Figure, Floats, auroc, bootstrap, correlation, cross_validated, decided
from floors import content_overlap, token_f1, word_cosine
from labelled_data import (
    ABSENT,
    DATA,
    Row,
    accepted,
    documents,
    open_embedder,
    read,
    sampled,
    score,
    table,
    values,
)
from measure_overlap import language, overlap
from numpy.typing import NDArray
from proctor.knowledge.models.batching import BatchingEmbedder
from proctor.metrics import builtin_catalog, passed

CORRECTNESS = ("exact_match", "keyword_recall", "rouge_l", "bleu", "answer_similarity")
# Floors and published figures as the data's page gives them: on these rows, and on the original full sets.
CORRECTNESS_NOTES = {
    "evouna": "Floor: token F1 AUROC .891; accuracy / balanced / F1: exact match .351 / .590 / .304, accepted answer"
    " inside the answer .836 / .887 / .885. Majority .790.",
    "nq301": "Floor: token F1 AUROC .809; exact match .655 / .681 / .557, accepted answer inside the answer .745 / .762"
    " / .713. Majority .545. Published verdicts on these rows: BEM .805 / .811 / .807, GPT-4 .850 / .852 / .857,"
    " text-davinci-003 .828 / .828 / .839.",
    "efficientqa": "Floor: token F1 AUROC .756; exact match .860 / .523 / .087, accepted answer inside the answer .879"
    " / .610 / .357. Majority .854. Rows rated possibly correct are left out.",
    "student_answers": "Floor: token F1 AUROC .749; exact match .569 / .510 / .039, accepted answer inside the answer"
    " .577 / .520 / .084. Majority .560.",
}
GROUNDEDNESS: dict[str, tuple[Callable[[Row], bool], Callable[[Row], object], str]] = {
    "begin": (lambda row: row["label"]["attributable"], lambda row: row["contexts"][0], ".946, bigrams .911"),
    "q2_wow": (lambda row: row["label"]["consistent"], lambda row: row["contexts"][0], ".632, bigrams .634"),
    "wice": (
        lambda row: row["label"]["support"] == "supported",
        lambda row: row["label"]["claim_title"],
        ".688, bigrams .627",
    ),
    "factcheckgpt_stance": (
        lambda row: row["label"]["stance"] == "completely-support",
        lambda row: row["answer"],
        ".737, bigrams .684",
    ),
}
PUBLISHED_GROUNDEDNESS = {
    "wice": "oracle evidence: GPT-4 .767 (n=53), T5-3B .831 to .878 (n=94)",
}
SAMPLES = {"wice": 150}  # of 332: its 27,000 context sentences take half of the time of all else


def correctness(embedder: BatchingEmbedder) -> None:
    for name, note in CORRECTNESS_NOTES.items():
        rows = [row for row in read(name) if row["label"]["correct"] is not None]
        labels = np.array([row["label"]["correct"] for row in rows], dtype=np.bool_)
        clusters = documents(rows, lambda row: row["question"])
        several = sum(len(accepted(row)) > 1 for row in rows)
        print(f"### Correctness: {name}\n\n{len(rows)} rows of {clusters.max() + 1} questions; {several} rows have")
        print(f"several accepted answers. {note}\n")
        first = score(
            [{"answer": row["answer"], "expected_answers": (row["expected_answer"],)} for row in rows],
            CORRECTNESS,
            embedder,
        )
        best = score(
            [{"answer": row["answer"], "expected_answers": accepted(row)} for row in rows], CORRECTNESS, embedder
        )
        floor = np.array([token_f1(row["answer"], accepted(row)) for row in rows])
        lines = [_floor_line("(floor: token F1)", floor, labels, clusters)]
        for metric in CORRECTNESS:
            single, multiple = values(first[metric]), values(best[metric])
            lines.append(_correctness_line(metric, single, multiple, floor, labels, clusters))
        columns = ("metric", "rows", "AUROC, expected answer", "AUROC, best of all accepted", "to the floor")
        table((*columns, "accuracy / balanced / F1", "balanced [95 %]", "balanced at default"), lines)


def _floor_line(name: str, floor: Floats, labels: NDArray[np.bool_], clusters: NDArray[np.intp]) -> tuple[object, ...]:
    said = cross_validated(floor, labels, clusters)
    area = bootstrap(lambda rows: auroc(floor[rows], labels[rows]), clusters)
    balanced = balanced_interval(said, labels, clusters)
    return (name, len(floor), "", area, "", decided(said, labels), balanced, "")


def _correctness_line(
    metric: str, single: Floats, best: Floats, floor: Floats, labels: NDArray[np.bool_], clusters: NDArray[np.intp]
) -> tuple[object, ...]:
    kept = ~np.isnan(best)
    alone = ~np.isnan(single)
    area, difference = compared(best[kept], floor[kept], labels[kept], clusters[kept])
    said = cross_validated(best[kept], labels[kept], clusters[kept])
    balanced = balanced_interval(said, labels[kept], clusters[kept])
    return (
        f"`{metric}`",
        int(kept.sum()),
        f"{auroc(single[alone], labels[alone]):.3f}",
        area,
        difference,
        decided(said, labels[kept]),
        balanced,
        f"{decided(by_default(metric, best[kept]), labels[kept]).balanced:.3f}",
    )


def balanced_interval(said: NDArray[np.bool_], labels: NDArray[np.bool_], clusters: NDArray[np.intp]) -> Figure:
    """Balanced accuracy of what was said; the thresholds are not chosen anew for each resample."""
    return bootstrap(lambda rows: decided(said[rows], labels[rows]).balanced, clusters)


def by_default(metric: str, scores: Floats) -> NDArray[np.bool_]:
    """What the metric's own threshold says."""
    known = builtin_catalog().metrics[metric]
    return np.array([passed(float(one), known.threshold, known.better) for one in scores], dtype=np.bool_)


def compared(
    scores: Floats, floor: Floats, labels: NDArray[np.bool_], clusters: NDArray[np.intp]
) -> tuple[Figure, Figure]:
    """AUROC, and by how much it is above the floor's on the same rows."""
    area = bootstrap(lambda rows: auroc(scores[rows], labels[rows]), clusters)
    return area, bootstrap(lambda rows: auroc(scores[rows], labels[rows]) - auroc(floor[rows], labels[rows]), clusters)


def similarity(embedder: BatchingEmbedder) -> None:
    metrics = ("answer_similarity", "rouge_l", "keyword_recall")
    rows = read("stsb")
    human = np.array([row["label"]["similarity"] for row in rows], dtype=np.float64)
    clusters = documents(rows, lambda row: row["expected_answer"], lambda row: row["answer"])
    made, floor = _pairs(rows, metrics, embedder)
    print(f"### Similarity: stsb ({len(rows)} pairs, {clusters.max() + 1} groups that share no sentence)\n")
    print(
        "Floor: cosine of word counts .517 / .529. Published, full test set (other parts too): InferSent .758 / .755,"
    )
    print("GenSen .789 / .786, XLNet-large ensemble .916 / .911.\n")
    lines = []
    for name, found in {"(floor: cosine of word counts)": floor, **made}.items():
        kept = ~np.isnan(found)
        figures = [_correlated(kind, found[kept], human[kept], clusters[kept]) for kind in ("pearson", "spearman")]
        lines.append((name, int(kept.sum()), *figures))
    table(("metric", "rows", "Pearson", "Spearman"), lines)
    rows = read("covid_question_similarity")
    similar = np.array([row["label"]["similar"] for row in rows], dtype=np.bool_)
    clusters = documents(rows, lambda row: row["question"])
    made, floor = _pairs(rows, metrics, embedder)
    print(f"### Similarity: covid_question_similarity ({len(rows)} pairs, {clusters.max() + 1} questions)\n")
    print("Floor: cosine of word counts, AUROC .914. No figure is published.\n")
    _areas({"(floor: cosine of word counts)": floor, **made}, floor, similar, clusters)


def _pairs(rows: Sequence[Row], metrics: Sequence[str], embedder: BatchingEmbedder) -> tuple[dict[str, Floats], Floats]:
    facts = [{"answer": row["answer"], "expected_answers": (row["expected_answer"],)} for row in rows]
    made = {f"`{metric}`": values(scores) for metric, scores in score(facts, metrics, embedder).items()}
    return made, np.array([word_cosine(row["answer"], row["expected_answer"]) for row in rows])


def _correlated(kind: str, scores: Floats, human: Floats, clusters: NDArray[np.intp]) -> Figure:
    return bootstrap(lambda rows: correlation(kind, scores[rows], human[rows]), clusters)


def _areas(made: dict[str, Floats], floor: Floats, labels: NDArray[np.bool_], clusters: NDArray[np.intp]) -> None:
    lines = []
    for name, found in made.items():
        kept = ~np.isnan(found)
        area, difference = compared(found[kept], floor[kept], labels[kept], clusters[kept])
        lines.append((name, int(kept.sum()), area, "" if found is floor else difference))
    table(("metric", "rows", "AUROC", "to the floor"), lines)


def groundedness(embedder: BatchingEmbedder) -> None:
    print("### Groundedness\n")
    print("The floor is the share of the answer's content words that the contexts hold; the data's page gives it")
    print("with another list of stop words. begin is nearly solved by word overlap, so it proves little.\n")
    lines = []
    for name, (label, document, page_floor) in GROUNDEDNESS.items():
        rows = sampled(read(name), SAMPLES.get(name, sys.maxsize))
        labels = np.array([label(row) for row in rows], dtype=np.bool_)
        clusters = documents(rows, document)
        facts = [{"answer": row["answer"], "contexts": row["contexts"]} for row in rows]
        found = values(score(facts, ("groundedness",), embedder)["groundedness"])
        floor = np.array([content_overlap(row["answer"], row["contexts"]) for row in rows])
        kept = ~np.isnan(found)
        found, floor, labels, clusters = found[kept], floor[kept], labels[kept], clusters[kept]
        area, difference = compared(found, floor, labels, clusters)
        said = cross_validated(found, labels, clusters)
        balanced = bootstrap(
            lambda rows, said=said, labels=labels: decided(said[rows], labels[rows]).balanced, clusters
        )
        at_default = f"{decided(by_default('groundedness', found), labels).balanced:.3f}"
        figures = (area, f"{auroc(floor, labels):.3f}", difference, balanced, at_default, page_floor)
        lines.append((name, len(found), clusters.max() + 1, *figures, PUBLISHED_GROUNDEDNESS.get(name, "")))
    columns = ("set", "rows", "documents", "AUROC", "floor here", "to the floor", "balanced", "balanced at default")
    table((*columns, "floor on the page", "published"), lines)


def relevancy(embedder: BatchingEmbedder) -> None:
    metrics = [m for m in ("context_recall_relevancy", "context_precision_relevancy") if m in builtin_catalog().metrics]
    if not metrics:
        print("### Context relevancy: the catalog has no such metric yet\n")
        return
    for name, said, question, label in (
        (
            "factcheckgpt_stance",
            "the claim as question; floor on the page .717",
            "answer",
            lambda row: row["label"]["stance"] != "irrelevant",
        ),
        ("clapnq", "passage that answers the question or not", "question", lambda row: row["label"]["answerable"]),
    ):
        rows = read(name)
        labels = np.array([label(row) for row in rows], dtype=np.bool_)
        clusters = documents(rows, lambda row, question=question: row[question])
        facts = [{"question": row[question], "contexts": row["contexts"]} for row in rows]
        made = {f"`{metric}`": values(scores) for metric, scores in score(facts, metrics, embedder).items()}
        floor = np.array([content_overlap(row[question], row["contexts"]) for row in rows])
        print(f"### Context relevancy: {name} ({len(rows)} rows, {clusters.max() + 1} clusters; {said})\n")
        _areas({"(floor: content words in the contexts)": floor, **made}, floor, labels, clusters)


def leaks(embedder: BatchingEmbedder) -> None:
    print("### Leaks: pii_presidio (by measure_leaks.py)\n", flush=True)
    script = Path(__file__).with_name("measure_leaks.py")
    subprocess.run([sys.executable, str(script)], check=True)
    print()


TASKS = {
    "correctness": correctness,
    "similarity": similarity,
    "groundedness": groundedness,
    "relevancy": relevancy,
    "overlap": overlap,
    "leaks": leaks,
    "language": language,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=", ".join(TASKS))
    parser.add_argument("--all", action="store_true", help="no sample: every row of every set")
    given = parser.parse_args()
    if unknown := [task for task in given.tasks if task not in TASKS]:
        parser.error(f"there is no task {unknown[0]!r}; there are {', '.join(TASKS)}")
    if not DATA.is_dir():
        print(ABSENT)
        return
    if given.all:
        SAMPLES.clear()
    embedder = open_embedder()
    print(f"Embedder: {embedder.model_id}. Samples: {SAMPLES or 'none'}.\n")
    for task in given.tasks or TASKS:
        began = time.perf_counter()
        TASKS[task](embedder)
        print(f"({task}: {time.perf_counter() - began:.0f} s)\n", flush=True)
    embedder.close()


if __name__ == "__main__":
    main()
