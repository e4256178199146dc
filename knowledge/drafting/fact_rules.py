"""Fact rules: dates, makers, places, attributes and definitions that a sentence names, asked for."""

import re
from collections.abc import Collection, Iterator
from typing import Final

from .phrases import BE, BREAK, DATE, END, MONTH, NAME, PARTICIPLE, REST, SUBJECT, Made, uncapitalised

_PAST: Final = {
    "opened": "open", "began": "begin", "started": "start", "premiered": "premiere", "closed": "close", "died": "die",
    "ended": "end", "debuted": "debut", "retired": "retire", "aired": "air", "joined": "join", "became": "become",
    "launched": "launch", "arrived": "arrive", "moved": "move", "won": "win", "merged": "merge", "resigned": "resign",
    "entered": "enter", "adopted": "adopt", "took place": "take place", "replaced": "replace",
    "introduced": "introduce",
}  # fmt: skip
_MADE: Final = {
    "written": "wrote", "built": "built", "sung": "sang", "drawn": "drew", "made": "made", "sold": "sold", "won": "won",
    "found": "found", "led": "led", "bought": "bought", "shot": "shot", "chosen": "chose", "held": "held",
}  # fmt: skip
# What "by" does not name the maker of, or of which there are many.
_NOT_MADE: Final = frozenset({
    "followed", "caused", "bordered", "surrounded", "influenced", "preceded", "replaced", "succeeded", "inspired",
    "used", "determined", "defined",
})  # fmt: skip
_PEOPLE: Final = re.compile(
    r"\b(?:actor|actress|singer|songwriter|musician|politician|player|writer|author|director|producer|scientist|artist"
    r"|king|queen|president|leader|lawyer|engineer|comedian|rapper|coach|footballer|physicist|painter|poet|composer"
    r"|businessman|businesswoman|journalist|philosopher|monarch|emperor|officer|character|person|student|explorer"
    r"|mathematician|inventor|soldier|statesman|theologian|reformer|novelist|dancer|model|host|presenter)\b"
)
_ATTRIBUTES: Final = (
    "capital|population|name|length|height|width|depth|area|age|price|cost|fee|weight|size|minimum age|maximum speed"
    "|minimum term|deadline|currency|official language|motto|founder|author|director|population density|speed|distance"
    "|melting point|boiling point|symbol|chemical formula|atomic number|largest city|highest point|opening hours"
    "|limit|deposit|notice period|standard size|life expectancy|circumference|diameter|radius|mass|record"
)
_DATED: Final = re.compile(
    rf"{SUBJECT}\s(?P<aux>was|were)\s(?P<verb>{PARTICIPLE}(?:\s[^,;:.!?()]+?)?)\s(?:in|on)\s(?P<answer>{DATE})"
    rf"(?:\s(?:in|at|by|on|with|from|to|as)\s[^,;:.!?()]+?)?{END}"
)
_BEGAN: Final = re.compile(
    rf"{SUBJECT}\s(?P<verb>{'|'.join(_PAST)})(?P<what>(?:\s[^,;:.!?()]+?)?)\s(?:in|on)\s(?P<answer>{DATE})"
    rf"(?:\s[^,;:.!?()]+?)?{END}"
)
_MADE_BY: Final = re.compile(
    rf"{SUBJECT}\s(?:is|was|were|are)\s(?P<verb>\w+ed|{'|'.join(_MADE)})(?P<more>(?:\sand\s\w+ed)?)\sby\s"
    rf"(?P<answer>(?:the\s|(?:[a-z]+\s)?[a-z]+(?:er|or|ist|ian)\s)?{NAME}){REST}{END}"
)
_PLACED: Final = re.compile(
    rf"{SUBJECT}\s(?P<aux>{BE})\s"
    r"(?P<verb>located|situated|based(?=\sin)|headquartered|born|buried|filmed|held|shot)\s"
    r"(?P<answer>(?:in|at|on|near|between)\s(?:the\s)?[^,;:.!?()]*?[A-Z][\w'-]+(?:,\s[A-Z][\w' -]+?)*)"
    r"(?=\s*[;.!?()]|\s(?:and|but|on|in|from|with|to|as)\s|,\s[a-z])"
)
_NAMED: Final = re.compile(
    rf"(?P<subject>The\s(?:[\w-]+\s){{0,2}}(?:{_ATTRIBUTES})\s(?:of|for)\s[^,;:.!?()]+?)\s(?P<aux>{BE})\s"
    r"(?P<answer>[^,;:!?()]{2,60}?)\.?$"
)
_DEFINED: Final = re.compile(
    r"(?P<subject>[A-Z][^,;:.!?]{1,60}?)\s(?P<aux>is|are|was)\s(?P<answer>(?:a|an|the)\s[^;:!?]{12,}?)(?:\.?$|[;:])"
)
_NO_TERM: Final = re.compile(
    r"^(?:the|our|your|all|most|some|many|each|every|any|no|there|in|on|at) |\bat the time\b|,"
    r"|\b(?:is|are|was|were|has|have|had|will|can|that|which|who)\b",
    re.IGNORECASE,
)
_NO_DEFINITION: Final = re.compile(
    r"(?:a|an|the) (?:same|case|result|most|only|first|best|last|main|reason|way|lot|number|few|part|kind|good|great"
    r"|bad|very|more|better|subject|matter|member|form|type|target)\b"
)
_CUT_SHORT: Final = re.compile(r"\bto\b|\b(?:in|on|from|between|since)$")


