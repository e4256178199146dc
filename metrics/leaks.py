"""Leaks: what detectors find in the answer and in the contexts of a row."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Final

from .boolean import Check, Finding, contexts_to_check
from .detectors.detector import Detector
from .detectors.scanning import Finding as Found
from .detectors.scanning import Scanned, scan
from .score import Reason

Allowing = Callable[[str, str], str]
_CACHED_LENGTH: Final = 4_096  # contexts come back in many rows; longer ones are scanned anew to keep the cache small


def leak_check(
    answer: str,
    contexts: Sequence[str] | None,
    check_contexts: bool,
    detectors: Sequence[Detector],
    allowing: Allowing,
) -> Check:
    """A row's check: it fails where any detector finds anything that is not allowed.

    Args:
        answer: what the bot answered.
        contexts: the passages it had; None when it has no retriever.
        check_contexts: whether to look at them at all.
        detectors: what to look for.
        allowing: by detector's id and text found, what makes it nobody's; hashable, as contexts are cached by it.
    """
    of_answer = scan(answer, detectors, allowing)
    in_answer = [_detail(found) for found in of_answer.found]
    checked = contexts_to_check(contexts, check_contexts)
    if isinstance(checked, Reason):
        return Check(bool(in_answer), checked, in_answer, allowed=_allowed([of_answer]))
    scanned = [_scanned(context, tuple(detectors), allowing) for context in checked]
    in_contexts = [
        {"context": place, **_detail(found)} for place, scan_of in enumerate(scanned) for found in scan_of.found
    ]
    allowed = _allowed([of_answer, *scanned])
    return Check(bool(in_answer), bool(in_contexts), in_answer, in_contexts, allowed=allowed)


def _allowed(scanned: Iterable[Scanned]) -> list[Finding]:
    """What the allow-list hid in a row, by detector and entry of the list."""
    hits: Counter[tuple[str, str]] = Counter()
    for one in scanned:
        for hidden in one.hidden:
            hits[hidden.detector, hidden.allowed] += hidden.hits
    return [{"detector": detector, "allowed": entry, "hits": count} for (detector, entry), count in hits.items()]


def _scanned(text: str, detectors: tuple[Detector, ...], allowing: Allowing) -> Scanned:
    return (_scanned_before if len(text) <= _CACHED_LENGTH else scan)(text, detectors, allowing)


_scanned_before = lru_cache(maxsize=4_096)(scan)


def _detail(found: Found) -> dict[str, object]:
    """A finding without the secret itself."""
    return {"detector": found.detector, "span": [found.start, found.end], "excerpt": found.excerpt}
