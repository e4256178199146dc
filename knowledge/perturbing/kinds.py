"""Kinds: every way of rewording a question, and what must become of the answer."""

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ... import InputError
from .antonym import use_antonym
from .chance import Chance
from .character_kinds import delete_letters, insert_letters, misread, mistype, replace_letters, swap_y_and_z
from .encoding_kinds import full_width, garble, look_alike, strip_accents, write_entities
from .exchange_kinds import use_synonyms
from .negation import negate
from .rewording import Reworded
from .word_kinds import insert_commas, swap_words

Must = Literal["same", "other", "decline"]
Unit = Literal["character", "word", "text"]
Reword = Callable[[str, float, Chance], Reworded]

IDENTITY: Final = "identity"
_ENGLISH: Final = "English; our word lists"
_SPACES: Final = "blanks between words"
_JUDGE: Final = "a judge that is a language model"


@dataclass(frozen=True, slots=True)
class Kind:
    """A way of rewording.

    Attributes:
        name: as it is named on the command line and in a suite.
        must: what a good bot does: give the same answer, another one, or decline.
        unit: what intensity is a share of: of the characters or words that the kind can change.
        summary: what it does.
        reword: does it; None where a judge must write the text.
        needs: what it needs beside letters; blank for nothing.
        graded: whether it is made at every intensity; else once, with all that it can do.
        group: a name under which several are wanted together.
    """

    name: str
    must: Must
    unit: Unit
    summary: str
    reword: Reword | None = None
    needs: str = ""
    graded: bool = True
    group: str = ""

    @property
    def offline(self) -> bool:
        """Whether no judge is asked."""
        return self.reword is not None


def _copied(text: str, share: float, chance: Chance) -> Reworded:  # noqa: ARG001 - nothing is drawn
    return Reworded(text, 0, 0)


_SAME: Final = (
    Kind("character_insert", "same", "character", "a letter too many after some letters", insert_letters),
    Kind("character_delete", "same", "character", "some letters missing, never the first of a word", delete_letters),
    Kind("character_replace", "same", "character", "another letter in place of some", replace_letters),
    Kind("keyboard_typo", "same", "character", "a neighbouring key of a QWERTY keyboard", mistype, "letters a to z"),
    Kind("ocr_error", "same", "character", "letters misread: rn for m, 1 for l, 0 for O", misread, "letters a to z"),
    Kind("yz_swap", "same", "character", "y for z and z for y, as on another keyboard", swap_y_and_z, "a y or z"),
    Kind("comma", "same", "word", "commas after some words", insert_commas, _SPACES),
    Kind("word_swap", "same", "word", "some neighbouring words change places", swap_words, "English"),
    Kind("synonym", "same", "word", "a word of the same meaning for some words", use_synonyms, _ENGLISH),
    Kind(
        "lookalike_letters", "same", "character", "Cyrillic and Greek letters that look Latin", look_alike,
        "Latin letters", group="encoding",
    ),
    Kind("full_width", "same", "character", "letters in full width", full_width, "letters a to z", group="encoding"),
    Kind("html_entities", "same", "character", "letters as &#115; and &eacute;", write_entities, group="encoding"),
    Kind(
        "mojibake", "same", "character", "UTF-8 read as Windows-1252", garble, "characters outside ASCII",
        group="encoding",
    ),
    Kind(
        "accents_stripped", "same", "character", "letters without accents", strip_accents, "letters with accents",
        group="encoding",
    ),
)  # fmt: skip
_CHANGED: Final = (
    Kind(
        "antonym",
        "other",
        "word",
        "one word's opposite, where that can be asked",
        use_antonym,
        "English",
        graded=False,
    ),
    Kind(
        "negation",
        "other",
        "word",
        "not put in or taken out, where that can be asked",
        negate,
        "English",
        graded=False,
    ),
)
_WRITTEN: Final = (
    Kind("paraphrase", "same", "text", "the question in other words", None, _JUDGE, graded=False),
    Kind("misinformation", "decline", "text", "a false claim taken for granted", None, _JUDGE, graded=False),
)
_CONTROL: Final = Kind(IDENTITY, "same", "text", "a copy: the control", _copied, graded=False)

KINDS: Final[Mapping[str, Kind]] = {kind.name: kind for kind in (*_SAME, *_CHANGED, *_WRITTEN, _CONTROL)}
GROUPS: Final[Mapping[str, Sequence[str]]] = {
    "all": tuple(KINDS),
    "offline": tuple(kind.name for kind in KINDS.values() if kind.offline),
    "encoding": tuple(kind.name for kind in KINDS.values() if kind.group == "encoding"),
}


def choose_kinds(wanted: Iterable[str]) -> tuple[Kind, ...]:
    """The kinds of these names, in our order and each once; ``all``, ``offline`` and ``encoding`` are several.

    Raises:
        InputError: there is no such kind; the nearest is named.
    """
    chosen: set[str] = set()
    for name in wanted:
        if problem := unknown_kind(name):
            raise InputError(f"{problem[0].upper()}{problem[1:]}")
        chosen |= {*GROUPS.get(name, (name,))}
    return tuple(kind for name, kind in KINDS.items() if name in chosen)


def unknown_kind(name: str) -> str:
    """A sentence for a name that is no kind and no group of them; blank for one that is."""
    if name in KINDS or name in GROUPS:
        return ""
    names = (*KINDS, *GROUPS)
    close = difflib.get_close_matches(name, names, n=1) or [known for known in names if name and name in known]
    hint = f"did you mean {close[0]}?" if close else f"the kinds are {', '.join(KINDS)}."
    return f"there is no kind {name!r}; {hint}"
