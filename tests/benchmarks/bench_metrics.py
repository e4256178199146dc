"""Rows scored a second by the six metrics of the speed goal, beside NLTK and rouge-score called row by row.

Run: python tests/benchmarks/bench_metrics.py [--rows 20000] [--naive-rows 1000]
"""

import argparse
import random
import time
import warnings
from collections.abc import Callable, Sequence

from proctor.metrics import Facts, builtin_catalog

METRICS = ("exact_match", "keyword_recall", "answer_length", "politeness", "rouge_l", "bleu")


def rows(count: int) -> list[Facts]:
    """Answers of 20 words, each with an expected answer that shares about 14 of them."""
    picker = random.Random(20261121)
    letters = "aaabcdeeeefghiiijklmnnooprrsstttuvwy"
    words = ["".join(picker.choices(letters, k=picker.randint(2, 9))) for _ in range(8000)]
    weights = [1 / (rank + 1) ** 0.8 for rank in range(len(words))]  # about as words are spread in real text
    made: list[Facts] = []
    for _ in range(count):
        answer = picker.choices(words, weights, k=20)
        expected = [word for word in answer if picker.random() < 0.7] + picker.choices(words, weights, k=5)
        answer[9] += "."
        answer[10] = answer[10].title()
        made.append({"answer": f"{' '.join(answer).capitalize()}.", "expected_answers": (f"{' '.join(expected)}.",)})
    return made


def naive() -> Callable[[Facts], list[float]]:
    """The same six figures with the libraries, as one would write them for a single row."""
    from nltk.tokenize import NLTKWordTokenizer
    from nltk.translate.bleu_score import sentence_bleu
    from rouge_score.rouge_scorer import RougeScorer
    from sentencex import segment

    warnings.simplefilter("ignore")
    tokenizer, scorer = NLTKWordTokenizer(), RougeScorer(["rougeL"], use_stemmer=True)
    plain = builtin_catalog().plan(METRICS[:4])

    def words(text: str) -> list[str]:
        return [word for sentence in segment("en", text) for word in tokenizer.tokenize(sentence.strip())]

    def score(facts: Facts) -> list[float]:
        answer, expected = str(facts["answer"]), facts["expected_answers"][0]
        simple = [one.value or 0.0 for one in plain.score_now(facts)]
        rouge = scorer.score(expected, answer)["rougeL"].fmeasure
        bleu = sentence_bleu([words(expected)], words(answer))
        return [*simple, rouge, bleu if bleu > 1e-70 else 0.0]

    return score


def best_rate(work: Callable[[Facts], object], given: Sequence[Facts]) -> float:
    """Rows a second, the best of three."""
    took = []
    for _ in range(3):
        began = time.perf_counter()
        for row in given:
            work(row)
        took.append(time.perf_counter() - began)
    return len(given) / min(took)


def main() -> None:
    """Print both rates and their ratio, after checking that both give the same values."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--naive-rows", type=int, default=1_000)
    given = parser.parse_args()
    data = rows(given.rows)
    plan, by_library = builtin_catalog().plan(METRICS), naive()
    for row in data[: given.naive_rows]:
        ours = [one.value or 0.0 for one in plan.score_now(row)]
        assert all(abs(a - b) < 1e-9 for a, b in zip(ours, by_library(row), strict=True)), row
    ours_rate = best_rate(plan.score_now, data)
    naive_rate = best_rate(by_library, data[: given.naive_rows])
    print(f"six metrics: {ours_rate:,.0f} rows/s ({1e6 / ours_rate:.0f} us a row)")
    print(f"with NLTK and rouge-score: {naive_rate:,.0f} rows/s ({1e6 / naive_rate:.0f} us a row)")
    print(f"ratio: {ours_rate / naive_rate:.1f}")


if __name__ == "__main__":
    main()
