"""Detectors of e-mail addresses, phone numbers, network addresses and dates of birth."""

import ipaddress
import re
from typing import Final

from .checksums import digits_of
from .detector import Detector

# The ends of file names that follow an at sign in names of pictures (logo@2x.png).
_FILE_ENDINGS: Final = frozenset({"png", "jpg", "jpeg", "gif", "svg", "webp", "css", "js", "json", "html"})
_LABEL: Final = r"[A-Za-z0-9\x80-\xff](?:[A-Za-z0-9\x80-\xff-]*[A-Za-z0-9\x80-\xff])?"
_DATE_FIRST: Final = re.compile(r"[0-3]?[0-9]([./-])[01]?[0-9]\1(?:19|20)[0-9]{2}")
_SOCIAL_SECURITY_FORM: Final = re.compile(r"[0-9]{3}([-. ])[0-9]{2}\1[0-9]{4}")
_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_LABELS: Final = r"(?:tele)?phone|tel|mobile|cell(?:phone)?|fax|desk|call|text|sms|whatsapp|reach|contact|dial|ring"
_NOT_IN_USE: Final = frozenset({"0" * 12, "f" * 12})  # hardware addresses of nobody and of everybody
_DOCUMENTATION: Final = tuple(
    ipaddress.ip_network(net) for net in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32")
)


def _is_address(text: str) -> bool:
    """Whether what looks like an e-mail address ends in something like a top-level domain, and not in a file's."""
    ending = text.rpartition(".")[2].lower()
    return ending not in _FILE_ENDINGS and not (ending.isdigit() or ".." in text.partition("@")[2])


def _is_phone(text: str) -> bool:
    """Whether a formatted number has as many digits as phones have, and is not a date."""
    digits = digits_of(text.partition("x")[0])
    return 7 <= len(digits) <= 15 and len(set(digits)) > 1 and not _DATE_FIRST.match(text)


def _is_national_phone(text: str) -> bool:
    return 9 <= len(digits_of(text)) <= 12 and _is_phone(text) and not _SOCIAL_SECURITY_FORM.fullmatch(text)


def _is_ip(text: str) -> bool:
    """Whether it is an address of somebody's: not this machine's, nobody's or one for documentation."""
    try:
        address = ipaddress.ip_address(text.partition("/")[0])
    except ValueError:
        return False
    if address.is_loopback or address.is_unspecified:
        return False
    return not any(address in net for net in _DOCUMENTATION if net.version == address.version)


def _is_ip_6(text: str) -> bool:
    # 'a::b' is an address too, but rather a name in a program.
    return text.count(":") >= 2 and len(text) >= 6 and any(one.isdigit() for one in text) and _is_ip(text)


def _is_mac(text: str) -> bool:
    plain = text.replace(":", "").replace("-", "").replace(".", "").lower()
    return plain not in _NOT_IN_USE and (":" in text or "-" in text or len(set(plain)) > 2)


EMAIL: Final = Detector(
    "email_address",
    rf"[A-Za-z0-9!#$%&'*+/=?^_`{{|}}~\x80-\xff.-]*[A-Za-z0-9!#$%&'*+/=?^_`{{|}}~\x80-\xff-]"
    rf"@(?:{_LABEL}\.)+[A-Za-z][A-Za-z0-9-]*[A-Za-z]\b",
    valid=_is_address,
)
PHONES: Final = (
    # with a country's code
    Detector(
        "phone_number",
        r"(?:\+|\b00)(?:[1-9][0-9]{0,2})[ .-]?(?:\(0?[0-9]{0,4}\)[ .-]?)?[0-9]{1,5}(?:[ ./-]?[0-9]{1,5}){1,6}"
        r"(?:x[0-9]{1,5})?\b",
        valid=lambda text: len(digits_of(text)) >= 8 and _is_phone(text), digits=8, alone=True,
    ),
    # North American, with its separators
    Detector(
        "phone_number",
        r"(?:\b1[-. ])?(?:\([2-9][0-9]{2}\)[ -]?|\b[2-9][0-9]{2}[-. ])[2-9][0-9]{2}[-. ][0-9]{4}(?:x[0-9]{1,5})?\b",
        valid=_is_phone, digits=10, alone=True, overlapping=True,
    ),
    # within a country, from its leading zero
    Detector(
        "phone_number", r"(?:\b0[0-9]{1,4}|\(0[0-9]{1,4}\))(?:[ ./-][0-9]{2,8}){1,5}\b",
        valid=_is_national_phone, digits=9, alone=True, overlapping=True,
    ),
    # any other, right after a word that announces it
    Detector(
        "phone_number",
        rf"(?i)\b(?:{_LABELS})(?: ?(?:number|no|me|us|on|at|is|or|#))*[ .:#]*(\(?[0-9][0-9().\- ]{{5,17}}[0-9]"
        r"(?:x[0-9]{1,5})?)\b",
        valid=_is_phone, digits=7, alone=True,
    ),
)  # fmt: skip
_OCTET: Final = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
NETWORK: Final = (
    Detector("ip_address", rf"\b{_OCTET}(?:\.{_OCTET}){{3}}(?:/[0-9]{{1,2}})?\b", valid=_is_ip, digits=4, alone=True),
    Detector(
        "ip_address", r"(?:^|[^0-9A-Za-z:.])((?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?:\.[0-9]{1,3}){0,3})\b",
        valid=_is_ip_6, digits=1,
    ),
    Detector(
        "mac_address",
        r"\b(?:[0-9A-Fa-f]{2}(?:(?::[0-9A-Fa-f]{2}){5}|(?:-[0-9A-Fa-f]{2}){5})|(?:[0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4})\b",
        valid=_is_mac,
    ),
)  # fmt: skip
BIRTH: Final = Detector(
    "date_of_birth",
    r"(?i)\b(?:[0-3]?[0-9][./-][0-3]?[0-9][./-](?:(?:19|20)[0-9]{2}|[0-9]{2})"
    r"|(?:19|20)[0-9]{2}[./-][01]?[0-9][./-][0-3]?[0-9]"
    rf"|[0-3]?[0-9](?:st|nd|rd|th)?(?: of)? {_MONTH},? (?:19|20)[0-9]{{2}}"
    rf"|{_MONTH} [0-3]?[0-9](?:st|nd|rd|th)?,? (?:19|20)[0-9]{{2}})\b",
    near=("born", "birth", "dob", r"d\.o\.b", "geboren", "geburtsdatum", "geb", "naissance", "nacimiento", "nascita"),
    digits=3, alone=True,
)  # fmt: skip
