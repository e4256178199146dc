"""What the extractive model understands of a prompt: length, what to say without an answer, politeness."""

import re
from dataclasses import dataclass

_NUMBERS = {
    "one": 1, "single": 1, "two": 2, "couple": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10,
}  # fmt: skip
_NUMBER = r"\d{1,2}|a(?!\s+(?:couple|few|single)\b)|" + "|".join(_NUMBERS)
_LENGTH = re.compile(
    rf"\b(?P<low>{_NUMBER})(?:\s*(?:-|\u2013|to|or)\s*(?P<high>{_NUMBER}))?(?:\s+of)?\s+(?:[a-z]+,?\s+){{0,2}}sentences?\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"\b(?:say|reply|answer|respond|write|state|return|output)\b[^\"“”\n.]{0,40}[\"“](?P<phrase>[^\"“”\n]{2,300})[\"”]",
    re.IGNORECASE,
)
_WITHOUT_ANSWER = re.compile(
    r"\b(?:unless|otherwise)\b|\b(?:if|when|where|whenever)\b.*(?:\bnot\b|n't|n\u2019t|\bno\b|\bcannot\b|\bunable\b"
    r"|\bmissing\b|\binsufficient\b|\bwithout\b|\bnothing\b|\bunsure\b)",
    re.IGNORECASE | re.DOTALL,
)
_WRAPPED = re.compile(r"[ \t]*\n(?![ \t]*(?:\n|[-*•#]|\d+[.)]))[ \t]*")  # a line break inside a paragraph
_POLITE = re.compile(r"\b(?:polite|politely|friendly|courteous|courteously)\b", re.IGNORECASE)
_IMPOLITE = re.compile(
    r"(?:\bnot|n't|n\u2019t|\bno need to be|\bwithout being)\s+(?:be\s+|overly\s+|too\s+)*(?:polite|friendly)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Instructions:
    """What a prompt asks for.

    Attributes:
        most_sentences: sentences of an answer at most; None when the prompt does not say.
        refusal: what to say when the documents don't hold the answer; None: an answer is always given.
        polite: whether the answer is to be polite.
    """

    most_sentences: int | None = None
    refusal: str | None = None
    polite: bool = False


def read_instructions(template: str) -> Instructions:
    """Find in a prompt template the few things that the extractive model can do.

    - "in one sentence", "at most two sentences", "2-3 short sentences": the (upper) number.
    - *say*, *reply*, *answer* ... followed by a text in double quotes, in a sentence with a condition such as
      "if the documents do not contain the answer": the text.
    - "polite", "friendly", "courteous": politeness.

    The last mention counts where two disagree, as later instructions do for a language model.

    >>> read_instructions('Use up to 3 sentences. If it is not in the text, reply exactly "No idea."')
    Instructions(most_sentences=3, refusal='No idea.', polite=False)
    """
    template = _WRAPPED.sub(" ", template)
    most = None
    for found in _LENGTH.finditer(template):
        most = max(1, _number(found["high"] or found["low"]))
    refusal = None
    for found in _QUOTED.finditer(template):
        if _WITHOUT_ANSWER.search(_sentence_around(template, found.start("phrase") - 1, found.end())):
            refusal = found["phrase"].strip()
    polite = bool(_POLITE.search(template)) and not _IMPOLITE.search(template)
    return Instructions(most, refusal, polite)


def _number(written: str) -> int:
    return 1 if written.lower() == "a" else _NUMBERS.get(written.lower()) or int(written)


def _sentence_around(template: str, start: int, end: int) -> str:
    """The sentence about a quoted text: from a full stop, blank line or list mark before it to the next after it."""
    before = 0
    for found in re.finditer(r"[.!?][\"”)]*\s|\n\s*\n|\n\s*(?:[-*•]|\d+[.)])\s", template[:start]):
        before = found.end()
    after = re.match(r"[^.\n]*", template[end:])
    return template[before:start] + (after[0] if after else "")
