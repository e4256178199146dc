"""Questions section: the list of all questions, which scripts fill from the data of the page."""

from __future__ import annotations

from typing import Final

from .page import Section
from .templating import render

# What shows an opened question; it stands before the list, which calls it.
DETAIL_SCRIPTS: Final = (
    "page/long_text", "page/left_out", "page/unfolding", "page/outcomes",
    "detail/marks", "detail/nearest", "detail/words", "detail/value", "detail/items", "detail/claims",
    "detail/evidence", "detail/context", "detail/contexts", "detail/calls", "detail/scores", "detail/answer",
    "detail/detail",
)  # fmt: skip
# In the order in which they are to run; what shows an opened question (``questionDetail``) has to stand before them.
LIST_SCRIPTS: Final = (
    "list/rows", "pair/choice", "list/filter", "list/order", "list/search", "list/cells", "list/lines",
    "list/controls", "list/opening", "list/keys", "list/table", "list/notes", "list/questions",
)  # fmt: skip


def questions_section() -> Section:
    """The section; its controls are hidden until there is something to control."""
    return Section("questions", "Questions", render("questions.html.j2"))
