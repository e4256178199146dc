"""Constraints (tokens presence): whether the answer and its contexts contain the texts or patterns of a question."""

import re
import warnings
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any, Final

from .. import InputError
from .declaration import artefact
from .facts import is_blank
from .judge.boolean import Check, Finding, boolean_metrics, contexts_to_check
from .score import NotApplicable, Reason, TimedOut

_WORD: Final = r"\p{L}\p{N}_"
_BLANK: Final = r"\x09-\x0d\x1c-\x20\x85\xa0" + "\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_EDGE: Final = f"(?:(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}]))"
_OUTSIDE: Final = {
    "w": f"[{_WORD}]",
    "W": f"[^{_WORD}]",
    "d": r"\p{Nd}",
    "D": r"\P{Nd}",
    "s": f"[{_BLANK}]",
    "S": f"[^{_BLANK}]",
    "b": _EDGE,
    "B": f"(?!{_EDGE})",
}
_INSIDE: Final = {"w": _WORD, "d": r"\p{Nd}", "D": r"\P{Nd}", "s": _BLANK}
_INSIDE_UNSPEAKABLE: Final = frozenset("WS")  # what is not one of several kinds can't be a member of a set
_FLAGS_THAT_CHANGE_READING: Final = re.compile(r"\(\?[a-zA-Z]*[axL]")
_SET_START: Final = re.compile(r"\[\^?\]?")


def with_python_classes(pattern: str) -> str | None:
    r"""The pattern with its classes of characters and its word boundaries written out by Unicode categories.

    To Python a word character is a letter or any number ("²" too), or an underscore, and no accent that stands alone.
    None if that is not possible, or if ASCII or verbose flags change the meaning of the pattern.

    >>> with_python_classes(r"\d[\w-]")
    '\\p{Nd}[\\p{L}\\p{N}_-]'
    """
    if _FLAGS_THAT_CHANGE_READING.search(pattern):
        return None
    made: list[str] = []
    place, is_in_set = 0, False
    while place < len(pattern):
        sign = pattern[place : place + 2] if pattern[place] == "\\" else pattern[place]
        if len(sign) == 2 and is_in_set and sign[1] in _INSIDE_UNSPEAKABLE:
            return None
        if len(sign) == 2:
            sign_made = (_INSIDE if is_in_set else _OUTSIDE).get(sign[1], sign)
        elif sign == "[" and not is_in_set:
            start = _SET_START.match(pattern, place)
            sign = sign_made = start.group() if start else sign
            is_in_set = True
        else:
            is_in_set = is_in_set and sign != "]"
            sign_made = sign
        made.append(sign_made)
        place += len(sign)
    return "".join(made)


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
            message = f"The pattern '{shown}' was searched for {self._timeout:g} s in {len(text):,} characters"
            raise TimedOut(f"{message} and given up; write it without nested repeats.") from None

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
    """The compiled pattern; the last thousand are cached. Raises InputError for an invalid one."""
    return SafePattern(pattern)


def _python(pattern: str) -> re.Pattern[str]:
    """The pattern compiled by Python, to validate it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise InputError(f"The regular expression '{pattern}' is invalid: {error}.") from None
    except Warning as warning:
        message = f"The regular expression '{pattern}' is ambiguous ({warning})"
        raise InputError(
            f"{message}; put a backslash before the brackets and signs that are meant literally."
        ) from None


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


PATTERN_PREFIX: Final = "REGEXP:"
_LONGEST_SHOWN: Final = 120  # characters of a constraint in the details


@artefact
def tokens_presence(
    answer: str,
    constraints: Sequence[str | Sequence[str]] | None = None,
    expected_answers: Sequence[str] | None = None,
    contexts: Sequence[str] | None = None,
    *,
    fallback_expected: bool = False,
    check_contexts: bool = True,
) -> Check:
    """Whether the answer, and the contexts joined by blanks, meet all constraints.

    A constraint is a text that must occur exactly, ``REGEXP:`` and a Python regular expression that must match, or a
    list of these of which one must match. With ``fallback_expected`` a question without constraints requires one of
    its expected answers, as plain text. Texts also match inside words: "for" contains "or". It does not say whether
    the answer is right: a wrong sentence may contain every required word, a right one may use others.
    """
    wanted, as_text = (constraints, False) if constraints else ((), True)
    if fallback_expected and not wanted:
        accepted = [text for text in expected_answers or () if not is_blank(text)]
        wanted = (accepted,) if accepted else ()
    if not wanted:
        raise NotApplicable(Reason.CONSTRAINTS_MISSING)
    in_answer = _unmet(answer, wanted, as_text)
    checked = contexts_to_check(contexts, check_contexts)
    if isinstance(checked, Reason):
        return Check(bool(in_answer), checked, in_answer)
    in_contexts = _unmet(" ".join(checked), wanted, as_text)
    return Check(bool(in_answer), bool(in_contexts), in_answer, in_contexts)


TOKENS_PRESENCE: Final = boolean_metrics(
    tokens_presence, "wanted texts", "H2O evaluators page, Tokens presence", blank_answer="measure"
)


def check_constraints(constraints: Sequence[str | Sequence[str]]) -> None:
    """Validate constraints before any question is asked.

    Raises:
        InputError: a pattern is no regular expression, or a list is nested in a list.
    """
    for constraint in constraints:
        for member in _members(constraint):
            if not isinstance(member, str):
                raise InputError("A constraint may be a list of texts, but not a list within that list.")
            if member.startswith(PATTERN_PREFIX):
                safe_pattern(member.removeprefix(PATTERN_PREFIX))


def _unmet(text: str, wanted: Sequence[str | Sequence[str]], as_text: bool) -> list[Finding]:
    """The constraints that are not met, shortened for display."""
    unmet: list[Finding] = []
    for constraint in wanted:
        members = _members(constraint)
        if not any(_holds(text, member, as_text) for member in members):
            unmet.append({"missing": [_shown(member) for member in members]})
    return unmet


def _members(constraint: str | Sequence[str]) -> Sequence[str]:
    return (constraint,) if isinstance(constraint, str) else constraint


def _holds(text: str, member: str, as_text: bool) -> bool:
    if as_text or not member.startswith(PATTERN_PREFIX):
        return member in text
    return safe_pattern(member.removeprefix(PATTERN_PREFIX)).is_in(text)


def _shown(member: str) -> str:
    return member if len(member) <= _LONGEST_SHOWN else f"{member[: _LONGEST_SHOWN - 1]}…"
