"""Detectors of strings so irregular that they may be keys: Shannon entropy of hexadecimal and base 64 strings."""

import math
from collections import Counter
from typing import Final

from .detector import Detector

HEX_LIMIT: Final = 3.0  # bits a character
BASE64_LIMIT: Final = 4.5


def entropy(text: str) -> float:
    """Shannon entropy in bits a character.

    >>> entropy("abcd"), entropy("aaaa")
    (2.0, 0.0)
    """
    total = len(text)
    return math.fsum(-count / total * math.log2(count / total) for count in Counter(text).values()) + 0.0


def _is_irregular_hex(text: str) -> bool:
    # Runs of digits are mostly not keys. The deduction is the one of detect-secrets; it shrinks with the length.
    deduction = 1.2 / math.log2(len(text)) if text.isdigit() else 0.0
    return entropy(text) - deduction >= HEX_LIMIT


def _is_irregular_base64(text: str) -> bool:
    return entropy(text) >= BASE64_LIMIT


ENTROPY: Final = (
    Detector("hex_high_entropy", r"\b[0-9a-fA-F]{16,}\b", valid=_is_irregular_hex),
    Detector("base64_high_entropy", r"[A-Za-z0-9+/_=-]{20,}", valid=_is_irregular_base64),
)
