"""Survey words: what a survey found, in sentences and headings that every output shares."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ..comparing.estimate import Estimate
from ..leaderboard import count
from ..statistics.paired import Difference
from .against import Edit
from .audit import Audit
from .blame import Blame, BlamedAnswer, Cause, DocumentBlame
from .documents import DocumentCard
from .finding import Finding, Kind, Severity
from .grid import Grid, SettingResult
from .survey import Survey

TITLES: Final = {
    "grid": "How to cut and search",
    "gaps": "What is missing",
    "documents": "What each document does",
    "blame": "Which document caused it",
    "inside": "What is wrong inside",
    "against": "Which change paid",
    "audit": "The questions themselves",
}
KINDS: Final[Mapping[Kind, str]] = {
    "stale_gold": "stale gold",
    "unsupported": "answer in no document",
    "thin_topic": "thin topic",
    "answered_anyway": "answered anyway",
    "near_duplicate": "near duplicate",
    "contradiction": "contradiction",
    "stale_duplicate": "older version",
    "boilerplate": "boilerplate",
    "unreadable": "unreadable",
    "language": "language",
    "duplicate_question": "duplicate question",
    "leaked_prompt": "question in a prompt",
    "leaked_answer": "leaked answer",
    "contradicted_answer": "contradicted answer",
    "suspect_gold": "suspect gold",
    "conflicting_gold": "conflicting gold",
}
CAUSES: Final[Mapping[Cause, str]] = {
    "document": "one document misled: right without it",
    "several": "several documents misled together: right without all of them",
    "retrieval": "the gold document was not found, or drowned among others: right from it alone",
    "bot": "the bot: wrong even from the gold document alone",
    "unknown": "can't be told",
}
ORDER: Final[Mapping[Severity, int]] = {"high": 0, "medium": 1, "low": 2}
MARKS: Final[Mapping[str, str]] = {  # of the setting that was chosen, by what was found of it
    "better": "take",
    "no difference shown": "no gain shown",
    "worse": "worse",
}


def about(survey: Survey) -> str:
    """What was looked at.

    >>> from .survey import Survey
    >>> about(Survey("a", "shop", "", "", "", {}))
    '0 documents, 0 questions'
    """
    kinds = Counter(question.gold for question in survey.questions)
    said = {
        "evidence": "with gold evidence",
        "support": "placed by the support of their expected answer",
        "unsupported": "whose expected answer is in no document",
        "stale": "with stale gold alone",
        "none": "with no answer to look for",
    }
    parts = [f"{kinds[kind]} {words}" for kind, words in said.items() if kinds[kind]]  # type: ignore[index]
    whole = (
        f"{count(len(survey.documents) or _documents(survey), 'document')}, {count(len(survey.questions), 'question')}"
    )
    return whole + (f": {', '.join(parts)}" if parts else "")


def _documents(survey: Survey) -> int:
    """As many as were read, where no cards were wanted."""
    settings = survey.manifest.get("settings")
    documents = settings.get("documents") if isinstance(settings, dict) else None
    found = documents.get("count") if isinstance(documents, dict) else None
    return found if isinstance(found, int) else 0


def is_read(survey: Survey) -> bool:
    """Whether it is known which documents answers were made from; without that, cards say nothing of answers."""
    return any(card.retrieved for card in survey.documents)


def all_findings(survey: Survey) -> tuple[Finding, ...]:
    """Those of every part, in the order of the parts."""
    audited = () if survey.audit is None else survey.audit.findings
    return (*survey.gaps.findings, *survey.inside, *audited)


def worst_first(findings: Sequence[Finding]) -> list[Finding]:
    """By severity; equal ones stay in their order."""
    return sorted(findings, key=lambda finding: ORDER[finding.severity])


def best_settings(grid: Grid, most: int) -> list[tuple[int, SettingResult]]:
    """The best settings with their places, by the grid's metric; the present and the recommended one are among them."""
    by_mean = sorted(
        enumerate(grid.settings),
        key=lambda one: -one[1].metrics[grid.metric].mean if grid.metric in one[1].metrics else math.inf,
    )
    kept = {grid.present} | ({grid.recommendation.setting} if grid.recommendation else set())
    for place, _ in by_mean:
        if len(kept) < most:
            kept.add(place)
    return [one for one in by_mean if one[0] in kept]


def mean_text(found: Estimate | None) -> str:
    """A mean with its interval.

    >>> mean_text(Estimate(0.5, 0.25, 0.75, 10, 10))
    '0.50 (0.25, 0.75)'
    """
    if found is None:
        return "-"
    digits = 2 if abs(found.mean) < 10 else 0
    ends = "" if found.low is None or found.high is None else f" ({found.low:.{digits}f}, {found.high:.{digits}f})"
    return f"{found.mean:.{digits}f}{ends}"


