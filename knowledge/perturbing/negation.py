"""Negation: a question is denied, or no longer denied, where that makes another sensible question of it.

Few questions can be denied so: "How do I not reset my password?" is no question that anybody asks, and "Can I not
return it?" asks for the same facts as "Can I return it?". So only some forms are touched, and all others are left
alone: why something is so; which things are accepted, needed or possible; what one should do; what if one does not.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from .chance import Chance
from .english import BE_FINITE, DO, HAVE, MODALS, NOT_ENGLISH, asked, begins_part, is_english, part_start
from .rewording import Change, Refused, Reworded, changed
from .units import Word, like, words

_ASKERS: Final = frozenset(["i", "you", "we", "they", "one"])
_SUBJECTS: Final = _ASKERS | {"he", "she", "it", "there", "this", "that"}
# What something is asked about because it is a surprise: the opposite is none.
_UNEXPECTED: Final = frozenset({
    "already", "declined", "denied", "disappear", "disappeared", "even", "extra", "fail", "failed", "failing", "gone",
    "here", "issue", "issues", "less", "lost", "missing", "more", "multiple", "only", "pending", "problem", "problems",
    "random", "rejected", "reverted", "still", "stuck", "suddenly", "swallow", "too", "trouble", "twice", "two",
    "wrong",
})  # fmt: skip
_NO_DENIAL: Final = frozenset(["may", "might", "must", "shall", "cannot"])  # "why mightn't" is hardly English
# Things of which some are and some are not, and what is done with them: "which cards do you not accept".
_DONE: Final = frozenset({
    "accept", "allow", "carry", "cover", "deliver", "exchange", "include", "like", "need", "offer", "own",
    "provide", "recommend", "refund", "repair", "return", "sell", "serve", "service", "ship", "speak", "stock",
    "support", "take", "use",
})  # fmt: skip
_STATES: Final = frozenset({
    "accepted", "allowed", "available", "covered", "eligible", "excluded", "included", "legal", "needed", "permitted",
    "refundable", "required", "supported", "used",
})  # fmt: skip
_MEASURES: Final = frozenset(["days", "hours", "minutes", "months", "reasons", "steps", "times", "weeks", "years"])
_LONGEST_HEAD: Final = 4  # words between "which" and its verb
_LACKING: Final = (
    "it is of no form that can be denied: why it is so, which are accepted or needed, what one should do, what if not"
)


def negate(text: str, share: float, chance: Chance) -> Reworded:  # noqa: ARG001 - two denials may cancel out
    """``not`` put in at one helping verb of a question, or taken out.

    Raises:
        Refused: no question in the text is of a form that can be denied.
    """
    found = words(text)
    if not is_english(found):
        raise Refused(NOT_ENGLISH)
    places = [change for place in asked(found) for change in _changes(found, place)]
    if not places:
        raise Refused(_LACKING)
    return Reworded(changed(text, [chance.pick(places)]), 1, len(places))


def _changes(found: Sequence[Word], place: int) -> Iterator[Change]:
    """What can be changed where a question begins, or where a condition does."""
    word = found[place].plain
    following = _run(found, place)
    if not following or (word != "if" and any(later.is_negation for later in following[1:])):
        return
    if place == 0 and word == "why":
        if len(following) + 1 == len(found):  # what is told beside it is why it was asked
            yield from _of_why(following)
    elif begins_part(found, place) and word in ("which", "what"):
        yield from (*_of_which(following), *_of_should(following))
    elif begins_part(found, place) and word in ("where", "when", "who", "whom"):
        yield from _of_should(following)
    elif word == "if" and place and found[part_start(found, place)].plain == "what":
        yield from _of_condition(found, place, following)


def _run(found: Sequence[Word], place: int) -> Sequence[Word]:
    """The words after a place, up to the next mark."""
    end = place + 1
    while end < len(found) and not (found[end].before or found[end - 1].after):
        end += 1
    return found[place + 1 : end]


def _of_why(following: Sequence[Word]) -> Iterator[Change]:
    """As in "why was I charged"; the other way round, "why isn't it working", nobody asks why it is."""
    verb, subject = following[0], following[1] if len(following) > 1 else None
    if subject is None or len(following) < 3 or any(word.plain in _UNEXPECTED for word in following):
        return
    if verb.plain == "am":
        if subject.plain == "i":
            yield Change(subject.end, subject.end, " not")
    elif verb.plain in (BE_FINITE | DO | HAVE | MODALS) - _NO_DENIAL:
        short = {"can": "can't", "will": "won't"}.get(verb.plain, f"{verb.plain}n't")
        yield Change(verb.start, verb.end, like(short, verb.text))


def _of_which(following: Sequence[Word]) -> Iterator[Change]:
    """As in "which cards do you accept", "which items can be returned", "which cards are accepted"."""
    for at in range(1, min(_LONGEST_HEAD + 1, len(following) - 1)):
        head, verb, after = following[at - 1], following[at], following[at + 1]
        if not head.plain.endswith("s") or head.plain.endswith(("ss", "us", "is")) or head.plain in _MEASURES:
            continue
        if verb.plain in ("do", "can", "may") and after.plain in _ASKERS:
            if at + 2 < len(following) and following[at + 2].plain in _DONE:
                yield Change(after.end, after.end, " not")
        elif verb.plain in ("can", "may") and after.plain == "be":
            denied = "cannot" if verb.plain == "can" else "may not"
            yield Change(verb.start, verb.end, like(denied, verb.text))
        elif verb.plain == "are" and after.plain in _STATES:
            yield Change(verb.end, verb.end, " NOT" if verb.text.isupper() else " not")


def _of_should(following: Sequence[Word]) -> Iterator[Change]:
    """As in "what should I do": what one should not do is another matter."""
    asks = len(following) > 2 and following[0].plain == "should" and following[1].plain in _ASKERS
    if asks and {"to", "expect"}.isdisjoint(word.plain for word in following):
        yield Change(following[1].end, following[1].end, " not")


def _of_condition(found: Sequence[Word], place: int, following: Sequence[Word]) -> Iterator[Change]:
    """As in "what happens if I don't pay": what if one does."""
    before = [word.plain for word in found[part_start(found, place) : place]]
    if before not in (["what"], ["what", "happens"], ["what", "will", "happen"], ["what", "would", "happen"]):
        return
    if len(following) > 2 and following[0].plain in _SUBJECTS and following[1].plain in ("don't", "dont"):
        yield Change(following[1].start, following[2].start, "")
