"""Text of an HTML page: its blocks as lines, without scripts, styles and navigation."""

import re
from html.parser import HTMLParser

_DROPPED = frozenset({"script", "style", "nav", "template", "noscript", "svg", "math", "iframe", "object", "select"})
_PARAGRAPHS = frozenset(
    {"blockquote", "dl", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "ol", "p", "pre", "section", "table", "ul"}
)
_BLOCKS = _PARAGRAPHS | {
    "address", "article", "aside", "body", "caption", "dd", "details", "dialog", "div", "dt", "fieldset", "figcaption",
    "footer", "form", "header", "html", "legend", "li", "main", "menu", "summary", "tbody", "tfoot", "thead", "tr",
}  # fmt: skip
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_CELLS = frozenset({"td", "th"})
_SPACES = re.compile(r"[ \t\n\r\f]+")  # what HTML collapses; a no-break space stays
_BULLET = "- "
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)


def html_text(page: str) -> tuple[str, str]:
    """(text, title) of a page. Blocks end in a line break, paragraphs and the like in an empty line.

    The title is the content of ``<title>``, else the first heading, else blank. Broken pages are read as they are.
    """
    parser = _Text()
    parser.feed(page)
    parser.close()
    return parser.text(), parser.title()


def declared_charset(content: bytes) -> str | None:
    """The encoding that a page names in its first kilobyte, if it does."""
    found = _CHARSET.search(content[:1024])
    return found[1].decode("ascii") if found else None


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._pieces: list[str] = []
        self._titles: dict[str, list[str]] = {"title": [], "heading": []}
        self._inside: str | None = None  # which of the titles is being read
        self._dropping: str | None = None
        self._depth = 0
        self._preformatted = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - not needed
        if self._dropping:
            self._depth += tag == self._dropping
        elif tag in _DROPPED:
            self._dropping, self._depth = tag, 1
        else:
            self._open_title(tag)
            if not (tag in _BLOCKS and self._pieces[-1:] == [_BULLET]):  # stays beside its bullet
                self._break(tag)
            self._preformatted += tag == "pre"
            if tag == "li":
                self._pieces.append(_BULLET)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _DROPPED:  # <svg/> opens nothing, so nothing would end the dropping
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self._dropping:
            self._depth -= tag == self._dropping
            if self._depth == 0:
                self._dropping = None
            return
        if tag == "title" or tag in _HEADINGS:
            self._inside = None
        if tag == "pre":
            self._preformatted = max(0, self._preformatted - 1)
        if tag == "li" and self._pieces[-1:] == [_BULLET]:
            self._pieces.pop()
        if tag not in _CELLS:
            self._break(tag)

    def handle_data(self, data: str) -> None:
        if self._dropping:
            return
        if self._inside:
            self._titles[self._inside].append(data)
            if self._inside == "title":
                return
        if not self._preformatted:
            data = _SPACES.sub(" ", data)
            if not self._pieces or self._pieces[-1].endswith((" ", "\n")):
                data = data.lstrip(" ")
        if data:
            self._pieces.append(data)

    def text(self) -> str:
        """What was read, without blanks at the ends of lines and with at most one empty line in a row."""
        text = "\n".join(line.rstrip(" \t") for line in "".join(self._pieces).split("\n"))
        return re.sub(r"\n{3,}", "\n\n", text).strip("\n")

    def title(self) -> str:
        """``<title>``, else the first heading."""
        found = self._titles["title"] or self._titles["heading"]
        return _SPACES.sub(" ", "".join(found)).strip()

    def _open_title(self, tag: str) -> None:
        if tag == "title":
            self._inside = "title"
        elif tag in _HEADINGS and not self._titles["heading"]:
            self._inside = "heading"
        elif tag in _PARAGRAPHS:  # a heading that nobody closed ends here
            self._inside = None

    def _break(self, tag: str) -> None:
        """Begin a new line, an empty one before and after paragraphs, or a new cell."""
        if tag == "br":
            self._pieces.append("\n")
        elif tag in _CELLS:
            self._trim()
            if self._pieces and not self._pieces[-1].endswith("\n"):
                self._pieces.append(" | ")
        elif tag in _BLOCKS:
            self._trim()
            wanted = "\n\n" if tag in _PARAGRAPHS else "\n"
            ending = "".join(self._pieces[-2:])
            missing = len(wanted) - (len(ending) - len(ending.rstrip("\n")))
            if self._pieces and missing > 0:
                self._pieces.append("\n" * missing)

    def _trim(self) -> None:
        """Drop the blanks that stand before a break."""
        while self._pieces and not self._preformatted and not self._pieces[-1].strip(" "):
            self._pieces.pop()
        if self._pieces and not self._preformatted:
            self._pieces[-1] = self._pieces[-1].rstrip(" ")
