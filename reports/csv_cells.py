"""CSV cells: values as a spreadsheet may hold them, with no text that it would take for a formula."""

from __future__ import annotations

# What begins a formula in some spreadsheet, in its plain and its full width.
FORMULA = frozenset("=+-@＝＋－＠")  # noqa: RUF001 - meant as they are
BREAKS = frozenset("\t\r\n")
_CONTROLS = dict.fromkeys(
    (code for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in BREAKS), "\N{REPLACEMENT CHARACTER}"
)


def cell(value: object) -> object:
    """The value as it is to stand in a CSV cell.

    Numbers stay numbers and None is blank. A text gets an apostrophe before it when its first character is an
    apostrophe, tab, carriage return or line feed, or when the first one that is not white space is one of = + - @ or
    their full-width forms. So taking one apostrophe off any text that begins with one gives the text back. Control
    characters become U+FFFD: programs that read CSV stop at NUL, and a terminal that shows the file obeys the others.

    >>> [cell(text) for text in ("=1+1", " -5", "a-b", "'tis", -5.0)]
    ["'=1+1", "' -5", 'a-b', "''tis", -5.0]
    """
    if value is None:
        return ""
    if isinstance(value, (int, float)):
        return value
    text = str(value).translate(_CONTROLS)
    if text[:1] == "'" or text[:1] in BREAKS or text.lstrip()[:1] in FORMULA:
        return f"'{text}"
    return text
