"""Speed and memory of the deterministic metrics: beside NLTK and rouge-score, on looping answers, on 100,000 rows.

Run: python tests/benchmarks/bench_metrics.py [libraries six plain looping memory] [--rows 20000] [--naive-rows 500]

The libraries are called as one would for a single row and metric: each metric reads its texts anew. Beside it stands
the same with the words of a row shared by its BLEU metrics. What the libraries give is compared with our values first.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from proctor.metrics import Facts, builtin_catalog

SIX = ("exact_match", "keyword_recall", "answer_length", "politeness", "rouge_l", "bleu")
BLEU_WEIGHTS = {
    "bleu_1": (1.0,),
    "bleu_2": (0.0, 1.0),
    "bleu_3": (0.0, 0.0, 1.0),
    "bleu_4": (0.0, 0.0, 0.0, 1.0),
    "bleu": (0.25, 0.25, 0.25, 0.25),
}
ROUGE_NAMES = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL"}
OVERLAP = (*BLEU_WEIGHTS, *ROUGE_NAMES)
FACTS = {"question", "answer", "expected", "contexts", "constraints", "faq_question", "language"}


def deterministic() -> tuple[str, ...]:
    """Every row metric of the catalog that rests on texts alone."""
    return tuple(one.id for one in builtin_catalog().metrics.values() if one.level == "row" and {*one.needs} <= FACTS)


def rows(count: int) -> Iterator[Facts]:
    """Answers of 20 words, each with an expected answer that shares about 14 of them, and two contexts."""
    picker = random.Random(20261121)
    letters = "aaabcdeeeefghiiijklmnnooprrsstttuvwy"
    words = ["".join(picker.choices(letters, k=picker.randint(2, 9))) for _ in range(8000)]
    weights = [1 / (rank + 1) ** 0.8 for rank in range(len(words))]  # about as words are spread in real text
    for _ in range(count):
        answer = picker.choices(words, weights, k=20)
        expected = [word for word in answer if picker.random() < 0.7] + picker.choices(words, weights, k=5)
        contexts = [" ".join(picker.choices(words, weights, k=30)) + "." for _ in range(2)]
        answer[9] += "."
        answer[10] = answer[10].title()
        yield {
            "question": f"{' '.join(answer[:6])}?",
            "faq_question": f"{' '.join(expected[:6])}?",
            "answer": f"{' '.join(answer).capitalize()}.",
            "expected_answers": (f"{' '.join(expected)}.",),
            "contexts": contexts,
            "constraints": [answer[3], [expected[0], "REGEXP:[0-9]{2,}"]],
        }


@cache
def _tools():
    from nltk.tokenize import NLTKWordTokenizer
    from nltk.translate.bleu_score import sentence_bleu
    from rouge_score.rouge_scorer import RougeScorer
    from sentencex import segment

    warnings.simplefilter("ignore")
    tokenizer = NLTKWordTokenizer()

    def words(text: str) -> list[str]:
        return [word for sentence in segment("en", text) for word in tokenizer.tokenize(sentence.strip())]

    scorers = {name: RougeScorer([name], use_stemmer=True) for name in ROUGE_NAMES.values()}
    return words, sentence_bleu, scorers, RougeScorer([*ROUGE_NAMES.values()], use_stemmer=True)


def by_library(facts: Facts, metrics: Sequence[str]) -> list[float]:
    """Overlap metrics by the libraries, each on its own."""
    words, sentence_bleu, scorers, _ = _tools()
    answer, expected = str(facts["answer"]), facts["expected_answers"][0]
    found = []
    for metric in metrics:
        if metric in ROUGE_NAMES:
            name = ROUGE_NAMES[metric]
            found.append(scorers[name].score(expected, answer)[name].fmeasure)
        else:
            bleu = sentence_bleu([words(expected)], words(answer), weights=BLEU_WEIGHTS[metric])
            found.append(bleu if bleu > 1e-70 else 0.0)  # NLTK's zero is about 1e-78
    return found


def by_library_sharing(facts: Facts) -> list[float]:
    """The same with one reading of the texts for all of BLEU and one for all of ROUGE."""
    words, sentence_bleu, _, scorer = _tools()
    answer, expected = str(facts["answer"]), facts["expected_answers"][0]
    said, wanted = words(answer), words(expected)
    bleu = [sentence_bleu([wanted], said, weights=weights) for weights in BLEU_WEIGHTS.values()]
    rouge = scorer.score(expected, answer)
    return [*bleu, *(rouge[name].fmeasure for name in ROUGE_NAMES.values())]


def best_rate(work: Callable[[Facts], object], given: Sequence[Facts]) -> float:
    """Rows a second, the best of three."""
    took = []
    for _ in range(3):
        began = time.perf_counter()
        for row in given:
            work(row)
        took.append(time.perf_counter() - began)
    return len(given) / min(took)


def libraries(count: int, naive_count: int) -> None:
    """Our overlap metrics, and all deterministic metrics, beside the libraries' overlap metrics."""
    data = list(rows(count))
    ours, everything = builtin_catalog().plan(OVERLAP), builtin_catalog().plan(deterministic())
    furthest = 0.0
    for row in data[:naive_count]:
        pairs = zip(ours.score_now(row), by_library(row, OVERLAP), strict=True)
        furthest = max(furthest, *(abs((one.value or 0.0) - library) for one, library in pairs))
    assert furthest < 1e-9, furthest
    _check_all_have_values(everything.score_now(data[0]))
    naive = best_rate(lambda row: by_library(row, OVERLAP), data[:naive_count])
    sharing = best_rate(by_library_sharing, data[:naive_count])
    print(f"{len(OVERLAP)} overlap metrics by NLTK and rouge-score: {naive:,.0f} rows/s; sharing words {sharing:,.0f}")
    print(f"furthest value from the libraries on {naive_count} rows: {furthest:.1e}")
    for name, plan in (("the same by us", ours), (f"all {len(everything.metrics)} deterministic metrics", everything)):
        rate = best_rate(plan.score_now, data)
        print(f"{name}: {rate:,.0f} rows/s; ratio {rate / naive:.1f}, to the sharing libraries {rate / sharing:.1f}")


