"""Amount rules: prices, durations, limits of time and counts that a sentence names, asked for."""

import re
from collections.abc import Collection, Iterator
from typing import Final

from .phrases import (
    BE,
    BREAK,
    END,
    MODAL,
    MONEY,
    NUMBER,
    OTHER_UNIT,
    PARTICIPLE,
    REST,
    SUBJECT,
    TIME,
    TIME_UNIT,
    Made,
    uncapitalised,
)

_TIMED: Final = r"(?P<preposition>within|for|after|every)"
_TAKE: Final = {"takes": "take", "take": "take", "lasts": "last", "last": "last", "took": "take", "lasted": "last"}
_HAVE: Final = {
    "has": ("does", "have"), "have": ("do", "have"), "had": ("did", "have"), "contains": ("does", "contain"),
    "contain": ("do", "contain"), "contained": ("did", "contain"),
}  # fmt: skip
_NO_BASE: Final = frozenset({
    "are", "were", "have", "had", "will", "can", "may", "must", "should", "would", "could", "might", "shall", "did",
    "don", "never", "not", "only", "always", "first", "cannot", "please", "and", "who",
})  # fmt: skip

_COSTS: Final = re.compile(
    rf"(?:^|[;,]\s(?:and\s)?){SUBJECT}\s(?P<verb>costs?)\s(?:you\s)?(?P<answer>{MONEY}){REST}{END}"
)
_CHARGES: Final = re.compile(
    rf"We\s(?P<verb>charge|pay|offer|give|refund)\s(?P<who>you\s)?(?P<answer>{MONEY})\s"
    rf"(?P<for>for\s[^,;:.!?()]+?){END}"
)
_TAKES: Final = re.compile(rf"{SUBJECT}\s(?P<verb>{'|'.join(_TAKE)})\s(?:for\s)?(?P<answer>{TIME}){REST}{END}")
_PERSON: Final = re.compile(
    rf"(?P<person>[Ww]e|[Yy]ou)\s(?P<modal>(?:{MODAL}\s)?)(?P<verb>[a-z]{{3,}}(?:\s[^,;:.!?()]+?)?)\s{_TIMED}\s"
    rf"(?P<answer>{TIME}){REST}{END}"
)
_AUXILIARY: Final = re.compile(
    rf"{SUBJECT}\s(?P<aux>{BE}|{MODAL})\s"
    rf"(?P<verb>(?:be\s)?(?:{PARTICIPLE}|valid|open|available|free|closed|due|good|safe)(?:\s[^,;:.!?()]+?)?)\s"
    rf"{_TIMED}\s(?P<answer>{TIME}){REST}{END}"
)
_HAS: Final = re.compile(
    rf"{SUBJECT}\s(?P<verb>{'|'.join(_HAVE)})\s(?P<answer>{NUMBER})\s"
    rf"(?P<noun>(?:[a-z][\w-]+\s){{0,2}}?[a-z][\w-]+s){REST}{END}"
)


def price(main: str, common: Collection[str]) -> Iterator[Made]:
    """Delivery costs 29 euros for a bicycle."""
    for found in _COSTS.finditer(main):
        subject = uncapitalised(found["subject"], common)
        does = "does" if found["verb"] == "costs" else "do"
        if not re.match(r"\s(?:more|less|extra)\b", found["rest"]):
            yield f"how much {does} {subject} cost{_more(found['rest'])}", found["answer"], subject


def charge(main: str, common: Collection[str]) -> Iterator[Made]:  # noqa: ARG001 - as the others
    """We charge 25 euros for a swap."""
    if found := _CHARGES.match(main):
        yield f"how much do we {found['verb']} {found['who'] or ''}{found['for']}", found["answer"], ""


def duration(main: str, common: Collection[str]) -> Iterator[Made]:
    """A capacity test takes 3 hours."""
    if found := _TAKES.match(main):
        subject, verb = uncapitalised(found["subject"], common), found["verb"]
        does = "did" if verb in ("took", "lasted") else "does" if verb.endswith("s") else "do"
        yield f"how long {does} {subject} {_TAKE[verb]}{_more(found['rest'])}", found["answer"], subject


def time_limit(main: str, common: Collection[str]) -> Iterator[Made]:  # noqa: ARG001 - as the others
    """We keep it for 5 days; you can return it within 14 days."""
    found = _PERSON.match(main)
    if found and found["verb"].split()[0] not in _NO_BASE and not BREAK.search(found["verb"]):
        clause = f"{found['modal'].strip() or 'do'} {found['person'].lower()} {found['verb']}"
        yield _timed(found, clause), found["answer"], ""


def time(main: str, common: Collection[str]) -> Iterator[Made]:
    """The frame is guaranteed for 5 years."""
    found = _AUXILIARY.match(main)
    if found and not BREAK.search(found["verb"]):
        subject = uncapitalised(found["subject"], common)
        yield _timed(found, f"{found['aux']} {subject} {found['verb']}"), found["answer"], subject


def count(main: str, common: Collection[str]) -> Iterator[Made]:
    """A season has 13 episodes."""
    found = _HAS.match(main)
    if found and not re.fullmatch(rf"{TIME_UNIT}|{OTHER_UNIT}|times?|(?:more|fewer|less) .*", found["noun"]):
        does, base = _HAVE[found["verb"]]
        subject = uncapitalised(found["subject"], common)
        asked = f"how many {found['noun']} {does} {subject} {base}{_more(found['rest'])}"
        yield asked, f"{found['answer']} {found['noun']}", subject


def _timed(found: re.Match[str], clause: str) -> str:
    """The question for a time, by the word before it."""
    rest = _more(found["rest"])
    match found["preposition"]:
        case "for":
            return f"for how long {clause}{rest}"
        case "every":
            return f"how often {clause}{rest}"
        case preposition:
            unit = re.search(rf"{TIME_UNIT}$", found["answer"])
            units = (unit[0] if unit else "days").removesuffix("s") + "s"
            fronted = bool(re.match(r"\s(?:of|after|before|from)\s", rest))
            return f"{preposition} how many {units}{rest if fronted else ''} {clause}{'' if fronted else rest}"


def _more(rest: str) -> str:
    """What follows an amount, without a second one."""
    cut = re.split(rf"\s(?:and|or|plus|but)\s(?:{MONEY}|{NUMBER})", rest)[0].rstrip()
    return re.sub(r"\s(?:each|altogether|in all|later|old|ago|per)$", "", cut)
