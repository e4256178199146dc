"""Word lists: the synonyms that ship with the package, by every form of their words."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

from .inflection import noun_forms, verb_forms

Part = Literal["verb", "noun", "adjective", "other"]

_DATA: Final = Path(__file__).parent
_ONLY_NEW: Final = "~"  # a word that may come in, but is too ambiguous to be taken out
_PARTS: Final[Mapping[str, Part]] = {
    "verbs": "verb", "nouns": "noun", "adjectives": "adjective", "others": "other"
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entry:
    """A form of a word, and what may stand in its place in the same form.

    Attributes:
        part: of speech.
        form: place of the form among ``VERB_FORMS`` or ``NOUN_FORMS``; 0 for words that have one form.
        others: the words in the same form.
    """

    part: Part
    form: int
    others: tuple[str, ...]


Words = Mapping[str, Sequence[Entry]]


@cache
def synonyms() -> Words:
    """Words that mean much the same, from ``synonyms.json``; the first of a line gives way to the others."""
    return _read("synonyms.json")


def groups(name: str) -> Iterator[tuple[Part, tuple[str, ...]]]:
    """The groups of a list as they are written, each with its part of speech."""
    found: dict[str, list[str]] = json.loads((_DATA / name).read_text("utf-8"))
    for title, lines in found.items():
        for line in lines:
            yield _PARTS[title], tuple(word.strip() for word in line.split(","))


def _read(name: str) -> Words:
    made: dict[str, list[Entry]] = {}
    for part, group in groups(name):
        forms = [_forms(part, word.removeprefix(_ONLY_NEW)) for word in group]
        for place, word in enumerate(group[:1]):
            if word.startswith(_ONLY_NEW) or " " in word:
                continue
            for form, written in enumerate(forms[place]):
                others = tuple(other[form] for other in forms if other[form] != written)
                if others:
                    made.setdefault(written, []).append(Entry(part, form, others))
    return made


def _forms(part: Part, word: str) -> tuple[str, ...]:
    if part == "verb":
        return verb_forms(word)
    return noun_forms(word) if part == "noun" else (word,)
