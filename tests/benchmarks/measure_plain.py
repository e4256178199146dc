"""Plain metrics against human verdicts on answers and summaries, beside a floor, as the table of metrics/METRICS.md.

Run: python tests/benchmarks/measure_plain.py [--rows 800] [--write]

Answers: AUROC for right or wrong; the floor is whether an accepted answer is inside the answer. Summaries: correlation
with people within an article; the floor is ROUGE-1. Rows are a sample by a fixed seed. The verdict follows from the
95 % interval of the difference to the floor on the same rows: above, as the floor, below. Balanced accuracy is by a
threshold that is fitted on other documents (five folds). ``--write`` puts the table between the marks of the page.
"""

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from agreement import Figure, Floats, auroc, bootstrap, correlation, cross_validated, decided
from labelled_data import ABSENT, DATA, accepted, documents, open_embedder, read, sampled, score, values
from measure_overlap import within_documents
from numpy.typing import NDArray
from proctor.knowledge.models.batching import BatchingEmbedder

PLAIN = ("token_f1", "chrf", "meteor", "edit_similarity", "bertscore", "numeric_match")
PAGE = Path(__file__).resolve().parents[2] / "metrics" / "METRICS.md"
MARKS = re.compile(r"(<!-- plain: .*? -->\n)(.*?)(<!-- /plain -->)", re.DOTALL)
ANSWERS = {
    "evouna": "right or wrong, facts (evouna)",
    "nq301": "facts (nq301)",
    "efficientqa": "near misses (efficientqa)",
    "student_answers": "school answers (student_answers)",
}
Line = tuple[str, str, str, str, str, str]


def of_answers(name: str, task: str, count: int, embedder: BatchingEmbedder) -> list[Line]:
    """A line for each metric that has a value on at least 50 rows with both verdicts."""
    rows = sampled([row for row in read(name) if row["label"]["correct"] is not None], count)
    labels = np.array([row["label"]["correct"] for row in rows], dtype=np.bool_)
    clusters = documents(rows, lambda row: row["question"])
    facts = [{"answer": row["answer"], "expected_answers": accepted(row)} for row in rows]
    made = score(facts, PLAIN, embedder)
    inside = [any(one.lower() in row["answer"].lower() for one in accepted(row)) for row in rows]
    floor = np.array(inside, dtype=np.float64)
    lines: list[Line] = []
    for metric in PLAIN:
        found = values(made[metric])
        kept = ~np.isnan(found)
        if kept.sum() < 50 or len(set(labels[kept].tolist())) < 2:
            continue
        lines.append(_line(task, metric, found[kept], floor[kept], labels[kept], clusters[kept], len(rows)))
    return lines


def _line(
    task: str, metric: str, found: Floats, floor: Floats, labels: NDArray[np.bool_], clusters: NDArray[np.intp], of: int
) -> Line:
    clusters = np.unique(clusters, return_inverse=True)[1]
    area = bootstrap(lambda rows: auroc(found[rows], labels[rows]), clusters)
    difference = bootstrap(lambda rows: auroc(found[rows], labels[rows]) - auroc(floor[rows], labels[rows]), clusters)
    said = cross_validated(found, labels, clusters)
    shown = f"`{metric}`" + (f" ({len(found)} of {of} rows)" if len(found) < of else "")
    balanced = f"{decided(said, labels).balanced:.3f}"
    return f"{task}, AUROC", shown, str(area), f"{auroc(floor, labels):.3f}", balanced, verdict(difference)


def verdict(difference: Figure) -> str:
    """What the interval of a difference to the floor says."""
    return "above the floor" if difference.low > 0 else "below the floor" if difference.high < 0 else "as the floor"


def of_summaries(name: str, task: str, kind: str, people: str, count: int, embedder: BatchingEmbedder) -> list[Line]:
    """Correlation with people within an article, of the best of all references."""
    rows = read(name)
    articles = documents(rows, lambda row: row["contexts"][0])
    few = np.random.default_rng(1).permutation(articles.max() + 1)[: max(2, count // 16)]
    rows = [row for row, article in zip(rows, articles, strict=True) if article in set(few.tolist())]
    clusters = documents(rows, lambda row: row["contexts"][0])
    human = np.array([row["label"][people] for row in rows], dtype=np.float64)
    facts = [{"answer": row["answer"], "expected_answers": accepted(row)} for row in rows]
    metrics = [metric for metric in PLAIN if metric != "numeric_match"]
    made = {metric: values(scores) for metric, scores in score(facts, [*metrics, "rouge_1"], embedder).items()}
    floor = made["rouge_1"]
    lines: list[Line] = []
    for metric in metrics:
        inside = within_documents(kind, made[metric], human, clusters)
        apart = _within_each(kind, made[metric], human, clusters) - _within_each(kind, floor, human, clusters)
        known = apart[~np.isnan(apart)]
        difference = bootstrap(lambda drawn, known=known: float(known[drawn].mean()), np.arange(len(known)))
        base = f"{within_documents(kind, floor, human, clusters).value:.3f}"
        lines.append((f"{task}, {kind.title()}", f"`{metric}`", str(inside), base, "", verdict(difference)))
    return lines


def _within_each(kind: str, scores: Floats, human: Floats, clusters: NDArray[np.intp]) -> Floats:
    each = [correlation(kind, scores[clusters == one], human[clusters == one]) for one in range(clusters.max() + 1)]
    return np.array(each)


def table(lines: Sequence[Line]) -> str:
    """The Markdown table; a task is named once."""
    said = ["| task | metric | figure | floor | balanced accuracy | verdict |", "|---|---|---|---|---|---|"]
    before = ""
    for task, *cells in lines:
        said.append(f"| {'' if task == before else task} | {' | '.join(cells)} |")
        before = task
    return "\n".join(said) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=800)
    parser.add_argument("--write", action="store_true", help="put the table into metrics/METRICS.md")
    given = parser.parse_args()
    if not DATA.is_dir():
        print(ABSENT)
        return
    embedder = open_embedder()
    lines: list[Line] = []
    for name, task in ANSWERS.items():
        lines += of_answers(name, task, given.rows, embedder)
        print(table(lines), flush=True)
    lines += of_summaries("realsumm", "content of summaries (realsumm)", "pearson", "litepyramid_recall", given.rows,
                          embedder)  # fmt: skip
    lines += of_summaries("summeval", "relevance of summaries (summeval)", "spearman", "relevance", given.rows // 4,
                          embedder)  # fmt: skip
    embedder.close()
    made = table(lines)
    print(made)
    if given.write:
        text = PAGE.read_text("utf-8")
        PAGE.write_text(MARKS.sub(lambda marks: marks[1] + made + marks[3], text), "utf-8")


if __name__ == "__main__":
    main()
