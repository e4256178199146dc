"""Inflection: the forms of English verbs and nouns, made by rule or from a list of irregular ones."""

from typing import Final

_VOWELS: Final = "aeiou"
_DOUBLING: Final = frozenset({
    "begin", "ship", "stop", "drop", "plan", "swap", "chat", "pop", "get", "put", "let", "set", "run", "cut", "spot",
    "forget", "submit", "permit", "admit", "refer", "transfer", "omit", "split", "fit", "log", "step", "tap", "scan",
    "trim", "skip", "flip", "wrap", "shut", "sit", "win", "control", "cancel", "label", "travel", "commit", "occur",
    "prefer", "quit", "plug", "zip", "drag", "hit", "bid", "plot", "allot", "strip", "tip", "clip", "grip", "enrol",
})  # fmt: skip
_PLURALS: Final = {
    "person": "people", "child": "children", "man": "men", "woman": "women", "foot": "feet", "half": "halves",
    "pay": "pay", "shelf": "shelves", "life": "lives", "staff": "staff", "series": "series", "goods": "goods",
}  # fmt: skip
# Base, past, participle.
_IRREGULAR: Final = {
    line.split()[0]: tuple(line.split()[1:])
    for line in (
        "become became become", "begin began begun", "break broke broken", "bring brought brought",
        "build built built", "buy bought bought", "catch caught caught", "choose chose chosen", "come came come",
        "cost cost cost", "cut cut cut", "deal dealt dealt", "do did done", "draw drew drawn", "drive drove driven",
        "eat ate eaten", "fall fell fallen", "feel felt felt", "find found found", "fly flew flown",
        "forbid forbade forbidden", "forget forgot forgotten", "get got got", "give gave given", "go went gone",
        "grow grew grown", "have had had", "hear heard heard", "hide hid hidden", "hold held held", "keep kept kept",
        "know knew known", "leave left left", "lend lent lent", "let let let", "lose lost lost", "make made made",
        "mean meant meant", "meet met met", "overcome overcame overcome", "pay paid paid", "put put put",
        "read read read", "repay repaid repaid", "resend resent resent", "rise rose risen", "run ran run",
        "say said said", "see saw seen", "seek sought sought", "sell sold sold", "send sent sent", "set set set",
        "show showed shown", "shrink shrank shrunk", "shut shut shut", "sleep slept slept", "speak spoke spoken",
        "spend spent spent",
        "split split split", "stand stood stood", "take took taken", "teach taught taught", "tell told told",
        "think thought thought", "throw threw thrown", "understand understood understood", "undo undid undone",
        "wear wore worn", "win won won", "withdraw withdrew withdrawn", "write wrote written",
        "outlast outlasted outlasted",
    )
}  # fmt: skip

VERB_FORMS: Final = ("base", "third", "past", "participle", "continuous")
NOUN_FORMS: Final = ("base", "plural")


def verb_forms(verb: str) -> tuple[str, ...]:
    """Base form, third person, past, participle and -ing of a verb; of several words the first is inflected.

    >>> verb_forms("send back")
    ('send back', 'sends back', 'sent back', 'sent back', 'sending back')
    """
    first, blank, rest = verb.partition(" ")
    past, participle = _IRREGULAR.get(first) or (_past(first), _past(first))
    forms = (first, _with_s(first), past, participle, _continuous(first))
    return tuple(f"{form}{blank}{rest}" for form in forms)


def noun_forms(noun: str) -> tuple[str, ...]:
    """Singular and plural; of several words the last is inflected.

    >>> noun_forms("discount code")
    ('discount code', 'discount codes')
    """
    rest, blank, last = noun.rpartition(" ")
    return (noun, f"{rest}{blank}{_PLURALS.get(last) or _with_s(last)}")


def article(noun: str) -> str:
    """The indefinite article before a word, by its first sound as far as spelling tells it."""
    plain = noun.lower()
    if plain.startswith(("hour", "honest", "heir")):
        return "an"
    if plain.startswith(("uni", "use", "usu", "euro", "one", "once")) and not plain.startswith(
        ("unin", "unim", "unid")
    ):
        return "a"
    return "an" if plain[:1] in _VOWELS else "a"


def _with_s(word: str) -> str:
    if word.endswith("y") and word[-2:-1] not in _VOWELS:
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "z", "ch", "sh", "do", "go")) else f"{word}s"


def _past(verb: str) -> str:
    if verb.endswith("e"):
        return f"{verb}d"
    if verb.endswith("y") and verb[-2:-1] not in _VOWELS:
        return f"{verb[:-1]}ied"
    return f"{verb}{verb[-1] if verb in _DOUBLING else ''}ed"


def _continuous(verb: str) -> str:
    if verb.endswith("ie"):
        return f"{verb[:-2]}ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")) and verb != "be":
        return f"{verb[:-1]}ing"
    return f"{verb}{verb[-1] if verb in _DOUBLING else ''}ing"
