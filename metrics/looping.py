"""Metrics on answers that go round in circles: repeated sentences, repeated text, compressibility."""

import zlib
from collections import Counter
from typing import Final

from .declaring import metric
from .repetition import LONGEST_TEXT, longest_repeat
from .score import Measured, NotApplicable, Reason

_SOURCE: Final = "H2O evaluators page, Looping detection"
_LEAST_LENGTH: Final = 10  # characters of a sentence that counts; other sentence metrics want more than 10
_SHOWN: Final = 200  # characters of a repeated piece that are kept as evidence


@metric(threshold=0.75, blank_answer=Reason.NO_SENTENCES, source=_SOURCE)
def unique_sentences(answer_sentences: tuple[str, ...]) -> Measured:
    """Share of the answer's sentences of at least 10 characters that are distinct.

    Sentences are compared letter for letter: one that is repeated in other words counts as new. The details name
    the sentence that stands most often, where one stands twice.

    >>> unique_sentences(("I can help with that.", "I can help with that.", "Please wait a moment."))
    Measured(value=0.6666666666666666, details={'most_repeated': 'I can help with that.', 'times': 2})
    """
    counts = Counter(sentence for sentence in answer_sentences if len(sentence) >= _LEAST_LENGTH)
    if not counts:
        raise NotApplicable(Reason.NO_SENTENCES)
    ((sentence, times),) = counts.most_common(1)
    details = {"most_repeated": sentence[:_SHOWN], "times": times} if times > 1 else {}
    return Measured(len(counts) / counts.total(), details)


@metric(threshold=0.75, better="lower", blank_answer="not_applicable", source=_SOURCE)
def longest_repeated_substring(answer: str) -> Measured:
    """Share of the answer that its longest repeated piece makes up, over all its occurrences that don't overlap.

    The piece is the longest one that stands twice without overlapping itself, the first of equals; what is counted
    is its length times the number of occurrences found from the left. It falls with length: without any loop the
    answers of our data give about 0.15 at 30 characters, 0.11 at 200 and 0.06 at 900. Of an answer with more than
    2,097,151 characters only so many are looked at, and ``truncated`` is set.

    >>> longest_repeated_substring("no no yes").details
    {'piece': 'no ', 'length': 3, 'times': 2}
    """
    text = answer[:LONGEST_TEXT]
    place, length = longest_repeat(text)
    piece = text[place : place + length]
    times = text.count(piece) if piece else 0
    details: dict[str, object] = {"piece": piece[:_SHOWN], "length": length, "times": times} if piece else {}
    return Measured(length * times / len(text), details | ({"truncated": True} if len(text) < len(answer) else {}))


@metric(threshold=0.75, blank_answer="not_applicable", source=_SOURCE)
def compression_ratio(answer: str) -> Measured:
    """Size of the answer after compression by zlib, as a share of its size before, at most 1.

    It falls with length whatever is said: ordinary prose gives about 0.87 at 100 characters, 0.71 at 200 and 0.61 at
    555, so the threshold of 0.75 fails any normal answer of more than some 180 characters. Compare answers of like
    length only, or set the threshold to 0.35 for long ones. The length is in the details.

    >>> compression_ratio("Yes.").value
    1.0
    """
    given = answer.encode("utf-8", "surrogatepass")
    size = len(zlib.compress(given, 9))
    details = {"characters": len(answer), "bytes": len(given), "compressed_bytes": size}
    return Measured(min(1.0, size / len(given)), details)
