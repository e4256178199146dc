"""Redaction: settings as they may be kept and shown, with what looks like a secret taken out."""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

HIDDEN = "***"
_SECRET_NAME = re.compile(
    r"auth|token(?!s)|secret|passw|credential|cookie|session|private|(api|access|subscription)[-_ ]?key|^key$|^sig",
    re.IGNORECASE,
)

_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S*")


def redacted(settings: object) -> object:
    """A copy in which values under secret-sounding names are hidden; ``$NAME`` of the environment may stay."""
    match settings:
        case Mapping():
            return {str(name): _redacted_value(str(name), value) for name, value in settings.items()}
        case list() | tuple():
            return [redacted(each) for each in settings]
        case str() | int() | float() | bool() | None:
            return settings
        case _:
            return without_addresses(str(settings))


def without_addresses(written: str) -> str:
    """What an object writes of itself, without its place in memory, which is another in every process."""
    return _ADDRESS.sub("", written)


def redacted_command(words: Iterable[str]) -> list[str]:
    """The words of a command line without users and passwords in addresses, and without what secret options are given.

    >>> redacted_command(["run", "--judge-url", "http://me:pw@host/v1", "--api-key", "k", "--token=t"])
    ['run', '--judge-url', 'http://***@host/v1', '--api-key', '***', '--token=***']
    """
    shown: list[str] = []
    option = ""  # that stands before a word and takes it
    for word in words:
        name, equals, value = word.partition("=") if word.startswith("-") else (option, "", word)
        hidden = str(_redacted_value(name, _URL.sub(_redacted_address, value)))
        shown.append(f"{name}={hidden}" if equals else word if word.startswith("-") else hidden)
        option = word if word.startswith("-") and not equals else ""
    return shown


def _redacted_address(found: re.Match[str]) -> str:
    try:
        _ = urlsplit(found[0]).port
        return redacted_url(found[0])
    except ValueError:  # what nobody can read as an address may hold anything
        return HIDDEN


def redacted_url(url: str) -> str:
    """The address without user, password and secret-sounding parameters."""
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2]
    if "@" in parts.netloc:
        place = f"{HIDDEN}@{place}"
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    if not any(is_secret_name(name) for name, _ in pairs):
        return urlunsplit(parts._replace(netloc=place))
    shown = "&".join(f"{quote(name)}={_redacted_value(name, value)}" for name, value in pairs)
    return urlunsplit(parts._replace(netloc=place, query=shown))


def is_secret_name(name: str) -> bool:
    """Whether what stands under this name is likely a secret: ``Authorization``, ``api_key``, ``password``."""
    return bool(_SECRET_NAME.search(name))


def _redacted_value(name: str, value: object) -> object:
    if not is_secret_name(name) or value is None or isinstance(value, bool | int | float):
        return redacted(value)
    names_environment = isinstance(value, str) and re.fullmatch(r"([A-Za-z]+ )?\$\{?\w+\}?", value)
    return value if names_environment else HIDDEN
