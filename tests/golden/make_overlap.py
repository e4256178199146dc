"""Makes overlap.json: BLEU by NLTK and ROUGE by rouge-score, on fixed pairs and on word lists drawn by a seed.

Run: python tests/golden/make_overlap.py (needs nltk, rouge-score and sentencex, and nothing of ours)
"""

# ruff: noqa: RUF001 - quotes and dashes that look alike are what is tried here

import importlib.metadata
import json
import random
import warnings
from pathlib import Path

import sentencex
from nltk.tokenize import NLTKWordTokenizer
from nltk.translate.bleu_score import sentence_bleu
from rouge_score.rouge_scorer import RougeScorer

PAIRS = [
    ("The cat is on the mat in the hall.", "The cat is sitting on the mat in the hall."),
    ("the cats were running", "the cat runs"),
    ("We issue refunds within 14 days, happy to help!", "Refunds are issued within 14 days of the return."),
    ("Refunds take 14 days.", "Refunds take 14 days."),
    ("one two three four five", "one two three four five"),
    ("You can't return it. It's 3,50 (or more) -- isn't it?", "You can return it, it is 3,50 or less."),
    ('He said: "Go to Settings > Account". Then `reset` it…', 'Go to "Settings" > "Account" and reset it.'),
    ("the the the the the the the", "the cat is on the mat"),
    ("the cat the cat on the mat", "the cat sat on the mat, the cat did"),
    ("Grüße aus Köln, naïve café owners’ résumés", "Grüße aus Köln: naïve café owner's résumé"),
    ("- first point\n- second point\n\n3. third point", "first point, second point, third point"),
    ("Dr. Roe pays $5.50 at 10:30 a.m. She's gonna cannot wait.", "Dr. Roe can not wait; she is going to pay $5.50."),
    ("Open Settings, then press Reset", "Press the button that says reset and wait for the e-mail"),
    ("a b c d e f g h", "h g f e d c b a"),
    ("completely different words here", "nothing shared at all between them"),
]


def drawn(count: int) -> list[tuple[str, str]]:
    picker = random.Random(20261121)
    words = [
        "the",
        "a",
        "refund",
        "refunds",
        "refunded",
        "order",
        "orders",
        "ordering",
        "shipped",
        "ships",
        "ship",
        "days",
        "day",
        "within",
        "of",
        "to",
        "is",
        "are",
    ]
    pairs = []
    for _ in range(count):
        first = picker.choices(words, k=picker.randint(1, 30))
        second = [word for word in first if picker.random() < 0.7] + picker.choices(words, k=picker.randint(1, 6))
        pairs.append((" ".join(first), " ".join(second)))
    return pairs


def words_of(text: str) -> list[str]:
    """Lines without list bullets, then sentences, then NLTK's word tokens."""
    tokenizer = NLTKWordTokenizer()
    lines = [line.removeprefix("- ").removeprefix("3. ") for line in text.splitlines()]
    sentences = [sentence.strip() for line in lines for sentence in sentencex.segment("en", line)]
    return [token for sentence in sentences if sentence for token in tokenizer.tokenize(sentence)]


def case(answer: str, expected: str) -> dict[str, object]:
    answer_words, expected_words = words_of(answer), words_of(expected)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NLTK warns of orders without a match
        alone = [
            sentence_bleu([expected_words], answer_words, [float(order == n) for order in (1, 2, 3, 4)])
            for n in (1, 2, 3, 4)
        ]
        bleu = sentence_bleu([expected_words], answer_words)
    rouge = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True).score(expected, answer)
    return {
        "answer": answer,
        "expected": expected,
        "answer_words": answer_words,
        "expected_words": expected_words,
        "bleu_alone": alone,
        "bleu": bleu,
        "rouge": {name: list(score) for name, score in rouge.items()},
    }


def main() -> None:
    libraries = ("nltk", "rouge-score", "sentencex")
    golden = {
        "library": {name: importlib.metadata.version(name) for name in libraries},
        "version": 1,
        "made_by": "tests/golden/make_overlap.py",
        "cases": [case(answer, expected) for answer, expected in [*PAIRS, *drawn(60)]],
    }
    text = json.dumps(golden, ensure_ascii=False, indent=1)
    Path(__file__).with_name("overlap.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
