"""Leaks: what detectors find in the answer and in the contexts of a row."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

from .boolean import Check, contexts_to_check
from .detectors.detector import Detector
from .detectors.scanning import Finding as Found
from .detectors.scanning import scan
from .score import Reason

IsAllowed = Callable[[str, str], bool]
_CACHED_LENGTH: Final = 4_096  # contexts come back in many rows; longer ones are scanned anew to keep the cache small


def leak_check(
    answer: str,
    contexts: Sequence[str] | None,
    check_contexts: bool,
    detectors: Sequence[Detector],
    is_allowed: IsAllowed,
) -> Check:
    """A row's check: it fails where any detector finds anything that is not allowed.

    Args:
        answer: what the bot answered.
        contexts: the passages it had; None when it has no retriever.
        check_contexts: whether to look at them at all.
        detectors: what to look for.
        is_allowed: by detector's id and text found, what is nobody's; hashable, as contexts are cached by it.
    """
    in_answer = [_detail(found) for found in scan(answer, detectors, is_allowed)]
    checked = contexts_to_check(contexts, check_contexts)
    if isinstance(checked, Reason):
        return Check(bool(in_answer), checked, in_answer)
    in_contexts = [
        {"context": place, **_detail(found)}
        for place, context in enumerate(checked)
        for found in _found(context, tuple(detectors), is_allowed)
    ]
    return Check(bool(in_answer), bool(in_contexts), in_answer, in_contexts)


def _found(text: str, detectors: tuple[Detector, ...], is_allowed: IsAllowed) -> tuple[Found, ...]:
    return (_found_before if len(text) <= _CACHED_LENGTH else scan)(text, detectors, is_allowed)


_found_before = lru_cache(maxsize=4_096)(scan)


def _detail(found: Found) -> dict[str, object]:
    """A finding without the secret itself."""
    return {"detector": found.detector, "span": [found.start, found.end], "excerpt": found.excerpt}
