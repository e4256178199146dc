"""Detectors of numbers by which people are known in countries of Asia, Africa and the Pacific."""

from typing import Final

from .checksums import digits_of, luhn, verhoeff, weighted
from .detector import Detector
from .europe import is_date

_KOREAN_WEIGHTS: Final = (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)
_KOREAN_LICENCE_REGIONS: Final = frozenset([*map(str, range(11, 27)), "28"])
# The letter at the end by the remainder, for each letter at the beginning, and what that adds to the sum.
_SINGAPORE: Final = {
    "S": ("JZIHGFEDCBA", 0), "T": ("JZIHGFEDCBA", 4), "F": ("XWUTRQPNMLK", 0), "G": ("XWUTRQPNMLK", 4),
    "M": ("XWUTRQPNJLK", 3),
}  # fmt: skip


def _is_tax_file_number(text: str) -> bool:
    return weighted(digits_of(text), (1, 4, 3, 7, 5, 8, 6, 9, 10)) % 11 == 0


def _is_australian_medicare(text: str) -> bool:
    digits = digits_of(text)
    return weighted(digits, (1, 3, 7, 9, 1, 3, 7, 9)) % 10 == int(digits[8])


def _is_aadhaar(text: str) -> bool:
    digits = digits_of(text)
    return verhoeff(digits) and digits != digits[::-1]


def _is_nric(text: str) -> bool:
    letters, added = _SINGAPORE[text[0].upper()]
    return letters[(weighted(text[1:8], (2, 7, 6, 5, 4, 3, 2)) + added) % 11] == text[8].upper()


def _is_korean(text: str) -> bool:
    """A birthday and a centuries' digit; only numbers given out before October 2020 have a check digit."""
    digits = digits_of(text)
    century = {"9": 1800, "0": 1800}.get(digits[6]) or (2000 if digits[6] in "3478" else 1900)
    if not is_date(century + int(digits[:2]), int(digits[2:4]), int(digits[4:6])):
        return False
    return "-" in text or _has_korean_check_digit(digits)


def _has_korean_check_digit(digits: str) -> bool:
    whole = 13 if digits[6] in "5678" else 11  # foreigners' numbers begin their second half with 5 to 8
    return (whole - weighted(digits, _KOREAN_WEIGHTS) % 11) % 10 == int(digits[12])


def _is_korean_licence(text: str) -> bool:
    return digits_of(text)[:2] in _KOREAN_LICENCE_REGIONS


def _is_thai(text: str) -> bool:
    digits = digits_of(text)
    return (11 - weighted(digits, range(13, 1, -1)) % 11) % 10 == int(digits[12])


def _is_philippine_tax(text: str) -> bool:
    digits = digits_of(text)
    return len(digits) in (9, 12) and weighted(digits, (9, 8, 7, 6, 5, 4, 3, 2)) % 11 == int(digits[8])


def _is_south_african(text: str) -> bool:
    # The century is not there, and 2000 has every day that a year may have.
    return is_date(2000, int(text[2:4]), int(text[4:6])) and luhn(text)


ASIA_AFRICA_PACIFIC: Final = (
    Detector(
        "au_tax_file_number", r"\b[0-9]{3} ?[0-9]{3} ?[0-9]{3}\b", valid=_is_tax_file_number,
        near=("tfn", "tax file"), digits=9, alone=True,
    ),
    Detector(
        "au_medicare", r"\b[2-6][0-9]{3} [0-9]{5} [0-9]\b", valid=_is_australian_medicare, digits=10, alone=True
    ),
    Detector(
        "au_medicare", r"\b[2-6][0-9]{9}\b", valid=_is_australian_medicare, near=("medicare",), digits=10, alone=True
    ),
    Detector(
        "in_aadhaar", r"\b[2-9][0-9]{3}[- :][0-9]{4}[- :][0-9]{4}\b", valid=_is_aadhaar, digits=12, alone=True
    ),
    Detector(
        "in_aadhaar", r"\b[2-9][0-9]{11}\b", valid=_is_aadhaar, near=("aadhaar", "aadhar", "uidai", "uid"),
        digits=12, alone=True,
    ),
    Detector("in_pan", r"\b[A-Z]{3}[ABCFGHJLPT][A-Z][0-9]{4}[A-Z]\b", digits=4),
    Detector(
        "in_pan", r"\b[A-Za-z]{5}[0-9]{4}[A-Za-z]\b", near=("pan", "permanent account"), digits=4
    ),
    Detector("in_voter", r"\b[A-Za-z]{3}[0-9]{7}\b", near=("voter", "epic", "elector"), digits=7),
    Detector("sg_nric", r"\b[STFGMstfgm][0-9]{7}[A-Za-z]\b", valid=_is_nric, digits=7),
    Detector(
        "kr_resident_number", r"\b[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])-?[1-8][0-9]{6}\b",
        valid=_is_korean, digits=13, alone=True,
    ),
    Detector(
        "kr_driving_licence", r"\b[0-9]{2}[- ]?[0-9]{2}[- ]?[0-9]{6}[- ]?[0-9]{2}\b", valid=_is_korean_licence,
        near=("driver", "driving licen", "면허"), digits=12, alone=True,
    ),
    Detector("th_national_id", r"\b[1-9]-[0-9]{4}-[0-9]{5}-[0-9]{2}-[0-9]\b", valid=_is_thai, digits=13, alone=True),
    Detector(
        "th_national_id", r"\b[1-9][0-9]{12}\b", valid=_is_thai,
        near=("thai", "tnin", "national id", "เลขประจำตัว", "เลขบัตร"), digits=13, alone=True,
    ),
    Detector("ph_umid", r"\b[0-9]{4}-[0-9]{7}-[0-9]\b", digits=12, alone=True),
    Detector(
        "ph_tax_number", r"\b(?:[0-9]{3}-[0-9]{3}-[0-9]{3}(?:-[0-9]{3})?|[0-9]{9}|[0-9]{12})\b",
        valid=_is_philippine_tax, near=("tin", "taxpayer", "tax id", "bir"), digits=9, alone=True,
    ),
    Detector(
        "ng_nin", r"\b[0-9]{11}\b", valid=verhoeff, near=("nin", "nimc", "national identi"), digits=11, alone=True
    ),
    Detector(
        "za_id_number", r"\b[0-9]{10}[0-2][89][0-9]\b", valid=_is_south_african, digits=13, alone=True
    ),
    Detector(
        "za_driving_licence", r"\b[0-9]{6,10}[A-Z][A-Z0-9]{1,4}\b", near=("licen", "driver", "driving"), digits=6
    ),
    Detector(
        "za_tax_number", r"\b[01239][0-9]{9}\b", near=("sars", "tax number", "tax reference", "income tax"),
        digits=10, alone=True,
    ),
)  # fmt: skip