def _check_all_have_values(scores) -> None:
    without = {
        one.metric: one.reason for one in scores if one.value is None and not one.metric.endswith("parse_failures")
    }
    assert not without, without


def six(count: int, naive_count: int) -> None:
    """The six metrics of a first suite; the libraries' side takes the four plain ones from us."""
    data = list(rows(count))
    plan, plain = builtin_catalog().plan(SIX), builtin_catalog().plan(SIX[:4])
    ours = best_rate(plan.score_now, data)
    naive = best_rate(lambda row: (plain.score_now(row), by_library(row, SIX[4:])), data[:naive_count])
    print(f"six metrics: {ours:,.0f} rows/s; with NLTK and rouge-score {naive:,.0f} rows/s; ratio {ours / naive:.1f}")


PLAIN = (
    *("token_f1", "chrf", "meteor", "edit_similarity", "list_match", "numeric_match", "readability", "contains_all"),
    *("contains_any", "starts_with", "regex", "json_valid", "json_schema"),
)
PLAIN_GOAL = 1_500


def plain(count: int, naive_count: int) -> None:
    """All plain metrics at 60 words; the libraries' side is sacrebleu's chrF and NLTK's METEOR alone."""
    import sacrebleu
    from nltk.tokenize import NLTKWordTokenizer
    from nltk.translate.meteor_score import single_meteor_score

    class NoSynonyms:
        def synsets(self, word: str) -> tuple[()]:
            return ()

    three = list(rows(3 * min(count, 6_000)))
    data = []
    for first, second, third in zip(three[::3], three[1::3], three[2::3], strict=True):
        data.append(first | {
            "answer": " ".join(str(one["answer"]) for one in (first, second, third)),
            "expected_answers": (" ".join(one["expected_answers"][0] for one in (first, second, third)) + " 12 km",),
            "constraints": ["a", "REGEXP:[0-9]{2,}", "STARTS_WITH:A", 'JSON_SCHEMA:{"type": "object"}'],
        })  # fmt: skip
    tokenizer, chrf = NLTKWordTokenizer(), sacrebleu.CHRF()

    def by_library_alone(row: Facts) -> None:
        answer, expected = str(row["answer"]), row["expected_answers"][0]
        chrf.sentence_score(answer, [expected])
        words, wanted = tokenizer.tokenize(answer), tokenizer.tokenize(expected)
        single_meteor_score(wanted, words, wordnet=NoSynonyms())

    plan = builtin_catalog().plan(PLAIN)
    _check_all_have_values(plan.score_now(data[0]))
    naive, ours = best_rate(by_library_alone, data[:naive_count]), best_rate(plan.score_now, data)
    of_core = 0.0
    for part in [data[start : start + 500] for start in range(0, len(data), 500)]:  # others disturb some of them
        began = time.process_time()
        for row in part:
            plan.score_now(row)
        of_core = max(of_core, len(part) / (time.process_time() - began))
    print(
        f"{len(PLAIN)} plain metrics, 60 words: {ours:,.0f} rows/s; {of_core:,.0f} a second of processor time"
        f" (goal {PLAIN_GOAL:,}); chrF by sacrebleu and METEOR by NLTK alone {naive:,.0f};"
        f" ratio {ours / naive:.1f}"
    )
    for metric in PLAIN:
        one = builtin_catalog().plan([metric])
        began = time.process_time()
        for row in data[:1_000]:
            one.score_now(row)
        print(
            f"  {metric}: {(time.process_time() - began) * 1e6 / min(len(data), 1_000):,.0f} µs of processor time a row"
        )


