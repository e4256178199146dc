import json
import random
import string
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from proctor.metrics.safety.detectors import (
    MOST_FINDINGS,
    Detector,
    base58check,
    bech32,
    luhn,
    machine_readable,
    masked,
    mod_11_10,
    mod_97,
    scan,
    verhoeff,
)
from proctor.metrics.safety.leaks import ENTROPY, entropy
from proctor.metrics.safety.leaks import EXTENDED_DETECTORS as PERSONAL
from proctor.metrics.safety.leaks import EXTENDED_SECRET_DETECTORS as SECRETS
from proctor.metrics.safety.leaks import STANDARD_DETECTORS as STANDARD
from tables import in_one_test

GOLDEN = Path(__file__).parents[1] / "golden"
ALL = (*PERSONAL, *SECRETS, *ENTROPY)
WORD = Detector("word", r"\b[a-z]{3}\b")
RUN = Detector("run", r"ab", overlapping=True)


def never(detector: str, text: str) -> str:
    return ""


def places(text: str, *detectors: Detector) -> list[tuple[int, int]]:
    return [(one.start, one.end) for one in scan(text, detectors, never).found]


def golden_cases(file: str) -> Iterator[Any]:
    golden = json.loads((GOLDEN / file).read_text("utf-8"))
    different = {(one["recognizer"], text): one for one in golden["differences"] for text in one["texts"]}
    for name, made in golden["recognizers"].items():
        for text, upstream in made["cases"]:
            yield pytest.param(made["ours"], text, upstream, different.pop((name, text), None), id=f"{name}-{text}")
    assert different == {}, "a difference is listed for a text that is not among the cases"


@in_one_test(
    ("ours", "text", "upstream", "difference"), [*golden_cases("personal_data.json"), *golden_cases("secrets.json")]
)
def test_texts_that_upstream_detectors_find_something_in(
    ours: list[str], text: str, upstream: bool, difference: dict[str, object] | None
) -> None:
    detectors = [one for one in ALL if one.id in ours]
    assert {one.id for one in detectors} == set(ours)
    found = bool(scan(text, detectors, never).found)
    if difference is None:
        assert found == upstream
    else:
        assert difference["upstream"] == upstream
        assert difference["reason"]
        assert found != upstream, "no longer a difference: take it off the list"


@pytest.mark.parametrize("file", ["personal_data.json", "secrets.json"])
def test_every_upstream_detector_is_compared_or_left_out_with_a_reason(file: str) -> None:
    golden = json.loads((GOLDEN / file).read_text("utf-8"))
    assert set(golden["recognizers"]) | set(golden["left_out"]) == set(golden["all_recognizers"])
    assert set(golden["recognizers"]) & set(golden["left_out"]) == set()
    assert all(golden["left_out"].values())
    cases = [case for made in golden["recognizers"].values() for case in made["cases"]]
    assert min(sum(hit for _, hit in cases), sum(not hit for _, hit in cases)) > 60


def test_matches_are_seen_with_what_stands_before_them() -> None:
    assert places("abc abcd xabc abc", WORD) == [(0, 3), (14, 17)]
    assert places("abc" * 3, Detector("pairs", r"\b[a-z]{3}", overlapping=True)) == [(0, 3)]


@given(st.text(alphabet="é日𝄞a1 \ud800\u00a0\u2011", max_size=12), st.text(alphabet="é日𝄞a1 ", max_size=12))
def test_places_count_code_points(before: str, after: str) -> None:
    text = f"{before} jane@acme.io {after}"
    found = scan(text, PERSONAL[:1], never).found
    assert [text[one.start : one.end] for one in found] == ["jane@acme.io"]


def test_lookalikes_of_blanks_and_hyphens_hide_nothing() -> None:
    for text in ("4539\u00a01488\u202f0343\u20096467", "4539\u20111488\u20130343\u22126467", "４５３９ 1488 0343 6467"):  # noqa: RUF001
        assert places(f"“{text}”", *STANDARD) == [(1, 20)]
    assert places("«jane＠acme．io», „jane@acme.io“", *STANDARD) == [(1, 13), (17, 29)]  # noqa: RUF001


