"""Detectors of passport numbers by country; their form says little, so a word must announce them."""

from typing import Final

from .checksums import machine_readable
from .detector import Detector

_NEAR: Final = (
    "passport", "pasaporte", "passaporto", "reisepass", "passnummer", "travel document", "여권",
)  # fmt: skip
_FORMS: Final = (
    ("us", r"[0-9]{9}|[A-Z][0-9]{8}"),
    ("uk", r"[0-9]{9}|[A-Z]{2}[0-9]{7}"),
    ("es", r"[A-Z]{3}[0-9]{6}"),
    ("it", r"[A-Z]{2}[0-9]{7}"),
    ("in", r"[A-Z][1-9][0-9] ?[0-9]{4}[1-9]"),
    ("kr", r"[MSRODmsrod][0-9]{3}[A-Za-z][0-9]{4}|[MSRODmsrod][0-9]{8}"),
    ("ph", r"[A-Z][0-9]{7}[A-Z]|[A-Z]{2}[0-9]{7}"),
    ("za", r"[ADMT][0-9]{8}"),
)


def _is_german(text: str) -> bool:
    return any(character.isdigit() for character in text[:-1]) and machine_readable(text)


PASSPORTS: Final = (
    *(Detector(f"{country}_passport", rf"\b(?:{form})\b", near=_NEAR, digits=6) for country, form in _FORMS),
    Detector("de_passport", r"\b[CFGHJKLMNPRTVWXYZ][CFGHJKLMNPRTVWXYZ0-9]{7}[0-9]\b", valid=_is_german, near=_NEAR),
)
