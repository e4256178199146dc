"""Detectors of keys and tokens that services give out, known by their form."""

import base64
import json
from typing import Final

from .detector import Detector

_PEM_KIND: Final = r"(?:[A-Z0-9]+ )*(?:CERTIFICATE|PRIVATE KEY|PRIVATE KEY BLOCK)"
_BREAK: Final = r"(?:\s|\\n|\\r)*"  # a line break may be written out, as in JSON


def _is_key(text: str) -> bool:
    """Whether what follows ``sk-`` is not just words with hyphens between them."""
    value = text[3:]
    return any(one.isdigit() for one in value) or any(len(word) >= 20 for word in value.replace("_", "-").split("-"))


def _is_product_key(text: str) -> bool:
    return any(one.isalpha() for one in text)


def _is_json_web_token(text: str) -> bool:
    """Whether header and payload are JSON in base 64."""
    try:
        return all(isinstance(json.loads(_unpacked(part)), dict) for part in text.split(".")[:2])
    except (ValueError, RecursionError):
        return False


def _unpacked(part: str) -> bytes:
    plain = part.rstrip("=")
    return base64.urlsafe_b64decode(plain + "=" * (-len(plain) % 4))


PEM_BLOCK: Final = Detector(
    "pem_block",
    rf"-----BEGIN {_PEM_KIND}-----"
    rf"(?:{_BREAK}(?:[A-Z][A-Za-z-]+: [^\n]*\n\s*)*[A-Za-z0-9+/=]{{16}}|[^-]+-----END {_PEM_KIND}-----)",
)
API_KEY: Final = Detector("api_key", r"\bsk-[A-Za-z0-9_-]{20,}", valid=_is_key)
PRODUCT_KEY: Final = Detector("windows_product_key", r"\b[A-Z0-9]{5}(?:-[A-Z0-9]{5}){4}\b", valid=_is_product_key)

TOKENS: Final = (
    Detector("private_key", r"-{4,5} ?BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)? ?-{4,5}|PuTTY-User-Key-File-[23]:"),
    Detector("aws_access_key", r"\b(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[0-9A-Z]{16}\b"),
    Detector(
        "aws_secret_key",
        r"(?i)aws[^\n]{0,20}?(?:key|pwd|pw|password|pass|token)[^\n]{0,20}?[\"'=: ]([0-9a-zA-Z/+]{40})\b",
    ),
    Detector("azure_storage_key", r"AccountKey=([a-zA-Z0-9+/=]{88})"),
    Detector("github_token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{22,})"),
    Detector(
        "gitlab_token",
        r"\b(?:(?:glpat|gldt|glft|glsoat|glrt|glcbt|glptt|glimt|glagent|gloas)-|GR1348941)[A-Za-z0-9_-]{20,}",
    ),
    Detector("slack_token", r"(?i)\bxox[abposre](?:\.xox[bp])?-(?:[0-9]+-)+[a-z0-9-]+|\bxapp-[0-9]-[A-Za-z0-9-]{20,}"),
    Detector(
        "slack_webhook", r"(?i)https://hooks\.slack\.com/(?:services|workflows)/T[a-z0-9_]+/[A-Z][a-z0-9_]+/[a-z0-9_]+"
    ),
    Detector("stripe_key", r"\b[rs]k_live_[0-9a-zA-Z]{24,}"),
    Detector("sendgrid_key", r"\bSG\.[a-zA-Z0-9_-]{22}\.[a-zA-Z0-9_-]{43}"),
    Detector("twilio_key", r"\b(?:AC|SK)[a-z0-9]{32}\b"),
    Detector("mailchimp_key", r"\b[0-9a-z]{32}-us[0-9]{1,2}\b"),
    Detector("npm_token", r"//[^\s/]+[^\s]*/:_authToken=\s*(npm_[^\s]+|[A-Fa-f0-9-]{36})|\bnpm_[A-Za-z0-9]{36}\b"),
    Detector("pypi_token", r"\bpypi-Ag(?:EIcHlwaS5vcmc|ENdGVzdC5weXBpLm9yZw)[A-Za-z0-9_-]{70,}"),
    Detector("discord_token", r"\b[MNO][a-zA-Z0-9_-]{23,25}\.[a-zA-Z0-9_-]{6}\.[a-zA-Z0-9_-]{27,}"),
    Detector("telegram_token", r"\b[0-9]{8,10}:[0-9A-Za-z_-]{35}(?:[^0-9A-Za-z_-]|$)", digits=8),
    Detector("square_token", r"\bsq0(?:csp|atp|idp)-[0-9A-Za-z_\\-]{22,43}"),
    Detector(
        "artifactory_token",
        r"(?:[\s=:\"']|^)(AKC[a-zA-Z0-9]{10,}|AP[0-9A-F][a-zA-Z0-9]{8,})(?:[\s\"',.;]|$)",
        valid=lambda text: any(one.isdigit() for one in text[3:]),
    ),
    Detector(
        "json_web_token", r"\beyJ[A-Za-z0-9_=-]+\.eyJ[A-Za-z0-9_=-]+(?:\.[A-Za-z0-9_.+/=-]*)?", valid=_is_json_web_token
    ),
)
