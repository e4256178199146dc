"""Users' regular expressions: found as Python's ``re.search`` finds them, but never in runaway time."""

import re
import warnings
from functools import cached_property, lru_cache
from typing import Any, Final

from .. import InputError
from .pattern_classes import with_python_classes
from .score import TimedOut

TIMEOUT: Final = 1.0  # seconds for one pattern on one text
_CLASSES: Final = re.compile(r"\\[wWdDsS]")
_ASCII_ONLY: Final = re.compile(r"\\[bB]|\(\?[a-zA-Z]*i")  # RE2's word boundaries and cases are those of ASCII
_READ_OTHERWISE: Final = re.compile(r"\{,|\\[1-9]")  # RE2 takes {,n} as literal text and \12 as a character code
_CONTROL: Final = re.compile(r"[\x0b\x1c-\x1f]")  # blanks to Python's \s, not to RE2's
_HALF_CHARACTER: Final = re.compile("[\ud800-\udfff]")  # can't be written in UTF-8
# A brace that is no repeat is literal to ``re``, and begins a fuzzy match to ``regex``.
_LITERAL_BRACE: Final = re.compile(r"\\[pP]\{[A-Z][a-z]?\}|\\.|\{(?!(?:\d+(?:,\d*)?|,\d*)\})", re.DOTALL)


class SafePattern:
    """A regular expression in Python's syntax that is searched in linear time, or for ``TIMEOUT`` at most.

    RE2 searches in linear time wherever it gives the same answer as ``re.search``. Look-around, back-references, and
    beyond ASCII word boundaries and ignored case go to the package ``regex``, which can be stopped.
    """

    def __init__(self, pattern: str, timeout: float = TIMEOUT) -> None:
        r"""Compile the pattern.

        Raises:
            InputError: it is not a regular expression, or one of which Python says that it is ambiguous.
        """
        self.pattern = pattern
        self._timeout = timeout
        self._in_nothing = _python(pattern).search("") is not None  # engines disagree on \B in an empty text
        self._is_classifying = _CLASSES.search(pattern) is not None
        self._is_for_ascii = _ASCII_ONLY.search(pattern) is not None
        self._linear = None if _READ_OTHERWISE.search(pattern) else _linear(pattern)
        self._wide = with_python_classes(pattern)
        self._timed = _timed(self._wide or pattern, pattern)

    def is_in(self, text: str) -> bool:
        """Whether the pattern is found anywhere in the text.

        Raises:
            TimedOut: it was searched for too long; the sentence names the pattern.
        """
        if not text:
            return self._in_nothing
        linear = self._linear_for(text)
        if linear is not None:
            return linear.search(text) is not None
        try:
            return self._timed.search(text, timeout=self._timeout) is not None
        except TimeoutError:
            shown = self.pattern if len(self.pattern) <= 80 else f"{self.pattern[:79]}…"
            said = f"The pattern '{shown}' was searched for {self._timeout:g} s in {len(text):,} characters"
            raise TimedOut(f"{said} and given up; write it without nested repeats.") from None

    def _linear_for(self, text: str) -> Any | None:  # noqa: ANN401 - the package has no types
        """The linear engine, where it answers as Python would."""
        # At the end, '$' matches before a line break in Python, and only after it in RE2.
        if self._linear is None or (text.endswith("\n") and "$" in self.pattern) or _HALF_CHARACTER.search(text):
            return None
        is_plain = text.isascii() and not _CONTROL.search(text)
        if is_plain or not (self._is_classifying or self._is_for_ascii):
            return self._linear
        return self._linear_beyond_ascii if text.isascii() or not self._is_for_ascii else None

    @cached_property
    def _linear_beyond_ascii(self) -> Any | None:  # noqa: ANN401 - the package has no types
        return None if self._wide is None or r"\b" in self.pattern.lower() else _linear(self._wide)


@lru_cache(maxsize=1_024)
def safe_pattern(pattern: str) -> SafePattern:
    """The compiled pattern; the last thousand are kept. Raises InputError for an invalid one."""
    return SafePattern(pattern)


def _python(pattern: str) -> re.Pattern[str]:
    """The pattern as Python reads it, which says whether it is one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise InputError(f"The regular expression '{pattern}' is invalid: {error}.") from None
    except Warning as doubt:
        said = f"The regular expression '{pattern}' is ambiguous ({doubt})"
        raise InputError(f"{said}; put a backslash before the brackets and signs that are meant literally.") from None


def _linear(pattern: str) -> Any | None:  # noqa: ANN401 - the package has no types
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError):
        return None


def _timed(pattern: str, given: str) -> Any:  # noqa: ANN401 - the package has no types
    import regex

    literal = _LITERAL_BRACE.sub(lambda found: r"\{" if found[0] == "{" else found[0], pattern)
    try:
        return regex.compile(literal, regex.VERSION0)
    except regex.error as error:
        raise InputError(f"The regular expression '{given}' can't be used: {error}.") from None
