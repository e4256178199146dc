"""Page: templates filled, and sections as one offline HTML file, or served with their data in blocks."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import re
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import orjson
from markupsafe import Markup

from ...knowledge import cache_folder
from ..leaderboard import ARROWS, figure, milliseconds
from ..text import count, unbroken
from .charts import colour, shape, shortened
from .rows import rows_address

if TYPE_CHECKING:
    from jinja2 import BytecodeCache, Environment
    from jinja2.bccache import Bucket


SEVERITY_TONES: Final = {"high": "bad", "medium": "doubt", "low": ""}
# Direction overrides and embeddings can reverse a whole line; a page isolates texts instead.
_DIRECTION_MARKS: Final = [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_PICTURES: Final[dict[int, int | str]] = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n\r"},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
    **{code: f"\u27e8U+{code:04X}\u27e9" for code in _DIRECTION_MARKS},
    **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD),
}  # fmt: skip


def shown(text: str) -> str:
    r"""The text with control characters as their pictures, and direction marks spelt out.

    >>> shown("a\x00b\x1b[31m")
    'a␀b␛[31m'
    """
    return text.translate(_PICTURES)


def render(template: str, **values: object) -> Markup:
    """A template of ``templates/`` with its values; a value that is missing is an error, not a blank."""
    return Markup(environment().get_template(template).render(values))  # noqa: S704 - autoescape is on


@cache
def environment() -> Environment:
    """The environment of all templates: texts are escaped, and control characters in them made visible."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader(__package__, "templates"),
        bytecode_cache=_compiled_before(),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalized,
    )
    made.filters |= {
        "figure": figure,
        "milliseconds": milliseconds,
        "count": count,
        "shown": shown,
        "shortened": shortened,
        "unbroken": unbroken,
    }
    made.globals |= {"ARROWS": ARROWS, "rows_address": rows_address, "shape": shape, "colour": colour}
    return made


def _compiled_before() -> BytecodeCache | None:
    """Where templates are kept as Python compiled them, .4 s of every page; None where there can be no folder.

    Jinja knows them by their text and Python's version; by its own and by how it is set up here they are told apart.
    """
    import jinja2

    class Kept(jinja2.FileSystemBytecodeCache):
        def dump_bytecode(self, bucket: Bucket) -> None:
            with contextlib.suppress(OSError):  # a page needs no cache
                super().dump_bytecode(bucket)

    made_by = hashlib.sha256(Path(__file__).read_bytes() + jinja2.__version__.encode()).hexdigest()[:16]
    folder = cache_folder(os.environ) / f"templates-{made_by}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return Kept(str(folder))


def _finalized(value: object) -> object:
    """Texts of others have their control characters shown; our own markup stays as it is."""
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value


LEVEL: Final = 6
AHEAD: Final = 6  # blocks that wait to be compressed or written
# 85 characters that come one after the other, but for "<", which could end the script.
_DIGITS: Final = np.frombuffer(bytes(range(0x28, 0x7D)).replace(b"<", b"}"), np.uint8)


