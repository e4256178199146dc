"""Conclusions: what a reader of a survey in a hurry should know, a sentence each, in the order of its parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from ..leaderboard import count
from .blame import Blame
from .finding import Finding
from .grid import Grid
from .survey import Survey
from .survey_words import all_findings, change_text, is_read, moved

LEAST_GAIN: Final = 0.005  # less is nothing in two digits
FEWEST_ANSWERS: Final = 20
NEARLY_ALL: Final = 0.9
_OF_GAPS: Final = {
    "stale_gold": "{count} stale gold: the evidence is no longer in its document.",
    "unsupported": "{count} an expected answer that no document supports.",
    "answered_anyway": "{count} answered although no document holds the answer.",
}
_OF_INSIDE: Final = {
    "contradiction": "{count} of documents contradict one another.",
    "stale_duplicate": "{count} in an older version beside a newer one.",
}
_OF_AUDIT: Final = {
    "conflicting_gold": "{count} another expected answer than the same question elsewhere.",
    "contradicted_answer": "{count} an expected answer that a document contradicts.",
    "suspect_gold": "{count} an expected answer that is itself in doubt.",
}


def conclusions(survey: Survey) -> Iterator[str]:
    """What a reader in a hurry should know, a sentence each."""
    if survey.grid is not None and survey.grid.recommendation is not None:
        yield advice(survey.grid)
    yield from _marking(survey)
    yield from _counted(survey, _OF_GAPS)
    unused = sum(not card.retrieved and not card.questions for card in survey.documents)
    if unused and is_read(survey):
        them = "it" if unused == 1 else "them"
        yield (
            f"{unused} of {count(len(survey.documents), 'document')} did nothing: no answer was made from {them}, and "
            f"no question needs {them}."
        )
    if survey.blame is not None:
        yield from _blamed(survey.blame)
    yield from _counted(survey, _OF_INSIDE)
    yield from _counted(survey, _OF_AUDIT)


def advice(grid: Grid) -> str:
    """What to do about the settings, in a sentence; blank where nothing is recommended."""
    found = grid.recommendation
    if found is None:
        return ""
    now, best = grid.names[grid.present], grid.names[found.setting]
    if found.says == "better":
        on = f"on {found.reported_on} questions that it was not chosen on"
        return f"Take {best} instead of {now}: {change_text(found.difference)} {grid.metric} {on}."
    within = "" if grid.budget is None else f" with {grid.budget:,.0f} prompt tokens or less"
    if found.says == "present":
        return f"Keep the present setting, {now}: no other{within} was better where settings were chosen."
    return f"Keep the present setting, {now}: no other{within} is shown to be better."


def beyond_budget(grid: Grid) -> str:
    """What more tokens than the bound would buy, in a sentence; blank where nothing is shown to be better there."""
    if grid.budget is None:
        return ""
    within, beyond = [0.0], []
    for name, result in zip(grid.names, grid.settings, strict=True):
        found, tokens = result.against.get(grid.metric), result.metrics.get("prompt_tokens")
        if found is None or tokens is None:
            continue
        if tokens.mean <= grid.budget:
            within.append(found.mean)
        elif found.low is not None and found.low >= LEAST_GAIN:
            beyond.append((found.mean, -tokens.mean, name, found))
    gain, less, best, shown = max(beyond, key=lambda one: one[:2], default=(0.0, 0.0, "", None))
    if shown is None or gain < max(within) + LEAST_GAIN:
        return ""
    return (
        f"With more prompt tokens there is more to gain: {best} takes {-less:,.0f} a question and has "
        f"{change_text(shown)} {grid.metric} on all questions, on which it was picked out. To let such settings be "
        "recommended, set survey: max_tokens."
    )


def _marking(survey: Survey) -> Iterator[str]:
    """A doubt about the metric, where it calls nearly all answers wrong or nearly all right."""
    audited = () if survey.audit is None else survey.audit.questions
    marked = [one for one in audited if one.difficulty is not None]
    answers = sum(one.values for one in marked)
    if not survey.metric or answers < FEWEST_ANSWERS:
        return
    wrong = sum(one.values * (one.difficulty or 0.0) for one in marked) / answers
    if wrong >= NEARLY_ALL:
        yield (
            f"{wrong:.0%} of the answers are wrong by {survey.metric}. Read some of them: where they are right after "
            "all, name another metric with --metric, because all that is said of wrong answers rests on it."
        )
    elif wrong <= 1 - NEARLY_ALL:
        yield f"Only {wrong:.0%} of the answers are wrong by {survey.metric}, so little can be said of what goes wrong."


def _blamed(blame: Blame) -> Iterator[str]:
    causes = Counter(answer.cause for answer in blame.answers)
    misled = causes["document"] + causes["several"]
    told = [
        _then(misled, "become", "right when documents that mislead are taken away"),
        _then(causes["retrieval"], "become", "right from the gold document alone"),
        _then(causes["bot"], "stay", "wrong even from the gold document alone, which is up to the bot"),
        f"{causes['unknown']} can't be told" if causes["unknown"] else "",
    ]
    if said := [part for part in told if part]:
        asked = f"{count(len(blame.answers), 'wrong answer')} that {_were(len(blame.answers))} asked again"
        yield f"Of {asked}, {_listed(said)}."
    if worst := [one for one in moved(blame) if one.caused]:
        first = worst[0]
        others = f", and {count(len(worst) - 1, 'other document')} at least one" if worst[1:] else ""
        yield f"{first.document} caused {count(len(first.caused), 'wrong answer')}{others}."


def _then(number: int, verb: str, what: str) -> str:
    """What so many answers do; blank for none."""
    return f"{number} {verb}{'s' if number == 1 else ''} {what}" if number else ""


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


def _listed(parts: Sequence[str]) -> str:
    """Parts of a sentence.

    >>> _listed(["a", "b", "c"])
    'a, b, and c'
    """
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])}, and {parts[-1]}"


def _counted(survey: Survey, sentences: dict[str, str]) -> Iterator[str]:
    for kind, sentence in sentences.items():
        if found := [one for one in all_findings(survey) if one.kind == kind]:
            yield sentence.format(count=_number(found, kind))


def _number(found: Sequence[Finding], kind: str) -> str:
    """How many things findings of a kind are about, with verb."""
    if kind == "contradiction":
        return count(len(found), "pair")
    if kind == "stale_duplicate":
        return f"{count(len(found), 'document')} {'stands' if len(found) == 1 else 'stand'}"
    number = len({key for one in found for key in one.questions}) or len(found)
    if kind == "answered_anyway":
        return f"{count(number, 'question')} {_were(number)}"
    return f"{count(number, 'question')} {'has' if number == 1 else 'have'}"
