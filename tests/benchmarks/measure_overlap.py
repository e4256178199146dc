"""The part of measure_evaluators.py on overlap metrics: summaries rated by people, and texts in other languages."""

from collections import Counter

import numpy as np
from agreement import Figure, Floats, bootstrap, correlation, numbered
from labelled_data import Row, documents, read, score, table, values
from numpy.typing import NDArray
from proctor.knowledge.models.batching import BatchingEmbedder
from proctor.metrics import builtin_catalog
from proctor.metrics.text import token_set

METRICS = ("bleu_1", "bleu_4", "bleu", "rouge_1", "rouge_2", "rouge_l")
ASPECTS = ("coherence", "consistency", "fluency", "relevance")


def overlap(embedder: BatchingEmbedder) -> None:
    summeval(embedder)
    realsumm(embedder)


def summeval(embedder: BatchingEmbedder) -> None:
    rows = read("summeval")
    clusters = documents(rows, lambda row: row["contexts"][0])
    systems = numbered([row["label"]["system"] for row in rows])
    made: dict[str, Floats] = {}
    best = score(
        [{"answer": row["answer"], "expected_answers": row["expected_answers"]} for row in rows], METRICS, embedder
    )
    for metric, of_each in _of_each_reference(rows, embedder).items():
        made[f"`{metric}`, mean of 11 references"] = of_each
        made[f"`{metric}`, best of 11"] = values(best[metric])
    made |= _completeness(rows, embedder)
    print(
        f"### Overlap: summeval\n\n{len(rows)} summaries of {clusters.max() + 1} articles, {systems.max() + 1} systems."
    )
    print(
        "Each cell: Spearman's correlation within an article, averaged over the articles; in the last column Kendall's"
    )
    print("tau of the systems' means for relevance. Floor: ROUGE-1, mean of the references, .161 / .156 / .078 / .336;")
    print(
        "bigram overlap with the article .176 / .409 / .301 / .206. Published, mean of the four aspects: ROUGE-L .165,"
    )
    print("BERTScore .225, BARTScore .385, UniEval .474, G-Eval-4 .514.\n")
    lines = []
    for name, found in made.items():
        cells: list[object] = []
        for aspect in ASPECTS:
            human = np.array([row["label"][aspect] for row in rows], dtype=np.float64)
            cells.append(within_documents("spearman", found, human, clusters))
        human = np.array([row["label"]["relevance"] for row in rows], dtype=np.float64)
        lines.append((name, *cells, across_systems("kendall", found, human, systems, clusters)))
    table(("metric", *ASPECTS, "relevance, systems"), lines)


def _of_each_reference(rows: list[Row], embedder: BatchingEmbedder) -> dict[str, Floats]:
    """Each metric as the mean over the references, scored one by one."""
    pairs = [(place, reference) for place, row in enumerate(rows) for reference in row["expected_answers"]]
    places = np.array([place for place, _ in pairs])
    facts = [{"answer": rows[place]["answer"], "expected_answers": (reference,)} for place, reference in pairs]
    made = score(facts, METRICS, embedder)
    return {metric: np.bincount(places, weights=values(made[metric])) / np.bincount(places) for metric in METRICS}


def _completeness(rows: list[Row], embedder: BatchingEmbedder) -> dict[str, Floats]:
    """`summary_completeness` with the article as the source text, once the catalog has it."""
    if "summary_completeness" not in builtin_catalog().metrics:
        return {}
    facts = [{"question": row["contexts"][0], "answer": row["answer"]} for row in rows]
    made = score(facts, ("summary_completeness",), embedder)["summary_completeness"]
    return {"`summary_completeness`": values(made)}


