"""Survey words: what a survey found, in sentences and headings that every output shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ..comparing.estimate import Estimate
from ..leaderboard import count
from ..statistics.paired import Difference
from .against import Edit
from .blame import Blame, Cause
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
    "document": "one document misled",
    "several": "several documents together misled",
    "retrieval": "right from the gold document alone: not found, or drowned",
    "bot": "wrong even from the gold document alone",
    "unknown": "not told",
}
ORDER: Final[Mapping[Severity, int]] = {"high": 0, "medium": 1, "low": 2}
RETRIEVAL: Final = (  # in the order in which outputs show them
    "evidence_recall", "hit_rate", "mrr", "ndcg", "span_recall", "span_precision", "context_precision",
    "context_recall", "prompt_tokens",
)  # fmt: skip


def about(survey: Survey) -> str:
    """What was looked at.

    >>> from .survey import Survey
    >>> about(Survey("a", "shop", "", "", "", {}))
    '0 documents, 0 questions'
    """
    kinds = Counter(question.gold for question in survey.questions)
    said = {
        "evidence": "with gold evidence",
        "support": "placed by their expected answer",
        "unsupported": "whose expected answer is in no document",
        "stale": "with stale gold alone",
        "none": "with nothing to look for",
    }
    parts = [f"{kinds[kind]} {words}" for kind, words in said.items() if kinds[kind]]  # type: ignore[index]
    whole = (
        f"{count(len(survey.documents) or _documents(survey), 'document')}, {count(len(survey.questions), 'question')}"
    )
    return whole + (f": {', '.join(parts)}" if parts else "")


def _documents(survey: Survey) -> int:
    """As many as were read, where no cards were wanted."""
    found = survey.manifest.get("documents")
    return found if isinstance(found, int) else 0


def conclusions(survey: Survey) -> Iterator[str]:
    """What a reader in a hurry should know, a sentence each."""
    if survey.grid is not None and survey.grid.recommendation is not None:
        yield survey.grid.recommendation.why
    for kind in ("stale_gold", "unsupported", "answered_anyway", "contradiction", "stale_duplicate", "suspect_gold"):
        found = [one for one in all_findings(survey) if one.kind == kind]
        if found:
            yield f"{_CONCLUDED[kind].format(count=counted(found, kind))}"
    if survey.blame is not None and (worst := [one for one in survey.blame.documents if one.caused]):
        first = worst[0]
        yield (
            f"{first.document} caused {count(len(first.caused), 'wrong answer')}"
            + (f"; {count(len(worst), 'document')} caused any." if worst[1:] else "; no other document caused any.")
        )
    unused = sum(not card.retrieved and not card.questions for card in survey.documents)
    if unused and survey.run:
        yield f"{count(unused, 'document')} did nothing for any answer."


_CONCLUDED: Final = {
    "stale_gold": "{count} stale gold: the evidence is no longer in its document.",
    "unsupported": "{count} an expected answer that no document supports.",
    "answered_anyway": "{count} answered although no document holds the answer.",
    "contradiction": "{count} of documents contradict one another.",
    "stale_duplicate": "{count} in an older version beside a newer one.",
    "suspect_gold": "{count} an expected answer that is itself in doubt.",
}


def counted(found: Sequence[Finding], kind: str) -> str:
    """How many things findings of a kind are about, with verb."""
    if kind in {"contradiction", "stale_duplicate"}:
        number, noun = len(found), "pair" if kind == "contradiction" else "document"
        verb = "" if kind == "contradiction" else (" stands" if number == 1 else " stand")
        return f"{count(number, noun)}{verb}"
    number = len({key for one in found for key in one.questions}) or len(found)
    if kind == "answered_anyway":
        return f"{count(number, 'question')} {'was' if number == 1 else 'were'}"
    return f"{count(number, 'question')} {'has' if number == 1 else 'have'}"


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
        key=lambda one: -one[1].metrics[grid.metric].mean if grid.metric in one[1].metrics else 0.0,
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
    parts = [
        f"{grid.by_evidence} by gold evidence" if grid.by_evidence else "",
        f"{by_support} by their expected answer's support" if by_support else "",
    ]
    settings = count(len(grid.settings), "setting")
    return f"{settings}, {count(len(grid.questions), 'question')}: {', '.join(filter(None, parts))}"


def about_blame(blame: Blame) -> str:
    """How blame was found."""
    asked = f"{count(blame.calls, 'answer')} asked for anew, {blame.kept} known from before"
    left = f"; {count(blame.left_out, 'answer')} not looked at: the bound is {blame.bound}" if blame.left_out else ""
    return f"{count(len(blame.answers), 'wrong answer')} looked at by {blame.metric}; {asked}{left}"


def causes(blame: Blame) -> Iterator[tuple[Cause, int]]:
    """How many wrong answers have each cause, in the order of the causes."""
    found = Counter(answer.cause for answer in blame.answers)
    yield from ((cause, found[cause]) for cause in CAUSES if found[cause])


def edit_text(edit: Edit) -> str:
    """An edit in a few words."""
    return f"{edit.document} ({edit.change}{f' from {edit.was}' if edit.was else ''})"


def card_notes(card: DocumentCard) -> Iterator[str]:
    """What stands out of a document, a few words each."""
    if card.only_support:
        yield f"the only support of {count(len(card.only_support), 'question')}"
    if card.single_passages:
        yield f"{count(len(card.single_passages), 'passage')} that nothing else can stand in for"
    if not card.retrieved:
        yield "never retrieved"
    elif card.precision is not None and not card.needed:
        yield "never needed where it was retrieved"
    if card.unused and card.retrieved:
        yield f"{count(len(card.unused), 'piece')} never used"
