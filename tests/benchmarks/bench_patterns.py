"""How fast every pattern of ours goes through hostile texts of a megabyte, and how soon a user's pattern gives up.

Run: python tests/benchmarks/bench_patterns.py [--megabytes 1]

Fails (exit code 1) when a suite takes longer than a second a megabyte on any text.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence

from proctor.metrics.constraints import SafePattern
from proctor.metrics.safety.detectors import Detector, scan
from proctor.metrics.safety.leaks import ENTROPY
from proctor.metrics.safety.leaks import EXTENDED_DETECTORS as PERSONAL
from proctor.metrics.safety.leaks import EXTENDED_SECRET_DETECTORS as SECRETS
from proctor.metrics.safety.leaks import STANDARD_DETECTORS as STANDARD_PERSONAL
from proctor.metrics.safety.leaks import STANDARD_SECRET_DETECTORS as STANDARD_SECRETS
from proctor.metrics.score import TimedOut

SUITES: dict[str, Sequence[Detector]] = {
    "pii standard": STANDARD_PERSONAL,
    "pii extended": PERSONAL,
    "secrets standard": STANDARD_SECRETS,
    "secrets extended": SECRETS,
    "secrets entropy": (*SECRETS, *ENTROPY),
}
WORDS = (
    "passport ssn account aba itin driver npi dea mbi member id sin nhs steuer ausweis kranken patente tfn medicare "
    "aadhaar pan voter 면허 thai tin nin sars licen born phone 123456789 98765432101 "
)
PIECES = {
    "one digit": "9",
    "digits and blanks": "4 ",
    "digits and hyphens": "1-",
    "digit pairs": "12 ",
    "digit triples": "444 ",
    "card-like groups": "4444 ",
    "digits and dots": "1.",
    "digits and colons": "1:",
    "nine digits": "123456780 ",
    "eleven digits": "85010112345 ",
    "thirteen digits": "8501011234567 ",
    "plus signs": "+1",
    "phone-like": "(555 555-",
    "at signs": "@",
    "a and at": "a@",
    "address without end": "a@b.c-.",
    "dots after at": "a@a.a.a.a",
    "letter a": "a",
    "alphabet": "abcdefghijklmnopqrstuvwxyz",
    "capitals": "GB82WEST",
    "account-like": "GB82 WEST ",
    "blanks": " ",
    "hyphens": "-",
    "underscores": "_",
    "quotes": "\"'",
    "key": "sk-",
    "password": "password",
    "password =": "password = ",
    "password quoted": "password: \"",
    "aws": "aws key ",
    "begin": "-----BEGIN CERTIFICATE-----\n",
    "begin spaced": "-----BEGIN A ",
    "scheme": "://a:",
    "json web token": "eyJ.",
    "payload": "eyJhbGciOiJub25lIn0.eyJ9.",
    "slack": "xoxb-1-",
    "npm": "//a/:_authToken",
    "hexadecimal": "0123456789abcdef",
    "base 58": "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3 ",
    "bech32": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdx ",
    "accents": "é1",
    "line breaks": "\n",
    "announced": WORDS,
    "product-key-like": "AAAAA-",
    "colons": ":",
    "date-like": "born 31.12.1999 ",
}  # fmt: skip
USERS = {
    "nested repeat": (r"(a+)+$", "a" * 1_000_000 + "b"),
    "alternation": (r"(a|aa)+$", "a" * 1_000_000 + "b"),
    "look-around": (r"(?=(a+)+$)a", "a" * 1_000_000 + "b"),
    "back-reference": (r"(a*)*\1b", "a" * 5_000 + "c"),
    "accents": (r"(\w+\s?)+$", "é" * 5_000 + "!"),
}


def hostile_texts(length: int) -> dict[str, str]:
    """Texts of a length in characters, each of one piece over and over, and of random base 64 and bytes."""
    generator = random.Random(0)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    texts = {name: (piece * (length // len(piece) + 1))[:length] for name, piece in PIECES.items()}
    texts["random base 64"] = "".join(generator.choices(alphabet, k=length))
    texts["random digits"] = "".join(generator.choices("0123456789    -.", k=length))
    texts["random ASCII"] = "".join(generator.choices([chr(code) for code in range(9, 127)], k=length))
    return texts


def nothing(detector: str, text: str) -> str:
    return ""


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=1.0)
    length = int(parser.parse_args().megabytes * 1_000_000)
    texts = hostile_texts(length)
    for detectors in SUITES.values():
        scan("warm up 123456789012345678901234567890", detectors, nothing)
    print(f"{len(PERSONAL) + len(SECRETS) + len(ENTROPY)} detectors, {len(texts)} texts of {length:,} characters\n")
    worst = 0.0
    for name, detectors in SUITES.items():
        taken = {
            kind: seconds(lambda text=text, those=detectors: scan(text, those, nothing)) for kind, text in texts.items()
        }
        slowest = max(taken, key=lambda kind: taken[kind])
        worst = max(worst, taken[slowest] / length * 1_000_000)
        median = sorted(taken.values())[len(taken) // 2]
        rates = f"median {length / median / 1e6:7.1f} MB/s, slowest {length / taken[slowest] / 1e6:7.2f} MB/s"
        print(f"{name:17} {rates} ({slowest})")
    print("\nslowest detectors, alone:")
    alone = [
        (seconds(lambda one=one, text=text: scan(text, (one,), nothing)), one.id, kind)
        for one in dict.fromkeys((*PERSONAL, *SECRETS, *ENTROPY))
        for kind, text in texts.items()
    ]
    for taken_alone, id, kind in sorted(alone, reverse=True)[:10]:
        print(f"  {id:28} {length / taken_alone / 1e6:7.2f} MB/s on {kind}")
    print("\nusers' patterns:")
    for name, (pattern, text) in USERS.items():
        print(f"  {name:15} {pattern:15} {outcome(pattern, text)}")
    return int(worst > 1.0)


def outcome(pattern: str, text: str) -> str:
    start = time.perf_counter()
    try:
        said = "found" if SafePattern(pattern).is_in(text) else "not found"
    except TimedOut:
        said = "given up"
    return f"{said} after {time.perf_counter() - start:.3f} s in {len(text):,} characters"


if __name__ == "__main__":
    sys.exit(main())
