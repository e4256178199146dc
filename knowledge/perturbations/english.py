"""English: word forms, synonyms, antonyms and function words for perturbations."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

from .edits import Word

PRONOUNS: Final = frozenset(
    ["i", "you", "he", "she", "it", "we", "they", "one", "there", "this", "that", "these", "those"]
)
DETERMINERS: Final = frozenset({
    "the", "a", "an", "my", "your", "his", "her", "its", "our", "their", "this", "that", "these", "those", "any",
    "some", "no", "each", "every", "another", "which", "what", "whose", "many", "few", "several", "all", "both",
    "other", "next", "last", "first", "second", "third",
})  # fmt: skip
PREPOSITIONS: Final = frozenset({
    "of", "in", "on", "at", "by", "for", "from", "with", "without", "into", "onto", "over", "under", "after", "before",
    "during", "about", "against", "between", "through", "within", "per", "via",
})  # fmt: skip
CONJUNCTIONS: Final = frozenset(
    ["and", "or", "but", "if", "when", "while", "because", "although", "unless", "until", "than", "as", "so"]
)
MODALS: Final = frozenset(["can", "could", "will", "would", "shall", "should", "may", "might", "must", "cannot"])
DO: Final = frozenset(["do", "does", "did"])
BE: Final = frozenset(["am", "is", "are", "was", "were", "be", "been", "being"])
BE_FINITE: Final = frozenset(["am", "is", "are", "was", "were"])
HAVE: Final = frozenset(["have", "has", "had"])
QUESTION_WORDS: Final = frozenset(["how", "what", "which", "when", "where", "why", "who", "whom", "whose"])
# None of these is a common word of another language that is written with the same letters.
_TELLING: Final = frozenset({
    "the", "my", "your", "our", "their", "his", "its", "with", "without", "from", "you", "they", "she", "this", "that",
    "these", "those", "how", "what", "when", "where", "why", "which", "who", "does", "did", "are", "can", "cannot",
    "could", "should", "would", "must", "has", "not", "and", "after", "before", "about", "because", "there", "it",
    "don't", "doesn't", "can't", "isn't", "i'm", "what's",
})  # fmt: skip
# These are common words of other languages as well.
_WEAK: Final = frozenset({
    "a", "am", "any", "at", "be", "been", "but", "by", "do", "for", "get", "have", "i", "if", "in", "is", "it's", "me",
    "no", "of", "on", "or", "some", "to", "was", "we", "will",
})  # fmt: skip
_LONGEST_PART: Final = 60  # words
_ENOUGH: Final = 3  # words, up to which a text may do without any of these
_DOCUMENT: Final = 20  # words of a document, from which their shares tell more than single ones

# Words that are nouns and verbs: what stands before them must tell which.
NOUNS_AND_VERBS: Final = frozenset({
    "aim", "answer", "award", "benefit", "book", "call", "cause", "change", "charge", "check", "claim", "contact",
    "contest", "contract", "copy", "cost", "credit", "damage", "decrease", "delay", "demand", "deposit", "dispute",
    "drink", "email", "estimate", "exchange", "experience", "export", "file", "fine", "form", "gift", "guarantee",
    "guide", "harm", "help", "import", "increase", "injury", "issue", "leave", "limit", "loan", "lock", "map",
    "measure", "message", "monitor", "move", "name", "order", "plan", "price", "print", "process", "profit", "promise",
    "protest", "query", "question", "ransom", "refund", "rent", "repair", "replacement", "reply", "report", "request",
    "reserve", "result", "return", "review", "rise", "risk", "rule", "sample", "schedule", "search", "service", "share",
    "ship", "show", "sign", "stage", "start", "stay", "step", "stop", "store", "supply", "surprise", "swap", "talk",
    "tax", "test", "tip", "total", "trace", "track", "trade", "train", "transfer", "travel", "treatment", "trip",
    "trouble", "trust", "type", "update", "upgrade", "use", "visit", "wait", "walk", "warrant", "waste", "watch",
    "wish", "work", "attack", "block", "credits", "fall", "gain", "win", "love", "hate", "pass", "push", "pull", "like",
    "dislike", "post", "attempt", "display", "finish", "need", "offer", "purchase", "throw", "wash",
})  # fmt: skip
ADJECTIVES_AND_VERBS: Final = frozenset({
    "better", "clean", "clear", "complete", "cool", "correct", "dirty", "dry", "empty", "free", "heat", "lower",
    "narrow", "open", "own", "secure", "separate", "slow", "warm", "wet",
})  # fmt: skip


NOT_ENGLISH: Final = "it does not read like English"
_CUT: Final = frozenset(["can't", "won't", "shan't"])
_VERB_FOLLOWS: Final = frozenset({"to", "not", "and", "or", "please", "who", "let's"})


def is_english(found: Sequence[Word], *, of_document: bool = False) -> bool:
    """Whether words may be English: they are of Latin letters, and small words of English are among them.

    Args:
        found: words of a question, or of a document.
        of_document: whether they are a document's: tables, lists and code have fewer small words, and signs and names
            of other scripts prove nothing there.
    """
    strong, weak = (sum(word.plain in known for word in found) for known in (_TELLING, _WEAK))
    if of_document and len(found) >= _DOCUMENT and (strong + weak) * 10 >= len(found):
        return strong * 30 >= len(found)
    if any(letter.isalpha() and ord(letter) > 0x24F for word in found for letter in word.text):
        return False
    if strong * 8 >= len(found) or (weak > 1 and (strong + weak) * 5 >= len(found) * 2):
        return True
    return len(found) <= _ENOUGH and all(word.text.isascii() for word in found)


def expects_verb(before: str) -> bool:
    """Whether the base form of a verb may follow this word; a blank text is the beginning of a sentence."""
    return not before or before.endswith("n't") or before in MODALS | DO | PRONOUNS | _VERB_FOLLOWS


def expects_noun(before: str) -> bool:
    """Whether a noun, alone or after adjectives, is to be expected after this word."""
    return before in DETERMINERS | PREPOSITIONS or before.endswith("'s")


def begins_part(found: Sequence[Word], place: int) -> bool:
    """Whether a word begins a sentence, or a part of one after a mark."""
    return place == 0 or bool(found[place].before) or any(mark in ".!?:;,\u2026-" for mark in found[place - 1].after)


def part_start(found: Sequence[Word], place: int) -> int:
    """Where the part of a sentence begins in which a word stands, not too far before it."""
    first = max(0, place - _LONGEST_PART)
    return next((start for start in range(place, first, -1) if begins_part(found, start)), first)


def asked(found: Sequence[Word]) -> list[int]:
    """Places of the words of questions, as far as question marks tell them: not of what is said before or after."""
    if not any("?" in word.after for word in found):
        return list(range(len(found)))
    places, end = [], ""
    for place in range(len(found) - 1, -1, -1):
        after = found[place].after
        end = after if any(mark in after for mark in ".!?\u2026") else end
        if "?" in end:
            places.append(place)
    return places[::-1]


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
