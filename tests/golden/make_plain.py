"""Makes plain.json: token F1 by torchmetrics, chrF by sacrebleu, METEOR by NLTK, LIX by textstat.

Run: python tests/golden/make_plain.py (needs the packages below, and nothing of ours). NLTK's METEOR is asked without
WordNet, by an object in its place that knows no synonyms.
"""

# ruff: noqa: RUF001 - quotes and dashes that look alike are what is tried here

import importlib.metadata
import json
import random
from pathlib import Path

import sacrebleu
import sentencex
import textstat
from nltk.tokenize import NLTKWordTokenizer
from nltk.translate.meteor_score import single_meteor_score
from torchmetrics.functional.text import squad

PAIRS = [
    ("It opens at nine.", "At nine"),
    ("The U.S. won, 3-2!", "the US won 3-2"),
    ("Refunds take 14 days.", "Refunds take 14 days."),
    ("We issue refunds within 14 days, happy to help!", "Refunds are issued within 14 days of the return."),
    ("You can't return it. It's 3,50 (or more) -- isn't it?", "You can return it, it is 3,50 or less."),
    ("the the the the", "the cat is on the mat"),
    ("Grüße aus Köln, naïve café owners’ résumés", "Grüße aus Köln: naïve café owner's résumé"),
    ("(hi) there, 'you'", "hi there you"),
    ("no", "yes"),
    ("a b c d e f g h", "h g f e d c b a"),
    ("Москва — столица России.", "Столица России — Москва."),
    ("営業時間は九時からです。", "九時から営業します。"),
    ("สำนักงานเปิดเก้าโมง", "เปิดเก้าโมงเช้า"),
    ("🎉🎉 𝄞 open", "🎉 𝄞 opens"),
    ("aaaaaaaaaa", "aaaa"),
    ("ab", "abcdefghij"),
    ("running runner runs easily", "runs ran running easier"),
]
TEXTS = [
    "We open at nine. Come in, please; the office is on the second floor.",
    "Notwithstanding the aforementioned considerations, reimbursement necessitates documentation.",
    "Refunds are issued within 14 days of the return. The money goes to the card that was used for the payment.",
]


class NoSynonyms:
    def synsets(self, word: str) -> tuple[()]:
        return ()


def drawn(count: int) -> list[tuple[str, str]]:
    picker = random.Random(20261122)
    words = ["refund", "refunds", "Refunded,", "an", "the", "order", "ordering.", "ships", "day", "days", "of", "it's"]
    pairs = []
    for _ in range(count):
        first = picker.choices(words, k=picker.randint(1, 30))
        second = [word for word in first if picker.random() < 0.7] + picker.choices(words, k=picker.randint(1, 6))
        pairs.append((" ".join(first), " ".join(second)))
    return pairs


def words_of(text: str) -> list[str]:
    tokenizer = NLTKWordTokenizer()
    return [word for sentence in sentencex.segment("en", text) for word in tokenizer.tokenize(sentence.strip())]


def squad_f1(answer: str, expected: str) -> float:
    prediction = {"prediction_text": answer, "id": "1"}
    target = {"answers": {"answer_start": [0], "text": [expected]}, "id": "1"}
    return float(squad(prediction, target)["f1"]) / 100


def case(answer: str, expected: str) -> dict[str, object]:
    return {
        "answer": answer,
        "expected": expected,
        # The official script knows neither the punctuation of other scripts nor words without blanks.
        "token_f1": squad_f1(answer, expected) if (answer + expected).isascii() else None,
        "chrf": sacrebleu.sentence_chrf(answer, [expected]).score / 100,
        "chrf_plus_plus": sacrebleu.sentence_chrf(answer, [expected], word_order=2).score / 100,
        "meteor": single_meteor_score(words_of(expected), words_of(answer), wordnet=NoSynonyms()),
    }


def main() -> None:
    libraries = ("torchmetrics", "sacrebleu", "nltk", "sentencex", "textstat")
    golden = {
        "library": {name: importlib.metadata.version(name) for name in libraries},
        "version": 1,
        "made_by": "tests/golden/make_plain.py",
        "cases": [case(answer, expected) for answer, expected in [*PAIRS, *drawn(40)]],
        "lix": [{"text": text, "value": textstat.lix(text)} for text in TEXTS],
    }
    text = json.dumps(golden, ensure_ascii=False, indent=1)
    Path(__file__).with_name("plain.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