def change_text(found: Difference | None) -> str:
    """A difference with its sign and interval."""
    if found is None:
        return ""
    digits = 2 if abs(found.mean) < 10 else 0
    ends = "" if found.low is None or found.high is None else f" ({found.low:+.{digits}f}, {found.high:+.{digits}f})"
    return f"{found.mean:+.{digits}f}{ends}"


def gold_of_grid(grid: Grid) -> str:
    """What the settings were measured against."""
    by_support = len(grid.questions) - grid.by_evidence
    kinds = [
        (grid.by_evidence, "by gold evidence"),
        (by_support, "by the support of their expected answer"),
    ]
    told = [(number, says) for number, says in kinds if number]
    said = f" {told[0][1]}" if len(told) == 1 else ": " + ", ".join(f"{number} {says}" for number, says in told)
    return f"{count(len(grid.settings), 'setting')}, {count(len(grid.questions), 'question')}{said.rstrip(': ')}"


def about_means(grid: Grid) -> str:
    """What the means of the settings are over, in a sentence; blank where none was chosen."""
    found = grid.recommendation
    if found is None:
        return ""
    return (
        f"Means by setting are over all {count(len(grid.questions), 'question')}, with the {found.chosen_on} that the "
        "setting was chosen on among them, so the best look a little better than they are."
    )


def about_blame(blame: Blame) -> str:
    """How blame was found."""
    asked = f"{count(blame.calls, 'answer')} asked for anew, {blame.kept} known from before"
    left = f"; {count(blame.left_out, 'answer')} not looked at: the bound is {blame.bound}" if blame.left_out else ""
    return f"{count(len(blame.answers), 'wrong answer')} looked at by {blame.metric}; {asked}{left}"


def causes(blame: Blame) -> Iterator[tuple[Cause, int]]:
    """How many wrong answers have each cause, in the order of the causes."""
    found = Counter(answer.cause for answer in blame.answers)
    yield from ((cause, found[cause]) for cause in CAUSES if found[cause])


def moved(blame: Blame) -> list[DocumentBlame]:
    """Documents that caused or carried any answer: those that caused most first, then those that carried most."""
    found = [one for one in blame.documents if one.caused or one.carried]
    return sorted(found, key=lambda one: (-len(one.caused), 0 if one.caused else -len(one.carried)))


def blamed_first(blame: Blame) -> list[BlamedAnswer]:
    """The answers that were asked again, those that a document is to blame for first."""
    order = list(CAUSES)
    return sorted(blame.answers, key=lambda one: order.index(one.cause))


def edit_text(edit: Edit) -> str:
    """An edit in a few words."""
    return f"{edit.document} ({edit.change}{f' from {edit.was}' if edit.was else ''})"


def mark(grid: Grid, place: int) -> str:
    """What is to be said of a setting beside its name: that it is the present one, or what came of the chosen one."""
    if place == grid.present:
        return "now"
    found = grid.recommendation
    return MARKS.get(found.says, "") if found is not None and place == found.setting else ""


def marked_by(survey: Survey) -> str:
    """By what an answer is right; blank where nothing says so."""
    if not survey.metric:
        return ""
    reaches = "" if survey.threshold is None else f" (threshold {survey.threshold:g})"
    return f"whether an answer is right is told by {survey.metric}{reaches}"


def about_subset(audit: Audit) -> str:
    """How few questions would do, and how wrong they would be; blank without a subset."""
    found = audit.subset
    if found is None:
        return ""
    kept = "the ranking of the bots" if found.agreement == 1 else "the order of the bots that are told apart"
    kept = "what bots score" if found.firm_pairs == 0 else kept
    said = (
        f"{len(found.questions)} of {count(found.of, 'question')} keep {kept} by {audit.metric}; the "
        f"mean of a bot moves by {found.error:.3f} at most"
    )
    if found.error_unseen is not None:
        drawn = "" if found.error_random is None else f", as many drawn by chance by {found.error_random:.3f}"
        return f"{said}. Of a bot that they were not chosen with it moves by {found.error_unseen:.3f}{drawn}."
    if found.error_elsewhere is not None:
        return f"{said}, and by {found.error_elsewhere:.3f} where they were not chosen."
    return f"{said}."


def about_telling(audit: Audit) -> str:
    """How many questions tell bots apart; blank where no two bots have values."""
    told = [one for one in audit.questions if one.values > 1]
    telling = sum(one.telling for one in told)
    return f"{telling} of {count(len(told), 'question')} tell bots apart by {audit.metric}." if told else ""


def card_notes(card: DocumentCard) -> Iterator[str]:
    """What is remarkable about the use of a document, of which it must be known what answers were made from."""
    if not card.retrieved:
        yield "never retrieved"
    elif card.precision is not None and not card.needed:
        yield "never needed where it was retrieved"
