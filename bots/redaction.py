"""Redaction: takes secrets out of what is stored and shown, by their names and by their values."""

import base64
import html
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit, urlunsplit

HIDDEN = "***"
SHORTEST = 8  # characters of a value: shorter ones would hide ordinary words
_SHORTEST_NAMED = 5  # of one that the suite names as a key or header, where it is a word by itself and has a digit
_LONG = 24  # characters of a value of which a piece gives it away
_PIECE = 16
_QUOTED_LEAST = 4  # characters of a secret that a server shows at either side of its asterisks
_SECRET_VARIABLE = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH(?!OR)", re.IGNORECASE)
_ORDINARY_WORD = re.compile(r"[a-z]{1,15}|[A-Z]{1,15}|[A-Z][a-z]{1,14}")
_MASKED = re.compile(r"([\w.+/-]*?)(?:\*{2,}|\.{3,}|\u2026|\u2022{2,}|(?<![xX])[xX]{4,})([\w+/=-]*)")
_SECRET_NAME = re.compile(
    r"auth|token(?!s)|secret|passw|credential|cookie|session|private|(api|access|subscription)[-_ ]?key|^key$|^sig",
    re.IGNORECASE,
)

_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S*")
_URL_IN_TEXT = re.compile(r"""[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>\\`]*""")


def redacted(settings: object) -> object:
    """A copy in which values under secret-sounding names are hidden; ``$NAME`` of the environment may stay."""
    match settings:
        case Mapping():
            return {str(name): _redacted_value(str(name), value) for name, value in settings.items()}
        case list() | tuple():
            return [redacted(each) for each in settings]
        case str():
            return without_url_secrets(settings)
        case int() | float() | bool() | None:
            return settings
        case _:
            return without_addresses(str(settings))


def without_addresses(written: str) -> str:
    """The ``repr`` of an object without its memory address, which differs in every process."""
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


def without_url_secrets(text: str) -> str:
    """A text in which no address has a user, a password or a secret-sounding parameter; all else is left as it is.

    >>> without_url_secrets("no answer from http://me:pw@host/ask?api_key=k&n=1")
    'no answer from http://***@host/ask?api_key=***&n=1'
    """
    return _URL_IN_TEXT.sub(lambda found: _redacted_address(found) if _url_secrets(found[0]) else found[0], text)


def _url_secrets(url: str) -> list[str]:
    """What of an address is secret, as it is written there; the whole where nobody can read it."""
    if "@" not in url and "?" not in url:
        return []
    try:
        parts = urlsplit(url)
        pairs = parse_qsl(parts.query, keep_blank_values=True)
    except ValueError:
        return [url]
    user = parts.netloc.rpartition("@")[0]
    given = [value for name, value in pairs if is_secret_name(name)]
    return [*([user.partition(":")[2] or user] if user else []), *given]


def literal_secrets(settings: object) -> Iterator[str]:
    """Every secret that is written in settings: under a secret-sounding name, or in an address."""
    match settings:
        case Mapping():
            for name, value in settings.items():
                if is_secret_name(str(name)) and isinstance(value, str) and "$" not in value:
                    yield value
                    yield from value.split()[1:]  # what follows Bearer
                else:
                    yield from literal_secrets(value)
        case list() | tuple():
            for each in settings:
                yield from literal_secrets(each)
        case str():
            for found in _URL_IN_TEXT.finditer(settings):
                yield from (each for each in map(unquote, _url_secrets(found[0])) if "$" not in each)


def redactor(
    environ: Mapping[str, str], named: Collection[str] = (), literals: Iterable[str] = ()
) -> Callable[[str], str]:
    """A function that replaces every secret value in a text: by the name of its variable, or by asterisks.

    A value is found as it is, URL-encoded, in base64 (also as a part of what was encoded), as JSON and HTML write it,
    and in the shortened forms in which servers quote keys (``sk-ab***yz``).

    Args:
        environ: the environment; variables with secret-sounding names are secret.
        named: variables that are secret whatever they are called.
        literals: further secret values.
    """
    secrets = {literal: HIDDEN for literal in literals if _can_be_hidden(literal, is_named=True)}
    for name, value in environ.items():
        is_named = name in named
        if (is_named or _SECRET_VARIABLE.search(name)) and _can_be_hidden(value.strip(), is_named):
            secrets[value.strip()] = f"${name}"
    return _Values(secrets)


