"""Detectors of numbers by which people are known in the United States and Canada."""

from typing import Final

from .checksums import digits_of, luhn
from .detector import Detector

# Printed on sample cards and in advertisements, and never anybody's since.
SAMPLE_SOCIAL_SECURITY_NUMBERS: Final = ("078051120", "219099999", "123456789", "457555462")
_MBI_LETTER: Final = "[AC-HJKMNP-RT-Y]"
_MBI_EITHER: Final = "[0-9AC-HJKMNP-RT-Y]"


def is_social_security_number(text: str) -> bool:
    """Whether a number may have been given out: area, group and serial number are in use, separators agree."""
    digits = digits_of(text)
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    in_use = area not in {"000", "666"} and area[0] != "9" and group != "00" and serial != "0000"
    return in_use and len(set(digits)) > 1 and _separators_agree(text)


def _separators_agree(text: str) -> bool:
    return len({character for character in text if not character.isdigit()}) <= 1


def _is_itin(text: str) -> bool:
    group = int(digits_of(text)[3:5])
    return (50 <= group <= 65 or 70 <= group <= 88 or 90 <= group <= 92 or group >= 94) and _separators_agree(text)


def _is_provider(text: str) -> bool:
    digits = digits_of(text)
    return len(set(digits[:-1])) > 1 and luhn(f"80840{digits}")


def _is_dea(text: str) -> bool:
    digits = [int(digit) for digit in text[2:]]
    return (sum(digits[0:6:2]) + 2 * sum(digits[1:6:2])) % 10 == digits[6]


def _is_social_insurance(text: str) -> bool:
    return _separators_agree(text) and luhn(digits_of(text))


US_SOCIAL_SECURITY: Final = (
    Detector(
        "us_ssn", r"\b[0-9]{3}(?:-[0-9]{2}-| [0-9]{2} |\.[0-9]{2}\.)[0-9]{4}\b",
        valid=is_social_security_number, digits=9, alone=True,
    ),
    Detector(
        "us_ssn", r"\b[0-9]{9}\b", valid=is_social_security_number, near=("ssn", "ssns", "social security"),
        digits=9, alone=True,
    ),
)  # fmt: skip
NORTH_AMERICA: Final = (
    Detector("us_itin", r"\b9[0-9]{2}[- ][0-9]{2}[- ][0-9]{4}\b", valid=_is_itin, digits=9, alone=True),
    Detector(
        "us_itin", r"\b9[0-9]{2}[- ]?[0-9]{2}[- ]?[0-9]{4}\b", valid=_is_itin, near=("itin", "taxpayer", "tax id"),
        digits=9, alone=True,
    ),
    Detector(
        "us_driver_license",
        r"\b(?:[A-Z]{1,2}[0-9]{4,14}|[0-9]{7,12}|[0-9]{7,9}[A-Z]{1,2}|[0-9]{2}[A-Z]{3}[0-9]{5}|[A-Z]{3}[0-9]{6})\b",
        near=("driver", "driving licen", "dl", "cdl"), digits=4, alone=True,
    ),
    Detector(
        "us_provider_number", r"\b[12][0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{3}\b", valid=_is_provider,
        near=("npi", "national provider", "provider id"), digits=10, alone=True,
    ),
    Detector(
        "us_medical_license", r"\b[A-HJ-NPR-UXa-hj-npr-ux][A-Za-z9][0-9]{7}\b", valid=_is_dea,
        near=("dea", "medical licen", "prescriber"), digits=7,
    ),
    Detector(
        "us_medicare_beneficiary",
        rf"\b[1-9]{_MBI_LETTER}{_MBI_EITHER}[0-9]-{_MBI_LETTER}{_MBI_EITHER}[0-9]-{_MBI_LETTER}{{2}}[0-9]{{2}}\b",
        digits=4,
    ),
    Detector(
        "us_medicare_beneficiary",
        rf"\b[1-9]{_MBI_LETTER}{_MBI_EITHER}[0-9]{_MBI_LETTER}{_MBI_EITHER}[0-9]{_MBI_LETTER}{{2}}[0-9]{{2}}\b",
        near=("medicare", "mbi", "beneficiary", "medicaid"), digits=4,
    ),
    Detector(
        "us_health_insurance_member", r"\b[A-Z]{1,5}-?[0-9][A-Z0-9]{4,13}\b",
        near=("member id", "member number", "subscriber", "insurance id", "policy number"), digits=4,
    ),
    Detector(
        "ca_social_insurance", r"\b[1-79][0-9]{2}(?:-[0-9]{3}-| [0-9]{3} )[0-9]{3}\b", valid=_is_social_insurance,
        digits=9, alone=True,
    ),
    Detector(
        "ca_social_insurance", r"\b[1-79][0-9]{8}\b", valid=_is_social_insurance,
        near=("sin", "nas", "social insurance", "assurance sociale"), digits=9, alone=True,
    ),
)  # fmt: skip