def date(main: str, common: Collection[str]) -> Iterator[Made]:
    """The company was founded in 1998."""
    found = _DATED.match(main)
    if found and not BREAK.search(found["verb"]) and not _CUT_SHORT.search(found["verb"]):
        subject = uncapitalised(found["subject"], common)
        yield f"when {found['aux']} {subject} {found['verb']}", found["answer"], subject


def event(main: str, common: Collection[str]) -> Iterator[Made]:
    """The tunnel opened in 1994."""
    found = _BEGAN.match(main)
    if found and not BREAK.search(found["what"]) and not _CUT_SHORT.search(found["what"]):
        subject = uncapitalised(found["subject"], common)
        yield f"when did {subject} {_PAST[found['verb']]}{found['what']}", found["answer"], subject


def maker(main: str, common: Collection[str]) -> Iterator[Made]:
    """The song was written by Ray Noble."""
    found = _MADE_BY.match(main)
    if found and not found["rest"].strip() and found["verb"] not in _NOT_MADE:
        subject = uncapitalised(found["subject"], common)
        yield f"who {_MADE.get(found['verb'], found['verb'])}{found['more']} {subject}", found["answer"], subject


def place(main: str, common: Collection[str]) -> Iterator[Made]:
    """The library is located in Dublin."""
    found = _PLACED.match(main)
    if found and not re.search(rf"\d|\b{MONTH}\b", found["answer"]):
        subject = uncapitalised(found["subject"], common)
        yield f"where {found['aux']} {subject} {found['verb']}", found["answer"], subject


def attribute(main: str, common: Collection[str]) -> Iterator[Made]:
    """The capital of France is Paris."""
    found = _NAMED.match(main)
    if found and not re.match(rf"(?:not|{PARTICIPLE}|a|an|the|in|very|so|too|also)\b", found["answer"]):
        subject = uncapitalised(found["subject"], common)
        yield f"what {found['aux']} {subject}", found["answer"], subject


def definition(main: str, common: Collection[str]) -> Iterator[Made]:
    """A truss is a frame of beams."""
    found = _DEFINED.match(main)
    if found is None or _NO_DEFINITION.match(found["answer"]):
        return
    subject = re.sub(r"\s*\(.*?\)", "", uncapitalised(found["subject"], common)).strip()
    if _NO_TERM.search(subject):
        return
    person = _PEOPLE.search(re.split(r"\b(?:of|for|in|by|that|who|which|from)\b|,", found["answer"])[0])
    yield f"{'who' if person and subject[:1].isupper() else 'what'} {found['aux']} {subject}", found["answer"], subject