class _Values:
    """Replaces values, in all their forms, by what is shown in their place."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._secrets = secrets
        spelt = {spelling: shown for value, shown in secrets.items() for spelling in _spellings(value)}
        # Of two that begin alike, no end is left over.
        self._spelt = sorted(spelt.items(), key=lambda pair: len(pair[0]), reverse=True)
        self._parts = [
            (value, re.compile(rf"(?<!\w){re.escape(value)}(?!\w)"), shown)
            for value, shown in secrets.items()
            if len(value) < SHORTEST
        ]
        self._parts += [each for value, shown in secrets.items() for each in _pieces(value, shown)]

    def __bool__(self) -> bool:
        return bool(self._secrets)

    def __call__(self, text: str) -> str:
        for spelling, shown in self._spelt:
            if spelling in text:
                text = text.replace(spelling, shown)
        for part, pattern, shown in self._parts:
            if part in text:
                text = pattern.sub(shown.replace("\\", r"\\"), text)
        return _MASKED.sub(self._unmasked, text) if self._secrets and _may_be_masked(text) else text

    def _unmasked(self, found: re.Match[str]) -> str:
        """What is shown in place of a shortened secret."""
        start, end = found[1], found[2]
        shows = len(start) + len(end)
        for value, shown in self._secrets.items():
            if _QUOTED_LEAST <= shows < len(value) and value.startswith(start) and value.endswith(end):
                return shown
        return found[0]


def _can_be_hidden(value: str, is_named: bool) -> bool:
    if len(value) >= SHORTEST:
        return is_named or not _ORDINARY_WORD.fullmatch(value)
    return is_named and len(value) >= _SHORTEST_NAMED and any(each.isdigit() for each in value)


def _may_be_masked(text: str) -> bool:
    return any(mask in text for mask in ("**", "...", "\u2026", "\u2022\u2022", "xxxx", "XXXX"))


def _spellings(value: str) -> set[str]:
    """The forms of a value that are long enough to be looked for anywhere."""
    raw = value.encode("utf-8", "surrogatepass")
    quoted = {form(value, safe="", errors="replace") for form in (quote, quote_plus)}
    quoted |= {
        quote(value, errors="replace"),
        *(re.sub(r"%..", lambda found: found[0].lower(), each) for each in quoted),
    }
    written = {
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        html.escape(value),
        repr(value)[1:-1],
    }
    packed = set()
    for before in range(3):  # as a part of what was encoded: basic authentication, a URL with a password
        whole = base64.b64encode(b"\0" * before + raw)
        start, end = -(-before * 4 // 3), (before + len(raw)) * 8 // 6
        packed |= {whole[start:end].decode(), whole[start:end].translate(bytes.maketrans(b"+/", b"-_")).decode()}
    return {each for each in {value, *quoted, *written, *packed} if len(each) >= SHORTEST}


def _pieces(value: str, shown: str) -> Iterator[tuple[str, re.Pattern[str], str]]:
    """The beginning and the end of a long value, by which it is given away without any asterisks."""
    if len(value) < _LONG:
        return
    for piece, pattern in ((value[:_PIECE], r"{}[\w+/=-]*"), (value[-_PIECE:], r"[\w+/=-]*{}")):
        if any(each.isdigit() for each in piece) and any(each.isalpha() for each in piece):
            yield piece, re.compile(pattern.format(re.escape(piece))), shown


def scrubbed(value: object, redact: Callable[[str], str]) -> object:
    """A copy of what JSON can hold with every text and key redacted, addresses in them too."""
    match value:
        case str():
            return redact(without_url_secrets(value))
        case Mapping():
            return {scrubbed(name, redact): scrubbed(each, redact) for name, each in value.items()}
        case list() | tuple():
            return [scrubbed(each, redact) for each in value]
        case _:
            return value


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
    return bool(_SECRET_NAME.search(name)) and not name.lower().endswith("_env")  # which only says where the key is


def _redacted_value(name: str, value: object) -> object:
    if not is_secret_name(name) or value is None or isinstance(value, bool | int | float):
        return redacted(value)
    names_environment = isinstance(value, str) and re.fullmatch(r"([A-Za-z]+ )?\$\{?\w+\}?", value)
    return value if names_environment else HIDDEN
