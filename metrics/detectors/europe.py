"""Detectors of numbers by which people are known in European countries."""

import datetime
from collections import Counter
from typing import Final

from .checksums import digits_of, letters_and_digits_of, luhn, machine_readable, mod_11_10, weighted
from .detector import Detector

_SPANISH_LETTERS: Final = "TRWAGMYFPDXBNJZSQVHLCKE"
_FINNISH_LETTERS: Final = "0123456789ABCDEFHJKLMNPRSTUVWXY"
_FINNISH_CENTURIES: Final = {"+": 1800} | dict.fromkeys("-YXWVU", 1900) | dict.fromkeys("ABCDEF", 2000)
# What a character counts in an odd place of an Italian fiscal code, from 0 (or A) on.
_ITALIAN_ODD: Final = (
    1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23,
)  # fmt: skip
_ITALIAN_DIGIT: Final = "[0-9LMNP-V]"  # in a code made to differ from another, letters stand for digits


def is_date(year: int, month: int, day: int) -> bool:
    """Whether there is such a day."""
    try:
        datetime.date(year, month, day)
    except ValueError:
        return False
    return True


def _is_nhs(text: str) -> bool:
    digits = digits_of(text)
    return weighted(digits, range(10, 0, -1)) % 11 == 0 and len(set(digits)) > 1


def _is_national_insurance(text: str) -> bool:
    return text[:2].upper() not in {"BG", "GB", "NK", "KN", "NT", "TN", "ZZ"}


def _is_british_licence(text: str) -> bool:
    return text[:5].rstrip("9").isalpha()


def _is_german_tax_id(text: str) -> bool:
    """One of the first ten digits comes twice or thrice, and the check digit fits."""
    counts = sorted(Counter(text[:10]).values(), reverse=True)
    return 2 <= counts[0] <= 3 and counts[1] < 3 and mod_11_10(text)


def _is_german_insurance(text: str) -> bool:
    """Number of the pension insurance: a birthday, an initial, and digit sums that end in the check digit."""
    day, month = int(text[2:4]) % 50, int(text[4:6])
    if not (1 <= day <= 31 and 1 <= month <= 12):
        return False
    digits = f"{text[:8]}{ord(text[8]) - 64:02}{text[9:11]}"
    weights = (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)
    return sum(sum(divmod(int(d) * w, 10)) for d, w in zip(digits, weights, strict=True)) % 10 == int(text[11])


def _is_german_health_insurance(text: str) -> bool:
    digits = f"{ord(text[0]) - 64:02}{text[1:9]}"
    return sum(sum(divmod(int(digit) * (1 + place % 2), 10)) for place, digit in enumerate(digits)) % 10 == int(text[9])


def _is_german_card(text: str) -> bool:
    """The card of today with its check digit, or the one from before 2010, which has none."""
    if text[0] == "T" and text[1:].isdigit():
        return True
    return any(character.isdigit() for character in text[:-1]) and machine_readable(text)


def _is_spanish(text: str) -> bool:
    plain = letters_and_digits_of(text)
    number = plain[:-1].replace("X", "0").replace("Y", "1").replace("Z", "2")
    return plain[-1] == _SPANISH_LETTERS[int(number) % 23]


def _is_fiscal_code(text: str) -> bool:
    total = 0
    for place, character in enumerate(text[:15].upper()):
        rank = ord(character) - (48 if character.isdigit() else 65)
        total += rank if place % 2 else _ITALIAN_ODD[rank]
    return text[15].upper() == chr(65 + total % 26)


def _is_pesel(text: str) -> bool:
    month, day = int(text[2:4]), int(text[4:6])
    year = (1900, 2000, 2100, 2200, 1800)[month // 20] + int(text[:2])
    fits = (10 - weighted(text, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3))) % 10 == int(text[10])
    return fits and is_date(year, month % 20, day)


def _is_finnish(text: str) -> bool:
    text = text.upper()
    year = _FINNISH_CENTURIES[text[6]] + int(text[4:6])
    fits = _FINNISH_LETTERS[int(text[:6] + text[7:10]) % 31] == text[10]
    return fits and is_date(year, int(text[2:4]), int(text[:2]))


def _is_personnummer(text: str) -> bool:
    digits = digits_of(text)
    day = int(digits[-6:-4])
    fits = luhn(digits[-10:]) and len(digits) in (10, 12)
    # The century is not always there, and 2000 has every day that a year may have.
    return fits and is_date(2000, int(digits[-8:-6]), day - 60 if day > 60 else day)


def _is_turkish(text: str) -> bool:
    digits = [int(digit) for digit in text]
    tenth = (7 * sum(digits[0:9:2]) - sum(digits[1:8:2])) % 10
    return digits[9] == tenth and digits[10] == sum(digits[:10]) % 10