def test_a_detector_stops_after_enough_findings() -> None:
    assert len(places("abc " * 1_000, WORD)) == MOST_FINDINGS


def test_overlapping_findings_of_a_kind_count_once() -> None:
    first, second = Detector("same", "abc"), Detector("same", "bcd")
    other = Detector("other", "bcd")
    assert [(one.detector, one.start) for one in scan("abcd", (first, second, other), never).found] == [
        ("same", 0), ("other", 1),
    ]  # fmt: skip


def test_words_must_stand_near() -> None:
    detector = Detector("number", r"\b[0-9]{4}\b", near=("tin", "passport"))
    near = ["tin 1234", "1234 is my TIN.", "Passports: 1234", "tin" + " " * 70 + "1234"]
    far = ["using 1234", "1234", "tin" + " " * 100 + "1234", "1234" + " " * 50 + "tin", "tinned 1234"]
    assert [bool(places(text, detector)) for text in near + far] == [True] * len(near) + [False] * len(far)


@given(st.text(min_size=1, max_size=60))
def test_a_masked_value_keeps_most_of_its_secret(value: str) -> None:
    shown = masked(value).replace("…", "", 1)
    assert len(shown) <= max(5, 0)
    assert len(shown) <= 0.35 * len(value)
    assert "\n" not in shown


def seeds() -> Iterator[Any]:
    yield from (pytest.param(one, id=f"{place}-{one.id}") for place, one in enumerate(ALL))


PIECES = (
    "9", "4 ", "1-", "4444 ", "a", "a@", "@", "-", " ", "\n", "_", "é1", "a@a.", "GB82 WEST ", "sk-", "password = ", "://a:",
    "eyJ.", "1.", "1:", "-----BEGIN A ", "aws key ", "\"'", "0123456789abcdef", "+1", "ab+/",
)  # fmt: skip
HOSTILE = [
    *(piece * (100_000 // len(piece)) for piece in PIECES),
    "".join(random.Random(0).choices(string.ascii_letters + string.digits + "+/", k=100_000)),
]


@pytest.mark.parametrize("suite", [PERSONAL, (*SECRETS, *ENTROPY)], ids=["personal", "secrets"])
def test_hostile_texts_are_scanned_to_their_end(suite: Sequence[Detector]) -> None:
    """How long it takes is for bench_patterns.py to say."""
    for text in HOSTILE:
        assert all(0 <= found.start < found.end <= len(text) for found in scan(text, suite, never).found)


@pytest.mark.parametrize("digits", ["4111111111111111", "4012888888881881", "79927398713", "0"])
def test_luhn(digits: str) -> None:
    assert luhn(digits)
    wrong = [digits[:-1] + other for other in string.digits if other != digits[-1]]
    assert not any(map(luhn, wrong))


@in_one_test(
    ("check", "right"),
    [
        (verhoeff, "2363"),
        (verhoeff, "234123412346"),
        (mod_11_10, "86095742719"),
        (mod_97, "GB82WEST12345698765432"),
        (mod_97, "NO9386011117947"),
        (machine_readable, "L01X00T471"),
        (base58check, "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"),
        (base58check, "1111111111111111111114oLvT2"),
        (bech32, "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"),
        (bech32, "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0"),
    ],
)
def test_checksums_are_right_and_one_wrong_character_is_seen(check: Any, right: str) -> None:
    assert check(right)
    is_number = check not in (base58check, bech32)
    alphabet = string.digits if is_number else "0123456789acdefghjklmnpqrstuvwxyz"
    alphabet = alphabet if right.islower() or is_number else alphabet.upper()
    last = right[-1]
    wrong = [right[:-1] + other for other in alphabet if other.lower() != last.lower()]
    assert wrong
    assert not any(check(one) for one in wrong)


def test_bech32_is_of_one_case_only() -> None:
    assert bech32("BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4")
    assert not bech32("bc1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4")


@given(st.text(alphabet="abc", min_size=1))
def test_entropy_lies_between_nothing_and_the_number_of_kinds(text: str) -> None:
    assert 0 <= entropy(text) <= 1.585
    assert (entropy(text) == 0) == (len(set(text)) == 1)
