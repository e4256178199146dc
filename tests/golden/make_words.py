"""Makes words.json: word tokens and stems by NLTK, on sentences and words that try every rule.

Run: python tests/golden/make_words.py (needs nltk, and nothing of ours)
"""

# ruff: noqa: RUF001 - quotes and dashes that look alike are what is tried here

import importlib.metadata
import json
import random
from pathlib import Path

from nltk.stem import PorterStemmer
from nltk.tokenize import NLTKWordTokenizer

SENTENCES = [
    "They can't refund 3,50 (or more).",
    'He said "yes", she said: "no."',
    'She asked "why?" and left. "',
    "(See the note.)",
    "It ends here. )",
    "Don't, won't, I'll, you're, we've, he'd, I'm, it's, dogs' and DON'T YOU'LL.",
    "'Hello', 'tis rock 'n' roll, o'clock, '90s, 's-Hertogenbosch",
    "I'm gonna wanna gotta gimme lemme; you cannot. D'ye know? More'n that.",
    "Run `pip install` and ```code``` -- or --- not... or .. or …",
    "Prices: $5, €6, 7%, 8:30, a:b, 1,000, a,b; e@mail.com #tag & *star*",
    "“Curly” ‘quotes’ «chevrons» „low“ – dashes — and ― bars ‒ here",
    "Mr. Smith [sic] {x} <y> went to Washington D.C.",
    "can't've shouldn't've y'all'd'nt",
    "''double'' single'' \"\" ''",
    "a,,b ::c d,,,5 e,:f",
    'price\u00a0is "5\u2009€". End\u00a0',
    "Trailing quote'",
    "the dog's' bone's'",
    "naïve café's l'été d’accord",
    "रेस्तरां 'नए' ज़माने",
    "x",
    ".",
    "'",
    '"',
    "?!",
    "cannot'tis and 'twas",
    "foo.' bar.) baz.\"",
]
ROOTS = [
    "",
    "a",
    "y",
    "sky",
    "tr",
    "hop",
    "relat",
    "condit",
    "hesit",
    "rad",
    "vis",
    "geo",
    "phil",
    "fly",
    "enjo",
    "oper",
]
ENDINGS = [
    "s",
    "ss",
    "sses",
    "ies",
    "ied",
    "eed",
    "ed",
    "ing",
    "at",
    "bl",
    "iz",
    "y",
    "ational",
    "tional",
    "enci",
    "anci",
    "izer",
    "bli",
    "abli",
    "alli",
    "entli",
    "eli",
    "ousli",
    "ization",
    "ation",
    "ator",
    "alism",
    "iveness",
    "fulness",
    "ousness",
    "aliti",
    "iviti",
    "biliti",
    "fulli",
    "logi",
    "icate",
    "ative",
    "alize",
    "iciti",
    "ical",
    "ful",
    "ness",
    "al",
    "ance",
    "ence",
    "er",
    "ic",
    "able",
    "ible",
    "ant",
    "ement",
    "ment",
    "ent",
    "sion",
    "tion",
    "ion",
    "ou",
    "ism",
    "ate",
    "iti",
    "ous",
    "ive",
    "ize",
    "e",
    "ll",
]
IRREGULAR = (
    "skies sky dying lying tying news innings inning outings outing cannings canning howe proceed exceed succeed"
)


def main() -> None:
    picker = random.Random(20261121)
    words = {root + ending for root in ROOTS for ending in ENDINGS} | set(IRREGULAR.split())
    letters = "aeiouybcdlstz1"
    for _ in range(400):
        words.add("".join(picker.choices(letters, k=picker.randint(1, 6))) + picker.choice(ENDINGS))
    stemmer, tokenizer = PorterStemmer(), NLTKWordTokenizer()
    golden = {
        "library": "nltk",
        "version": importlib.metadata.version("nltk"),
        "made_by": "tests/golden/make_words.py",
        "cases": {
            "tokens": [[sentence, tokenizer.tokenize(sentence)] for sentence in SENTENCES],
            "stems": {word: stemmer.stem(word) for word in sorted(words)},
        },
    }
    text = json.dumps(golden, ensure_ascii=False, indent=1)
    Path(__file__).with_name("words.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