EUROPE: Final = (
    Detector(
        "uk_nhs", r"\b[0-9]{3}[- ]?[0-9]{3}[- ]?[0-9]{4}\b", valid=_is_nhs,
        near=("nhs", "national health", "health authority"), digits=10, alone=True,
    ),
    Detector(
        "uk_national_insurance",
        r"\b[A-CEGHJ-PR-TW-Za-ceghj-pr-tw-z][A-CEGHJ-NPR-TW-Za-ceghj-npr-tw-z]"
        r" ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-Da-d]\b",
        valid=_is_national_insurance, digits=6,
    ),
    Detector(
        "uk_driving_licence",
        r"\b[A-Z][A-Z9]{4}[0-9](?:[05][1-9]|[16][0-2])(?:0[1-9]|[12][0-9]|3[01])[0-9][A-Z9]{2}[A-Z0-9][A-Z]{2}\b",
        valid=_is_british_licence, digits=6,
    ),
    Detector(
        "de_tax_id", r"\b[1-9][0-9]{10}\b", valid=_is_german_tax_id, near=("steuer", "idnr", "tax"),
        digits=11, alone=True,
    ),
    Detector(
        "de_tax_number", r"\b(?:[0-9]{2,3}/[0-9]{3,4}/[0-9]{4,5}|(?:0[1-9]|1[0-6])[0-9]{11})\b",
        near=("steuernummer", "steuer-nr", "steuer nr", r"st\.-nr", "finanzamt"), digits=9, alone=True,
    ),
    Detector(
        "de_id_card", r"\b(?:[CFGHJKLMNPRTVWXYZ][CFGHJKLMNPRTVWXYZ0-9]{7}[0-9])\b", valid=_is_german_card,
        near=("ausweis", "personalausweis", "identity card", "id card"), digits=2,
    ),
    Detector(
        "de_pension_insurance", r"\b[0-9]{8}[A-Z][0-9]{3}\b", valid=_is_german_insurance, digits=11, alone=True
    ),
    Detector(
        "de_health_insurance", r"\b[A-Z][0-9]{9}\b", valid=_is_german_health_insurance,
        near=("kranken", "versicher", "kvnr", "gesundheitskarte", "egk"), digits=9,
    ),
    Detector(
        "de_driving_licence", r"\b[A-Z][0-9A-Z]{2}[0-9]{6,7}[A-Z0-9]{1,2}\b",
        near=("f\u00fchrerschein", "fuehrerschein", "fahrerlaubnis", "driving licen", "driver"), digits=6,
    ),
    Detector("es_nif", r"\b[0-9]{7,8}-?[A-HJ-NP-TV-Z]\b", valid=_is_spanish, digits=7, alone=True),
    Detector("es_nie", r"\b[XYZxyz]-?[0-9]{7}-?[A-HJ-NP-TV-Za-hj-np-tv-z]\b", valid=_is_spanish, digits=7),
    Detector(
        "it_fiscal_code",
        rf"(?i)\b[A-Z]{{6}}{_ITALIAN_DIGIT}{{2}}[A-EHLMPR-T]{_ITALIAN_DIGIT}{{2}}[A-Z]{_ITALIAN_DIGIT}{{3}}[A-Z]\b",
        valid=_is_fiscal_code,
    ),
    Detector(
        "it_identity_card", r"(?i)\b(?:[A-Z]{2} ?[0-9]{7}|[0-9]{7}[A-Z]{2}|[A-Z]{2}[0-9]{5}[A-Z]{2})\b",
        near=("carta d", "identit\u00e0", "cie"), digits=5,
    ),
    Detector(
        "it_driving_licence", r"(?i)\b(?:[A-Z]{2}[0-9]{7}[A-Z]|U1[BCDEFGHLJKMNPRSTUWYXZ0-9]{7}[A-Z])\b",
        near=("patente", "licenza di guida"),
    ),
    Detector("pl_pesel", r"\b[0-9]{2}[0-9][0-9][0-3][0-9]{6}\b", valid=_is_pesel, digits=11, alone=True),
    Detector(
        "fi_personal_code", r"\b[0-9]{6}[-+A-FU-Ya-fu-y][0-9]{3}[0-9A-FHJ-NPR-Ya-fhj-npr-y]\b", valid=_is_finnish,
        digits=9,
    ),
    Detector(
        "se_personnummer", r"\b(?:[0-9]{2})?[0-9]{6}[-+]?[0-9]{4}\b", valid=_is_personnummer, digits=10, alone=True
    ),
    Detector("tr_national_id", r"\b[1-9][0-9]{10}\b", valid=_is_turkish, digits=11, alone=True),
)  # fmt: skip
