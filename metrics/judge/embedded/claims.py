"""What the embedded judge takes a text apart into: claims, which are its sentences, and entities, by their spelling."""

import re
from collections.abc import Iterator
from typing import Final

from ...text import sentences
from .matching import declines
from .word_lists import STOP_WORDS
from .wording import wording

# What is said for politeness' sake, whole sentences only.
_POLITE: Final = re.compile(
    r"(?:hi|hello|hey|dear|good (?:morning|afternoon|evening)|welcome|thanks?|thank you|you(?:'|’)?re welcome|sure"  # noqa: RUF001
    r"|of course|certainly|absolutely|great(?: question)?|good question|glad to help|happy to help|bye|goodbye"
    r"|have a (?:nice|good|great) \w+|best regards|kind regards|i hope (?:this|that) helps)"
    r"(?:[ ,]+(?:there|you|all|so much|very much|for \w+ing[\w ]*|for your \w+|and \w+))*\W*",
    re.IGNORECASE,
)
_OFFER: Final = re.compile(
    r"(?:please )?(?:let me know|feel free|don(?:'|’)?t hesitate)\b.*|how (?:can|may) i help\b.*"  # noqa: RUF001
    r"|if you have (?:any )?(?:other|more|further|additional) questions\b.*",
    re.IGNORECASE | re.DOTALL,
)
# The sources that are said not to answer; refusals in the first person are known elsewhere.
_SILENT: Final = re.compile(
    r"\b(?:documents?|contexts?|passages?|sources?|texts?|information|articles?)\b[^.]{0,40}\b"
    r"(?:do(?:es)?(?: not|n['’]t) (?:say|mention|contain|provide|answer|specify|include|state)"  # noqa: RUF001
    r"|(?:is|are)(?: not|n['’]t) (?:available|provided|given))",  # noqa: RUF001
    re.IGNORECASE,
)
# After a refusal, where to turn instead is part of it.
_REFERRAL: Final = re.compile(
    r"(?:but |instead,? )?(?:please|kindly|you (?:can|may|could)|try|(?:i|we) (?:suggest|recommend))\b.*\b"
    r"(?:ask(?:ing)?|contact(?:ing)?|call(?:ing)?|write to|e-?mail|reach out|check with|consult|get in touch|turn to)"
    r"\b.*",
    re.IGNORECASE | re.DOTALL,
)
_NAME: Final = re.compile(
    r"[^\W\d_a-z][\w’'.&-]*\w(?:\s+(?:(?:of|de|del|van|von|der|du|la|le|al|bin)\s+)?[^\W\d_a-z][\w’'&-]*)*"  # noqa: RUF001
)
_PHRASE_WORDS: Final = 4


def claims_of(text: str) -> tuple[str, ...]:
    """The sentences of a text that claim something: no greetings, offers, questions, or refusals with their referrals.

    >>> claims_of("Thank you! Refunds take 14 days. Is there anything else?")
    ('Refunds take 14 days.',)
    >>> claims_of("I don't know. Please ask our support team.")
    ()
    """
    claims = tuple(sentence for sentence in sentences(text) if _claims(sentence))
    if any(declines(sentence.strip()) or _SILENT.search(sentence) for sentence in sentences(text)):
        return tuple(claim for claim in claims if not _REFERRAL.fullmatch(claim.strip()))
    return claims


def _claims(sentence: str) -> bool:
    if not wording(sentence).words or sentence.rstrip("\"'”’) ").endswith(("?", "？", "؟")):  # noqa: RUF001
        return False
    bare = sentence.strip()
    return not (_POLITE.fullmatch(bare) or _OFFER.fullmatch(bare) or declines(bare) or _SILENT.search(bare))


def entities_of(text: str) -> tuple[str, ...]:
    """Names, numbers and dates of a text, each once; a name is a run of capitalised words.

    The first word of a sentence is capitalised whatever it is: by itself it is a name only when it stands within
    another sentence too, or when the text is just a phrase.

    >>> entities_of("In 1879 Albert Einstein was born in Ulm. Einstein left.")
    ('Albert Einstein', 'Ulm', 'Einstein', '1879')
    """
    found = [match for sentence in sentences(text) for match in _names(sentence)]
    within = {name for name, first in found if not first}
    whole = {word for name in within for word in name.split()}
    is_phrase = len(text.split()) <= _PHRASE_WORDS and not text.rstrip().endswith((".", "!", "?"))
    names = [name for name, first in found if not first or is_phrase or name in whole or " " in name]
    figures = [word.key for word in wording(text).of_kind("number", "date")]
    return tuple(dict.fromkeys([*names, *(one for one in figures if one not in {name.lower() for name in names})]))


def _names(sentence: str) -> Iterator[tuple[str, bool]]:
    """Capitalised runs without function words at their ends, and whether each is the sentence's first word alone."""
    for match in _NAME.finditer(sentence):
        words = match[0].removesuffix("'s").removesuffix("’s").split()  # noqa: RUF001
        first = not any(sign.isalnum() for sign in sentence[: match.start()])
        while words and words[0].lower() in STOP_WORDS:
            words, first = words[1:], False
        if words and not wording(" ".join(words)).of_kind("date"):
            yield " ".join(words), first and len(words) == 1
