"""English: what the small words of a question tell of the words beside them."""

from collections.abc import Sequence
from typing import Final

from .units import Word

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
_HELPING: Final = BE_FINITE | DO | HAVE | MODALS
_CUT: Final = frozenset(["can't", "won't", "shan't"])
_VERB_FOLLOWS: Final = frozenset({"to", "not", "and", "or", "please", "who", "let's"})


def is_english(found: Sequence[Word]) -> bool:
    """Whether words may be English: they are of Latin letters, and small words of English are among them."""
    if any(letter.isalpha() and ord(letter) > 0x24F for word in found for letter in word.text):
        return False
    strong, weak = (sum(word.plain in known for word in found) for known in (_TELLING, _WEAK))
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


def is_helping(word: Word) -> bool:
    """Whether it is a helping verb, denied or not."""
    return word.plain in _HELPING | _CUT or word.plain.removesuffix("n't") in _HELPING


def asks_yes_or_no(found: Sequence[Word], place: int) -> bool:
    """Whether a word stands in what a question such as "Is it open?" wants a yes or no to."""
    start = part_start(found, place)
    return is_helping(found[start]) and not any(word.plain in QUESTION_WORDS for word in found[start:place])


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