def looping() -> None:
    """The looping metrics on answers of 200 kB that repeat themselves in different ways."""
    sentence = "I can help with that. Please tell me more about your order and its number. "
    picker = random.Random(1)
    fibonacci = ["a", "ab"]
    while len(fibonacci[-1]) < 200_000:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    answers = {
        "one sentence over and over": sentence * (200_000 // len(sentence) + 1),
        "one letter": "a" * 200_000,
        "a passage of 100 kB twice": 2 * "".join(picker.choices("abcdefgh .", k=100_000)),
        "Fibonacci word": fibonacci[-1],
        "letters by chance": "".join(picker.choices("abcdefghijklmnopqrstuvwxyz ", k=200_000)),
    }
    metrics = ("longest_repeated_substring", "unique_sentences", "compression_ratio")
    for name, answer in answers.items():
        took = []
        for metric in metrics:
            plan = builtin_catalog().plan([metric])
            began = time.perf_counter()
            (score,) = plan.score_now({"answer": answer[:200_000]})
            took.append(f"{metric} {time.perf_counter() - began:.3f} s ({score.value:.3f})")
        print(f"200 kB, {name}: {', '.join(took)}")


def memory(counts: Sequence[int] = (10_000, 50_000, 100_000)) -> None:
    """Peak memory and rows a second of `proctor score` with all deterministic metrics.

    A process begins with the peak of the one that started it, so nothing large may be held here.
    """
    names = deterministic()
    program = str(Path(sys.executable).with_name("proctor"))
    for count in counts:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "recorded.jsonl"
            with path.open("w", encoding="utf-8") as file:
                for number, row in enumerate(rows(count)):
                    file.write(json.dumps({"id": f"q{number}", "bot": "mine", **_recorded(row)}) + "\n")
            command = [program, "score", str(path), "--metrics", ",".join(names), "--json"]
            began = time.perf_counter()
            with (Path(folder) / "out.json").open("w") as out:
                process = subprocess.Popen(command, cwd=folder, stdout=out)
                _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - began
            assert status == 0, status
            size = (Path(folder) / "proctor.db").stat().st_size / 1e6
            print(
                f"proctor score, {len(names)} metrics, {count:,} rows: peak {usage.ru_maxrss / 1024:.0f} MB,"
                f" {count / seconds:,.0f} rows/s ({seconds:.0f} s), database {size:.0f} MB",
                flush=True,
            )


def _recorded(row: Facts) -> dict[str, object]:
    keys = ("question", "faq_question", "answer", "contexts", "constraints")
    return {key: row[key] for key in keys} | {"expected_answer": row["expected_answers"][0]}


def main() -> None:
    """Run the named parts, all of them when none is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=[])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--naive-rows", type=int, default=500)
    given = parser.parse_args()
    parts: dict[str, Callable[[], None]] = {
        "libraries": lambda: libraries(given.rows, given.naive_rows),
        "six": lambda: six(given.rows, given.naive_rows),
        "plain": lambda: plain(given.rows, given.naive_rows),
        "looping": looping,
        "memory": memory,
    }
    for name in given.parts or parts:
        parts[name]()


if __name__ == "__main__":
    main()
