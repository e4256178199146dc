"""Language mismatch without a language model, on pairs of texts whose languages are known.

Run: python tests/benchmarks/measure_language.py

Reads xquad_lang (questions in 12 languages, parallel) and language_id (sentences in 25 languages) beside the checkout
(../shared/data) in place. A mismatch is a text and its translation, or sentences of two languages; a match is two
texts of one language. Methods: ``script`` alone (texts without a script in common), and the embedded judge on whole
texts and on their first eight and four words (of scripts without blanks: two signs for a word). ``right of all`` counts
silence as wrong. Goal: .95 of all pairs, of whole texts and of eight words. The limits were chosen on one half of the
texts (by a hash); the figures are of the other half. Intervals are of 95 %, from 1,000 resamples of whole documents
with a fixed seed.
"""

import asyncio
import hashlib
import random
import time
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from agreement import SEED, bootstrap
from labelled_data import ABSENT, DATA, documents, read, table
from numpy.typing import NDArray
from proctor.metrics import NotApplicable
from proctor.metrics.judge.call import Block
from proctor.metrics.judge.calls import Label
from proctor.metrics.judge.embedded.judge import same_language
from proctor.metrics.languages import scripts

Pair = tuple[str, str, bool, str]  # two texts, whether they are of one language, the document


def unseen(text: str) -> bool:
    """Whether a text is of the half that took no part in choosing the limits."""
    return hashlib.sha256(text.encode()).digest()[-1] % 2 == 1


def shortened(pairs: Sequence[Pair], words: int) -> list[Pair]:
    """The first words of each text."""
    return [(first_words(first, words), first_words(second, words), *rest) for first, second, *rest in pairs]


def first_words(text: str, words: int) -> str:
    pieces = text.split()
    return " ".join(pieces[:words]) if len(pieces) > 2 else text[: 2 * words]


def parallel_pairs() -> list[Pair]:
    """Of each question a translation, and another question in the same language."""
    rows = read("xquad_lang")
    choose = random.Random(SEED)
    by_document, by_language = defaultdict(list), defaultdict(list)
    for row in rows:
        by_document[row["label"]["parallel_id"]].append(row)
        by_language[row["label"]["language"]].append(row)
    pairs = []
    for row in (each for each in rows if unseen(each["answer"])):
        document, language = row["label"]["parallel_id"], row["label"]["language"]
        other = choose.choice([each for each in by_document[document] if each["label"]["language"] != language])
        like = choose.choice([each for each in by_language[language] if each is not row])
        pairs.append((row["answer"], other["answer"], False, document))
        pairs.append((row["answer"], like["answer"], True, document))
    return pairs


def sentence_pairs() -> list[Pair]:
    """Of each sentence one in the same language, and one in another language of the same script."""
    rows = [row for row in read("language_id") if row["answer"] and unseen(row["answer"])]
    choose = random.Random(SEED)
    by_language, by_script = defaultdict(list), defaultdict(list)
    for row in rows:
        by_language[row["label"]["language"]].append(row)
        by_script[scripts(row["answer"])].append(row)
    pairs = []
    for row in rows:
        language = row["label"]["language"]
        others = [each for each in by_script[scripts(row["answer"])] if each["label"]["language"] != language]
        like = choose.choice([each for each in by_language[language] if each is not row])
        pairs.append((row["answer"], like["answer"], True, row["id"]))
        if others:
            pairs.append((row["answer"], choose.choice(others)["answer"], False, row["id"]))
    return pairs


async def embedded(pairs: Sequence[Pair]) -> NDArray[np.float64]:
    """1 for one language, 0 for two, nan where the judge says nothing."""
    found = []
    for first, second, _, _ in pairs:
        texts = (Block("question", first), Block("answer", second))
        try:
            word = await same_language(Label("language_mismatch", ("same", "different"), texts))
        except NotApplicable:
            found.append(np.nan)
        else:
            found.append(float(word.label == "same"))
    return np.array(found)


def by_script(pairs: Sequence[Pair]) -> NDArray[np.float64]:
    """1 for a script in common, 0 for none."""
    return np.array([float(bool(scripts(first) & scripts(second))) for first, second, _, _ in pairs])


def line(name: str, method: str, pairs: Sequence[Pair], verdicts: NDArray[np.float64]) -> list[str]:
    labels = np.array([same for _, _, same, _ in pairs])
    clusters = documents([{"document": document} for *_, document in pairs], lambda row: row["document"])
    right = (verdicts == 1) == labels
    right[np.isnan(verdicts)] = False
    cells = [name, method, str(len(pairs)), f"{(~np.isnan(verdicts)).mean():.3f}"]
    for chosen in (np.ones_like(labels), labels, ~labels):
        figure = bootstrap(lambda rows, chosen=chosen: float(np.mean(right[rows][chosen[rows]])), clusters)
        cells.append(str(figure))
    return [*cells, ".95" if method.startswith("embedded") and "4 words" not in method else ""]


def main() -> None:
    if not DATA.exists():
        raise SystemExit(ABSENT)
    lines = []
    for name, pairs in (("xquad_lang", parallel_pairs()), ("language_id, one script", sentence_pairs())):
        lines.append(line(name, "script", pairs, by_script(pairs)))
        for words in (0, 8, 4):
            tried = shortened(pairs, words) if words else pairs
            began = time.perf_counter()
            verdicts = asyncio.run(embedded(tried))
            speed = len(pairs) / (time.perf_counter() - began)
            method = f"embedded, {words} words" if words else f"embedded ({speed:,.0f} pairs/s)"
            lines.append(line(name, method, tried, verdicts))
    table(["set", "method", "pairs", "answered", "right of all", "matches", "mismatches", "goal"], lines)


if __name__ == "__main__":
    main()
