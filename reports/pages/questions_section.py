"""Questions section: the list of all questions, which scripts fill from the data of the page."""

from __future__ import annotations

from typing import Final

from .page import Section
from .templating import render

# What shows an opened question; it stands before the list, which calls it.
DETAIL_SCRIPTS: Final = (
    "question_text", "question_nearest", "question_words", "question_value", "question_items", "question_claims",
    "question_evidence", "question_context", "question_contexts", "question_calls", "question_scores",
    "question_answer", "question_detail",
)  # fmt: skip
# In the order in which they are to run; what shows an opened question (``questionDetail``) has to stand before them.
LIST_SCRIPTS: Final = (
    "question_rows", "pair_choice", "question_filter", "question_order", "question_search", "question_cells",
    "question_lines", "question_controls", "question_opening", "question_keys", "question_table", "question_notes",
    "questions",
)  # fmt: skip


def questions_section() -> Section:
    """The section; its controls are hidden until there is something to control."""
    return Section("questions", "Questions", render("questions.html.j2"))
