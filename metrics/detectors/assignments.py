"""Detectors of secrets that are known by the name they are assigned to, or by their place in an address."""

import re
from typing import Final

from .detector import Detector

_KEYWORDS: Final = (
    "api_?key", "auth_?key", "service_?key", "account_?key", "db_?key", "database_?key", "priv_?key", "private_?key",
    "client_?key", "access_?key", "secret_?key", "db_?pass", "database_?pass", "key_?pass", "auth_?token",
    "access_?token", "password", "passwd", "pwd", "secret", "contrase\u00f1a", "contrasena", "passwort",
)  # fmt: skip
_NAME: Final = rf"(?i)(?:{'|'.join(_KEYWORDS)})[a-z0-9_]*(?:\[[0-9]*\])?"
_CLOSING: Final = r"[\]'\"]{0,2}\s{0,5}"
_OPERATOR: Final = r"(?::=|=>|->|={1,3}|!==?|:)"
# Written where a secret would go, by somebody who keeps it to himself.
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
