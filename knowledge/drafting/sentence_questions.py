"""Sentence questions: what a plain English sentence answers, asked in its own words."""

import re
from collections.abc import Callable, Collection, Iterator
from typing import Final

from .amount_rules import charge, count, duration, price, time, time_limit
from .draft import Asked
from .fact_rules import attribute, date, definition, event, maker, place
from .phrases import ADVERBS, FIRST_PERSON, THE_WRITER, Made, asked_by_reader

_LEAD: Final = re.compile(
    r"(?P<lead>(?:In|During|For|To|At|On|From|After|Before) [^,;:.!?()]{2,40}), (?P<main>.+)", re.DOTALL
)
_LINKS: Final = re.compile(
    r"(?:For example|For instance|In addition|In fact|In general|In this|In that|At first|In turn|In short|In all)\b"
)
_NO_SUBJECT: Final = re.compile(
    r"^(?:underneath|beneath|since|long after|"
    r"likewise|much|deciding|in|on|at|for|from|to|with|by|during|after|before|within|under|over"
    r"|about|around|also|especially|when|while|if|because|although|until|as|not|now|then|here|there|what|how|why|who"
    r"|where|that|no|nor|but|and|or|only|both|one|two|three|four|five|six|seven|eight|nine|ten|some|most|many|several"
    r"|more|among|along|like|unlike|despite|according|inside|outside|however|today|later|another|part|half"
    r"|\d[\d,.]*)\b(?!\s?-)"
    r"|\b(?:costs|takes|lasts|is|are|was|were|has|have|had|will|can|means|includes?)\b"
    r"|\s(?:between|in between|if|when|which|who|not|--|also)\b|\s-+$|^.$",
    re.IGNORECASE,
)
# Text of pages often has its headings run into the sentences below them.
_RUN_INTO: Final = re.compile(r"\s(?:A|An|The)\s|[a-z](?:The|An)\b|\b(\w{3,})\b.*\s\1\b| - ")
_RULES: Final[dict[str, Callable[[str, Collection[str]], Iterator[Made]]]] = {
    "price": price,
    "charge": charge,
    "duration": duration,
    "time limit": time_limit,
    "time": time,
    "count": count,
    "date": date,
    "event": event,
    "maker": maker,
    "place": place,
    "attribute": attribute,
    "definition": definition,
}


def questions_of(sentence: str, common: Collection[str]) -> Iterator[Asked]:
    """The questions of a sentence, the best rule first.

    Args:
        sentence: as it reads.
        common: words that its text has in small letters, so that they are no names.

    >>> [asked.question for asked in questions_of("In Northern Ireland, delivery costs 45 euros.", {"delivery"})]
    ['How much does delivery cost in Northern Ireland?']
    """
    if not re.match(r"[A-Z0-9“\"]", sentence) or not sentence.rstrip('"”').endswith("."):
        return
    if THE_WRITER.search(sentence):
        return
    lead = _LEAD.fullmatch(sentence)
    main, tail = (lead["main"], lead["lead"]) if lead else (sentence, "")
    if _LINKS.match(tail):
        return
    main = ADVERBS.sub("", main[:1].upper() + main[1:] if tail else main)
    at_end = f" {tail[0].lower()}{tail[1:]}" if tail else ""
    for kind, rule in _RULES.items():
        for question, answer, subject in rule(main, common):
            if _NO_SUBJECT.search(subject) or _RUN_INTO.search(subject):
                continue
            asked = " ".join(f"{question}{at_end}".split())
            asked = asked_by_reader(asked) if FIRST_PERSON.search(asked) else asked
            yield Asked(f"{asked[:1].upper()}{asked[1:]}?", answer.strip().rstrip("."), kind, subject)