def realsumm(embedder: BatchingEmbedder) -> None:
    rows = read("realsumm")
    clusters = documents(rows, lambda row: row["contexts"][0])
    systems = numbered([row["label"]["system"] for row in rows])
    human = np.array([row["label"]["litepyramid_recall"] for row in rows], dtype=np.float64)
    facts = [{"answer": row["answer"], "expected_answers": (row["expected_answer"],)} for row in rows]
    scores = score(facts, METRICS, embedder)
    made = {f"`{metric}`": values(scores[metric]) for metric in METRICS}
    made |= {f"`{m}`, recall in its details": values(scores[m], "recall") for m in METRICS if m.startswith("rouge")}
    made |= _completeness(rows, embedder)
    print(
        f"### Overlap: realsumm\n\n{len(rows)} summaries of {clusters.max() + 1} articles, {systems.max() + 1} systems."
    )
    print(
        "The human figure is the share of the reference's content units that the summary holds. Pearson's correlation,"
    )
    print("of the systems' means also Kendall's tau. Floor: ROUGE-1 recall .601 over all rows, .534 within articles.\n")
    lines = []
    for name, found in made.items():
        kept = ~np.isnan(found)
        over_all = bootstrap(
            lambda chosen, found=found[kept], human=human[kept]: correlation("pearson", found[chosen], human[chosen]),
            clusters[kept],
        )
        inside = within_documents("pearson", found, human, clusters)
        across = [across_systems(kind, found, human, systems, clusters) for kind in ("pearson", "kendall")]
        lines.append((name, int(kept.sum()), over_all, inside, *across))
    table(("metric", "rows", "over all rows", "within articles", "systems", "systems, Kendall"), lines)


def within_documents(kind: str, scores: Floats, human: Floats, clusters: NDArray[np.intp]) -> Figure:
    """Mean over the documents of the correlation within each, where both sides vary."""
    each = []
    for document in range(int(clusters.max()) + 1):
        inside = (clusters == document) & ~np.isnan(scores)
        each.append(correlation(kind, scores[inside], human[inside]))
    known = np.array([one for one in each if not np.isnan(one)])
    return bootstrap(lambda drawn: float(known[drawn].mean()), np.arange(len(known)))


def across_systems(
    kind: str, scores: Floats, human: Floats, systems: NDArray[np.intp], clusters: NDArray[np.intp]
) -> Figure:
    """Correlation of the systems' means; documents are drawn, and every system stays.

    Drawing adds noise to the means, which lowers the correlations: an interval may end below its own value.
    """
    kept = ~np.isnan(scores)
    scores, human, systems, clusters = scores[kept], human[kept], systems[kept], clusters[kept]

    def statistic(drawn: NDArray[np.intp]) -> float:
        counts = np.bincount(systems[drawn])
        known = counts > 0  # a system may have no value at all
        sums = [np.bincount(systems[drawn], weights=operand[drawn])[known] for operand in (scores, human)]
        return correlation(kind, *(one / counts[known] for one in sums))

    return bootstrap(statistic, clusters)


def language(embedder: BatchingEmbedder) -> None:
    """No metric names a language yet; what can be measured is which languages the word-based metrics can read."""
    rows = read("language_id")
    texts: dict[str, list[str]] = {}
    for row in rows:
        texts.setdefault(row["label"]["language"], []).append(row["answer"])
    print(f"### Language: language_id ({len(rows)} sentences, {len(texts)} languages)\n")
    print("No metric here names a language, so there is no accuracy to measure (`language_mismatch` asks a judge).")
    print("What can be measured: how much of a text the word-based metrics see. ROUGE reads runs of a-z and 0-9; the")
    print("token set of `keyword_recall` is cut at blanks. `rouge_l` of a text against itself should be 1.\n")
    lines = []
    for name, of_language in sorted(texts.items(), key=lambda both: -_seen(both[1])):
        facts = [{"answer": text, "expected_answers": (text,)} for text in of_language]
        none = Counter(one.status for one in score(facts, ("rouge_l",), embedder)["rouge_l"])["not_applicable"]
        tokens = sum(len(token_set(text)) for text in of_language) / len(of_language)
        lines.append((name, f"{_seen(of_language):.2f}", f"{none} of {len(of_language)}", f"{tokens:.1f}"))
    columns = ("language", "share of the letters that ROUGE reads", "`rouge_l` has no value", "tokens a sentence")
    table(columns, lines)


def _seen(texts: list[str]) -> float:
    letters = sum(character.isalnum() for text in texts for character in text)
    read_by_rouge = sum(character.isalnum() and character.isascii() for text in texts for character in text.lower())
    return read_by_rouge / letters if letters else 0.0
