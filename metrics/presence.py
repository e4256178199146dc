"""Tokens presence: whether the answer and its contexts hold the texts that a question's constraints want."""

from collections.abc import Sequence
from typing import Final

from .. import InputError
from .boolean import Check, Finding, boolean_metrics, contexts_to_check
from .declaring import artefact
from .facts import is_blank
from .patterns import safe_pattern
from .score import NotApplicable, Reason

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
    """Whether all constraints hold in the answer, and in the contexts joined by blanks.

    A constraint is a text that must occur letter for letter, ``REGEXP:`` and a Python regular expression that must be
    found, or a list of such of which one must hold. With ``fallback_expected`` a question without constraints wants one
    of its expected answers, as plain text. Texts are found inside words too: "for" holds "or". It says nothing of
    whether the answer is right: a wrong sentence may hold every wanted word, a right one may use others.
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
    """See that constraints can be checked at all, before any question is asked.

    Raises:
        InputError: a pattern is no regular expression, or a list stands in a list inside.
    """
    for constraint in constraints:
        for member in _members(constraint):
            if not isinstance(member, str):
                raise InputError("A constraint may be a list of texts, but no list may stand inside that.")
            if member.startswith(PATTERN_PREFIX):
                safe_pattern(member.removeprefix(PATTERN_PREFIX))


def _unmet(text: str, wanted: Sequence[str | Sequence[str]], as_text: bool) -> list[Finding]:
    """The constraints that don't hold, shortened to be shown."""
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
