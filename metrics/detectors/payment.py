"""Detectors of payment cards, bank accounts and crypto wallets."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from .checksums import base58check, bech32, digits_of, letters_and_digits_of, luhn, mod_97
from .detector import Detector, Span

# Published by the card networks and payment processors for trying things out.
TEST_CARDS: Final = (
    "4111111111111111", "4012888888881881", "4222222222222", "4242424242424242", "4000056655665556",
    "4000000000000002", "4917610000000000", "5555555555554444", "5105105105105100", "5200828282828210",
    "2223003122003222", "5454545454545454", "378282246310005", "371449635398431", "378734493671000",
    "6011111111111117", "6011000990139424", "30569309025904", "38520000023237", "36227206271667",
    "3056930009020004", "3530111333300000", "3566002020360505", "6200000000000005", "5019717010103742",
    "6331101999990016", "6304000000000000",
)  # fmt: skip
# First digits that networks have, as a range of equal length, and the lengths of their numbers.
_NETWORKS: Final = (
    ("4", "4", (13, 16, 19)),  # Visa
    ("51", "55", (16,)),  # Mastercard
    ("2221", "2720", (16,)),
    ("34", "34", (15,)),  # American Express
    ("37", "37", (15,)),
    ("300", "305", (14, 16, 17, 18, 19)),  # Diners Club
    ("3095", "3095", (14, 16, 17, 18, 19)),
    ("36", "36", (14, 16, 17, 18, 19)),
    ("38", "39", (14, 16, 17, 18, 19)),
    ("3528", "3589", (16, 17, 18, 19)),  # JCB
    ("2131", "2131", (15,)),
    ("1800", "1800", (15,)),
    ("2200", "2204", (16, 17, 18, 19)),  # Mir
    ("50", "50", (13, 14, 15, 16, 17, 18, 19)),  # Maestro and others
    ("56", "58", (13, 14, 15, 16, 17, 18, 19)),
    ("6", "6", (13, 14, 15, 16, 17, 18, 19)),  # Discover, UnionPay, Maestro, RuPay and others
    ("81", "82", (16, 17, 18, 19)),  # RuPay, UnionPay
    ("9792", "9792", (16,)),  # Troy
)
_LONGEST, _SHORTEST, _SHORTEST_GROUP = 19, 13, 3
_GROUPS: Final = re.compile("[0-9]+")
# Characters of an IBAN by country, from the register of SWIFT.
_IBAN_LENGTHS: Final = {
    country: length
    for length, countries in {
        15: "NO",
        16: "BE",
        18: "DK FI FK FO GL NL SD",
        19: "MK SI",
        20: "AT BA EE KZ LT LU MN XK",
        21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA",
        23: "AE GI IL IQ OM SO TL",
        24: "AD CZ ES MD PK RO SA SE SK TN VG",
        25: "LY PT ST",
        26: "IS TR",
        27: "BI DJ FR GR IT MC MR SM",
        28: "AL AZ BY CY DO GT HN HU LB NI PL SV",
        29: "BR EG PS QA UA",
        30: "JO KW MU YE",
        31: "MT SC",
        32: "LC",
        33: "RU",
    }.items()
    for country in countries.split()
}


@lru_cache(maxsize=10_000)
def _lengths_from(beginning: str) -> frozenset[int]:
    """How long the numbers are that begin with four digits; digits of equal length compare like numbers."""
    return frozenset(
        length for low, high, lengths in _NETWORKS if low <= beginning[: len(low)] <= high for length in lengths
    )


def _cards(run: str) -> Iterator[Span]:
    """Card numbers in a run of digits: one group, or groups of three and more that follow each other."""
    groups = [match.span() for match in _GROUPS.finditer(run)]
    index = 0
    while index < len(groups):
        start = groups[index][0]
        beginning = run[start : start + 5].replace(" ", "").replace("-", "")[:4]
        lengths = _lengths_from(beginning)
        last = _card_from(run, groups, index, lengths) if lengths else None
        if last is None:
            index += 1
        else:
            yield groups[index][0], groups[last][1]
            index = last + 1


def _card_from(run: str, groups: list[Span], first: int, lengths: frozenset[int]) -> int | None:
    """The last group of the longest card number that begins with a group and has one of some lengths."""
    number, found = "", None
    for place in range(first, len(groups)):
        start, end = groups[place]
        if len(number) + end - start > _LONGEST:
            break
        number += run[start:end]
        if len(number) in lengths and luhn(number):
            found = place
        if end - start < _SHORTEST_GROUP:
            break  # groups of two belong to other numbers, and may only end a card's
    return found


def _iban(run: str) -> Iterator[Span]:
    """The account number that begins the run, as long as its country wants it."""
    length = _IBAN_LENGTHS.get(run[:2].upper())
    places = [place for place, character in enumerate(run) if character.isalnum()]
    if length and len(places) >= length:
        end = places[length - 1] + 1
        goes_on = end < len(run) and run[end].isalnum()
        if not goes_on and mod_97(letters_and_digits_of(run[:end])):
            yield 0, end


PAYMENT_CARD: Final = Detector(
    "payment_card", r"\b[0-9](?:[ -]?[0-9]){12,}\b", parts=_cards, digits=_SHORTEST, alone=True
)
IBAN: Final = Detector(
    "iban", r"\b[A-Za-z]{2}[0-9]{2}(?:[ -]?[A-Za-z0-9]{4}){2,7}(?:[ -]?[A-Za-z0-9]{1,3})?\b",
    parts=_iban, digits=2, overlapping=True,
)  # fmt: skip
WALLETS: Final = (
    Detector("crypto_wallet", r"\b[13][1-9A-HJ-NP-Za-km-z]{25,34}\b", valid=base58check),
    Detector("crypto_wallet", r"\b(?:bc1[02-9ac-hj-np-z]{11,87}|BC1[02-9AC-HJ-NP-Z]{11,87})\b", valid=bech32),
    Detector("crypto_wallet", r"\b0x[0-9a-fA-F]{40}\b"),
)
US_BANK: Final = (
    Detector(
        "us_bank_account", r"\b[0-9]{8,17}\b", near=("account", "acct", "debit"), digits=8, alone=True,
        valid=lambda text: len(set(text)) > 1,
    ),
    Detector(
        "us_bank_routing", r"\b[0123678][0-9]{3}-?[0-9]{4}-?[0-9]\b", near=("aba", "routing"), digits=9, alone=True,
        valid=lambda text: _routing(digits_of(text)),
    ),
)  # fmt: skip


def _routing(digits: str) -> bool:
    return sum(int(digit) * (3, 7, 1)[place % 3] for place, digit in enumerate(digits)) % 10 == 0