def packed(data: bytes) -> bytes:
    """JSON compressed (gzip) and written in base 85, which holds no character that ends a script."""
    squeezed = zlib.compressobj(LEVEL, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    return in_base_85(squeezed.compress(data) + squeezed.flush())


def packed_ahead(blocks: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """The blocks packed, in their order: a thread compresses one while the next ones are made."""
    waiting: deque[tuple[str, Future[bytes]]] = deque()
    with ThreadPoolExecutor(1) as thread:
        for name, data in blocks:
            waiting.append((name, thread.submit(packed, data)))
            if len(waiting) > AHEAD:
                first, made = waiting.popleft()
                yield first, made.result()
        for first, made in waiting:
            yield first, made.result()


def in_base_85(data: bytes) -> bytes:
    """Bytes as printable ASCII, a quarter longer; base64 would make them a third longer.

    Four bytes, the first of them the highest, are a number of five digits, the first the highest. At the end, up to
    three bytes are as many digits and one more.

    >>> in_base_85(bytes(4)), in_base_85(bytes([255]) * 4), in_base_85(b"a")
    (b'(((((', b'z?^4(', b'G6')
    """
    padding = -len(data) % 4
    words = np.frombuffer(data + bytes(padding), ">u4").astype(np.uint32)
    digits = np.empty((len(words), 5), np.uint8)
    for place in range(4, -1, -1):
        words, digits[:, place] = np.divmod(words, np.uint32(85))
    text = _DIGITS[digits].tobytes()
    return text[: len(text) - padding]


def embedded_json(value: object) -> Markup:
    """A small value as JSON inside a script element: nothing in it can end the element or begin a comment."""
    text = orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode("utf-8", "replace")
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - what could end the element is escaped above


DATA: Final = "<!-- data -->"  # where the template wants the blocks; no text of others can spell it, being escaped
SHARED_SCRIPTS: Final = (
    "page/elements", "page/shown", "page/source", "page/address", "page/navigation", "page/remembered", "page/theme",
    "page/copy",
)  # fmt: skip
SHARED_STYLES: Final = ("base", "layout", "charts")


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a page, which the reader chooses by its title."""

    title: str
    body: Markup

    @property
    def id(self) -> str:
        """What its address ends in: its title.

        >>> Section("What was changed", Markup("")).id
        'what-was-changed'
        """
        return self.title.lower().replace(" ", "-")


@dataclass(frozen=True, slots=True)
class Page:
    """A page before its data.

    Attributes:
        subtitle: one line below it: which run, when, which version.
        sections: its parts, the first one shown first.
        scripts: names of files in ``scripts/`` beyond the shared ones, such as ``list/rows``, in the order in which
            they are to run.
        styles: names of files in ``styles/`` beyond the shared ones.
        settings: for the scripts (JSON); ``{"blocks": "/runs/x/data/"}`` for a page that loads its data
            from a server, nothing for a file with its data.
    """

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    scripts: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)

    @property
    def is_served(self) -> bool:
        """Whether a server gives the data."""
        return "blocks" in self.settings


def page_bytes(page: Page, blocks: Iterable[tuple[str, bytes]] = ()) -> Iterator[bytes]:
    """The file in pieces: all that is shown at once first, then the data, each block when its turn comes.

    Args:
        page: what is shown.
        blocks: names and JSON of the data that scripts read; they are compressed.
    """
    style, script = _style(page.styles), _script(page.scripts)
    html = render(
        "page.html.j2",
        page=page,
        policy=content_policy(page, style, script),
        style=style,
        script=script,
        settings=embedded_json(dict(page.settings)),
    )
    before, _, after = _BLANK_LINES.sub("\n", html).partition(DATA)
    yield before.encode("utf-8", "replace")
    for name, data in packed_ahead(blocks):
        yield b'<script type="application/gzip" id="block-%s">' % name.encode()
        yield data
        yield b"</script>\n"
    yield after.encode("utf-8", "replace")


def page_policy(page: Page) -> str:
    """The policy of a page, for a server that says it in a header as well."""
    return content_policy(page, _style(page.styles), _script(page.scripts))


def content_policy(page: Page, style: str, script: str) -> str:
    """The content security policy: this style and this script, and nothing else; a server's page may ask its server."""
    rules = {
        "default-src": "'none'",
        "script-src": _hash(script),
        "style-src": _hash(style),
        "img-src": "data:",
        "connect-src": "'self'" if page.is_served else "'none'",
        "base-uri": "'none'",
        "form-action": "'self'" if page.is_served else "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _style(more: tuple[str, ...]) -> Markup:
    return _joined("styles", [f"{name}.css" for name in (*SHARED_STYLES, *more)])


@cache
def _script(more: tuple[str, ...]) -> Markup:
    return _joined("scripts", [f"{name}.js" for name in (*SHARED_SCRIPTS, *more)])


_BLANK_LINES: Final = re.compile(r"(?<=>)\n\n+(?=<)")  # that templates leave between elements
# What a browser has no use for: comments on lines of their own, and blanks that begin a line.
_COMMENT: Final = re.compile(r"^\s*/\*(?:[^*]|\*(?!/))*\*/[ \t]*\n|^[ \t]*//[^\n]*\n|^\s+", re.MULTILINE)


def _joined(folder: str, names: list[str]) -> Markup:
    """Files of ours, one after the other; the line ends are those that a browser hashes."""
    there = files(__package__) / folder
    texts = [_COMMENT.sub("", (there / name).read_text("utf-8").replace("\r\n", "\n")) for name in names]
    return Markup("\n" + "\n".join(texts))  # noqa: S704 - files of the package, not texts of others
