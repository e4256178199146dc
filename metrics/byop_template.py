"""Templates of prompts of one's own: which fields of a row they name, and where."""

import difflib
import re
from collections.abc import Mapping
from typing import Final

from .. import InputError

FIELDS: Final = ("question", "expected", "contexts", "answer")
_ALIASES: Final[Mapping[str, str]] = {
    "INPUT": "question",
    "EXPECTED_OUTPUT": "expected",
    "CONTEXT": "contexts",
    "ACTUAL_OUTPUT": "answer",
}
_NAMES: Final[Mapping[str, str]] = {**{field: field for field in FIELDS}, **_ALIASES}
# What other tools call these fields; a placeholder of such a name is a slip and no text.
_SYNONYMS: Final[Mapping[str, str]] = {
    "input": "question", "query": "question", "user_input": "question", "prompt": "question",
    "output": "answer", "actual_output": "answer", "actual_answer": "answer", "response": "answer", "reply": "answer",
    "completion": "answer", "prediction": "answer",
    "expected_output": "expected", "expected_answer": "expected", "reference": "expected", "ground_truth": "expected",
    "reference_answer": "expected", "target": "expected",
    "context": "contexts", "retrieved_context": "contexts", "retrieved_contexts": "contexts", "passages": "contexts",
    "documents": "contexts", "chunks": "contexts", "retrieval_context": "contexts",
}  # fmt: skip
_PLACEHOLDER: Final = re.compile(r"(\{*)\{[ \t]*([A-Za-z_][A-Za-z_]*)[ \t]*\}(\}*)")
_LIKENESS: Final = 0.75


def read_template(text: str, source: str) -> tuple[str, ...]:
    """A template in pieces: text and names of fields by turns, beginning and ending with text.

    Other braces, as those of JSON, are text.

    Args:
        text: the template.
        source: its file, for messages.

    Raises:
        InputError: it names no field, or has a placeholder that was meant to name one and doesn't.

    >>> read_template('Is {answer} polite? {"a": 1}', "tone.md")
    ('Is ', 'answer', ' polite? {"a": 1}')
    """
    pieces: list[str] = []
    end = 0
    for found in _PLACEHOLDER.finditer(text):
        before, name, after = found.groups()
        place = f"{source}:{text.count(chr(10), 0, found.start()) + 1}"
        field = _NAMES.get(name)
        if field is None:
            _refuse_lookalike(name, place)
            continue
        if before and after:
            raise InputError(f"{place}: '{found[0]}' has doubled braces; write {{{name}}} with single ones.")
        pieces += [text[end : found.start()] + before, field]
        end = found.end() - len(after)
    if not pieces:
        named = ", ".join(f"{{{field}}}" for field in FIELDS)
        raise InputError(f"{source}: the prompt names nothing to judge; it must hold at least one of {named}.")
    return (*pieces, text[end:])


def _refuse_lookalike(name: str, place: str) -> None:
    """Raise InputError when a placeholder's name is that of no field and looks as if it were meant to be."""
    plain = name.lower()
    names = {each.lower(): each for each in (*_ALIASES, *FIELDS)}
    meant = names.get(plain, "") or _SYNONYMS.get(plain, "")
    if not meant:
        near = difflib.get_close_matches(plain, [*names, *_SYNONYMS], n=1, cutoff=_LIKENESS)
        meant = names.get(near[0], "") or _SYNONYMS[near[0]] if near else ""
    if meant:
        known = ", ".join(f"{{{field}}}" for field in FIELDS)
        raise InputError(f"{place}: there is no placeholder {{{name}}}; did you mean {{{meant}}}? There are {known}.")
