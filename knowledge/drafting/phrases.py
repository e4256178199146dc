"""Phrases: the pieces of English sentences of which questions are made, as patterns."""

import re
from collections.abc import Collection
from typing import Final

_WORDS: Final = (
    "one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty hundred"
)
_ONE_NUMBER: Final = rf"(?:\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?|(?:{'|'.join(_WORDS.split())}))"
_ABOUT: Final = (
    r"(?:(?:about|around|roughly|approximately|nearly|almost|at least|at most|up to|no more than|more than|fewer than"
    r"|less than|over|under|only|just|exactly|a minimum of|a maximum of)\s+)?"
)
NUMBER: Final = (
    rf"{_ABOUT}(?:{_ONE_NUMBER})(?:\s?(?:to|or|-|–)\s?{_ONE_NUMBER})?"  # noqa: RUF001
    r"(?:\s(?:hundred|thousand|million|billion))?"
)
TIME_UNIT: Final = (
    r"(?:(?:working|business|calendar|whole|full|school)\s)?"
    r"(?:seconds?|minutes?|hours?|days?|nights?|weeks?|months?|years?|decades?|centuries)"
)
OTHER_UNIT: Final = (
    r"(?:kilomet(?:re|er)s?|met(?:re|er)s?|centimet(?:re|er)s?|millimet(?:re|er)s?|km|cm|mm|kg|kilograms?|grams?|tonnes?"
    r"|tons?|miles?|feet|inches|pounds|acres|hectares|litres?|liters?|gallons?|degrees|percent|characters|points?|times)"
)
MONEY: Final = (
    rf"{_ABOUT}(?:[€$£]\s?\d[\d,.]*\d|[€$£]\s?\d|(?:{_ONE_NUMBER})(?:\s(?:to|or)\s{_ONE_NUMBER})?"
    r"(?:\s(?:hundred|thousand|million|billion))?\s(?:euros?|dollars?|pounds?|pence|cents?|yen|francs?))"
    r"(?:\s(?:million|billion|thousand))?"
)
TIME: Final = rf"{NUMBER}\s{TIME_UNIT}"
MONTH: Final = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
DATE: Final = (
    rf"(?:(?:early|mid|late)[ -])?(?:\d{{1,2}}\s{MONTH}(?:,?\s\d{{4}})?"
    rf"|{MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?(?:\s?,\s?\d{{4}})?|{MONTH}(?:\s\d{{4}})?"
    r"|\d{4}(?!\s?[-–]))"  # noqa: RUF001
)
NAME: Final = r"(?:[A-Z][\w.'’-]+)(?:\s(?:(?:of|de|del|van|von|der|da|la|le|and|&|the)\s)?[A-Z][\w.'’-]*)*"  # noqa: RUF001
PARTICIPLE: Final = (
    r"(?:\w{2,}ed|built|written|made|sold|sent|given|held|won|lost|paid|kept|set|put|cut|shot|sung|begun|taken|drawn"
    r"|found|born|bought|brought|broken|chosen|led|left|known|shown|spent|taught|told|thrown|worn|grown|hidden|run)"
)
BE: Final = r"(?:is|are|was|were)"
MODAL: Final = r"(?:can|could|may|might|must|should|will|would|shall)"
# What a phrase must not hold, if it is to be understood where it stands alone.
POINTING: Final = re.compile(
    r"\b(?:it|its|itself|they|them|their|theirs|themselves|he|him|his|himself|she|her|hers|herself|this|these|those|such"
    r"|there|here|then|thus|so|former|latter|same|other|others|another|one|ones|both|above|below|following|previous"
    r"|therefore|however|instead|otherwise|aforementioned|respectively|between)\b"
    r"|\bthat\b(?=\s(?:is|was|are|were|has|time|day|year|case|point|way|date)\b)|\bthat$|^that\b",
    re.IGNORECASE,
)
ADVERBS: Final = re.compile(
    r"\b(?:also|usually|normally|generally|typically|often|currently|officially|formally|commonly|then)\s"
)
SUBJECT: Final = r"(?P<subject>[A-Z0-9][^,;:.!?()]{1,70}?)"  # of few words, without a clause or a list in it
REST: Final = r"(?P<rest>(?:\s[^,;:.!?()—–]+?)??)"  # noqa: RUF001
END: Final = r"(?=\s*(?:,(?!\d)|[;:.!?()—–]|$)|\s(?:and|but|so|because|although|while|or)\s)"  # noqa: RUF001
BREAK: Final = re.compile(r"\b(?:that|which|who|whom|whose|if|when|while|because|although|but|as|where|than|and|or)\b")
Made = tuple[str, str, str]  # question, answer, and the subject of which it asks
FIRST_PERSON: Final = re.compile(r"\b(?:we|us|our|ours|you|your|yours|i|me|my|mine)\b", re.IGNORECASE)
THE_WRITER: Final = re.compile(r"\b(?:I|me|my|mine|myself)\b")

_SWAPPED: Final = {
    "we": "you", "us": "you", "our": "your", "ours": "yours", "you": "I", "your": "my", "yours": "mine",
    "yourself": "myself",
}  # fmt: skip
_OBJECT_YOU: Final = re.compile(
    r"(?<!^)\b(?P<before>(?:give|send|text|email|tell|ask|call|charge|refund|offer|show|help|pay|let|lend|allow|reach|for"
    r"|to|with|from|by|at|about|on|of)s?\s)you\b",
    re.IGNORECASE,
)


def asked_by_reader(phrase: str) -> str:
    """A phrase of those who write to the reader, as the reader would put it to them.

    >>> asked_by_reader("we send you your money")
    'you send me my money'
    """
    with_object = _OBJECT_YOU.sub(lambda found: f"{found['before']}\0", phrase)
    swapped = re.sub(
        r"\b(?:we|us|our|ours|you|your|yours|yourself)\b",
        lambda found: _SWAPPED[found[0].lower()],
        with_object,
        flags=re.IGNORECASE,
    )
    return swapped.replace("\0", "me")


def uncapitalised(phrase: str, common: Collection[str]) -> str:
    """A phrase from the beginning of a sentence, as it would stand within one: names keep their capitals.

    Args:
        phrase: what begins with a capital.
        common: words that the text has without one.
    """
    first, _, rest = phrase.partition(" ")
    word = first.lower()
    is_common = word in common or word.removesuffix("s") in common or (word.endswith("ing") and len(word) > 5)
    is_common = is_common or (bool(rest) and rest.islower() and bool(_DESCRIBES.search(word)))
    is_plain = word in _SMALL or (is_common and first[1:].islower() and not re.search(r"\b[A-Z]", rest))
    return f"{word}{phrase[len(first) :]}" if is_plain else phrase


_DESCRIBES: Final = re.compile(r"(?:ed|ing|al|ful|ive|ous|ic|able|ent|ant|ary)$")
_SMALL: Final = frozenset(
    ["the", "a", "an", "our", "your", "we", "you", "all", "every", "each", "some", "most", "many", "any", "no", "in"]
)
