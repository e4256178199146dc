"""HTML as a test reads it: a tree of elements with their attributes and texts."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = ("path", "circle", "line", "rect", "wbr", "meta", "link", "br", "input", "img", "hr")


@dataclass
class Element:
    """An element; ``inside`` are elements and texts in their order."""

    tag: str
    attributes: dict[str, str]
    inside: list["Element | str"] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text in it, with single blanks."""
        return " ".join("".join(self._texts()).split())

    def _texts(self) -> Iterator[str]:
        for each in self.inside:
            if isinstance(each, str):
                yield each
            else:
                yield from each._texts()

    def all(self, tag: str = "", **attributes: str) -> list["Element"]:
        """The elements in it of that tag that have these attributes; of ``class_`` one name is enough."""
        found = []
        for each in self.inside:
            if isinstance(each, Element):
                found += [each] if each.fits(tag, **attributes) else []
                found += each.all(tag, **attributes)
        return found

    def one(self, tag: str = "", **attributes: str) -> "Element":
        """The only such element."""
        found = self.all(tag, **attributes)
        assert len(found) == 1, (tag, attributes, len(found))
        return found[0]

    def fits(self, tag: str, class_: str = "", **attributes: str) -> bool:
        """Whether it is one of those."""
        named = not class_ or class_ in self.attributes.get("class", "").split()
        return named and tag in ("", self.tag) and attributes.items() <= self.attributes.items()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        made = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].inside.append(made)
        if tag not in VOID:
            self.open.append(made)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open[-1].tag == tag, f"</{tag}> ends <{self.open[-1].tag}>"
            self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)


def read_html(html: str) -> Element:
    """The tree of some HTML in which each element is closed, as ours are."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert len(reader.open) == 1, f"<{reader.open[-1].tag}> is not closed"
    return reader.open[0]
