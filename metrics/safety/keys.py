"""Detectors of keys, tokens and passwords: by form, by the name they are assigned to, by entropy."""

import base64
import json
import math
import re
from collections import Counter
from typing import Final

from .detectors import Detector

_KEYWORDS: Final = (
    "api_?key", "auth_?key", "service_?key", "account_?key", "db_?key", "database_?key", "priv_?key", "private_?key",
    "client_?key", "access_?key", "secret_?key", "db_?pass", "database_?pass", "key_?pass", "auth_?token",
    "access_?token", "password", "passwd", "pwd", "secret", "contrase\u00f1a", "contrasena", "passwort",
)  # fmt: skip
_NAME: Final = rf"(?i)(?:{'|'.join(_KEYWORDS)})[a-z0-9_]*(?:\[[0-9]*\])?"
_CLOSING: Final = r"[\]'\"]{0,2}\s{0,5}"
_OPERATOR: Final = r"(?::=|=>|->|={1,3}|!==?|:)"
# Placeholders written in place of a secret.
_PLACEHOLDER: Final = re.compile(
    r"[<${\[%*#].*|(?:your|my|the|an?|insert|enter|add|change|put|some|example|sample|placeholder|redacted|hidden)"
    r"(?:[-_ ].*)?|(?:none|null|nil|true|false|todo|undefined|required|optional|string|str|text|env|xxx+|\.\.+)[^a-z]*",
    re.IGNORECASE,
)
_CALL: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*[(\[].*|(?:os|process|config|settings|env|self|this)\.[A-Za-z_.]+")


def _is_value(text: str) -> bool:
    """Whether a text may be a secret: neither a placeholder nor one character over and over."""
    return len(set(text)) > 2 and not _PLACEHOLDER.fullmatch(text.strip())


def _is_bare_value(text: str) -> bool:
    """The same for a value without quotes, which may also be a piece of a program or a word."""
    is_word = text.isalpha() and (text.islower() or text.istitle())
    return _is_value(text) and not is_word and not _CALL.fullmatch(text)


def _assigned(name: str, value: str) -> str:
    """A pattern for ``name = value`` in the ways in which programs and settings write it; the value is its group."""
    return (
        rf"(?i)(?:^|[^a-z0-9]){name}['\"\])]{{0,2}} {{0,3}}(?::=|=>|::|=|:| ) {{0,3}}['\"]?({value})(?:[^a-z0-9_-]|$)"
    )


_KEY: Final = "(?:api)?[-_]?(?:key|pwd|pw|password|pass|token)"
ASSIGNMENTS: Final = (
    Detector(
        "keyword_assignment", rf"{_NAME}{_CLOSING}{_OPERATOR}\s{{0,5}}@?\"([^\"\n\r]{{4,200}})\"", valid=_is_value
    ),
    Detector("keyword_assignment", rf"{_NAME}{_CLOSING}{_OPERATOR}\s{{0,5}}'([^'\n\r]{{4,200}})'", valid=_is_value),
    Detector("keyword_assignment", rf"{_NAME}{_CLOSING}{_OPERATOR}\s{{0,5}}`([^`\n\r]{{4,200}})`", valid=_is_value),
    Detector("keyword_assignment", rf"{_NAME}['\"]?=([^\s\"'`,;&<>=]{{6,200}})", valid=_is_bare_value),
    Detector("keyword_assignment", rf"{_NAME}(?:\.assign)?\(\"([^\"\n\r]{{4,200}})\"", valid=_is_value),
    Detector(
        "keyword_assignment", r"(?i)[\"']([^\"'\n\r]{4,200})[\"']\s{0,5}[!=]={1,2}\s{0,5}[a-z0-9_]*"
        rf"(?:{'|'.join(_KEYWORDS)})", valid=_is_value,
    ),
    Detector("keyword_assignment", rf"{_NAME}\s{{1,5}}[\"'`]([^\"'`\n\r]{{4,200}})[\"'`];", valid=_is_value),
    Detector("basic_auth", r"://[^\s:/?#\[\]@!$&'()*+,;=]+:([^\s:/?#\[\]@!$&'()*+,;=]+)@", valid=_is_value),
    Detector("cloudant_credentials", _assigned(rf"(?:cloudant|clou|cl)[-_]?{_KEY}", "[0-9a-f]{64}|[a-z]{24}")),
    Detector(
        "cloudant_credentials", r"(?i)https?://[a-z0-9_-]+:([0-9a-f]{64}|[a-z]{24})@[a-z0-9_-]+\.cloudant\.com"
    ),
    Detector(
        "ibm_cloud_key", _assigned(rf"(?:ibm[-_]?)?(?:cloud[-_]?)?(?:iam[-_]?)?{_KEY}", "[a-zA-Z0-9_-]{44}")
    ),
    Detector(
        "ibm_storage_key",
        _assigned("(?:(?:ibm)?[-_]?cos[-_]?(?:hmac)?[-_]?)?secret[-_]?(?:access)?[-_]?key", "[a-f0-9]{48}"),
    ),
    Detector("softlayer_credentials", _assigned(rf"(?:softlayer|sl)[-_]?{_KEY}", "[a-z0-9]{64}")),
    Detector("softlayer_credentials", r"(?i)https?://api\.softlayer\.com/soap/v3(?:\.1)?/([a-z0-9]{64})"),
)  # fmt: skip


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
