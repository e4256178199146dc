"""Audit: whether the questions are fit to decide by, which of them tell bots apart, and how few would do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

import numpy as np

from ...reports.surveys.audit import Audit, QuestionAudit
from ...reports.surveys.finding import Finding
from .asked_twice import alike_questions, find_duplicates
from .contradicted import contradicted_answers
from .instruments import FEW_BOTS, instruments
from .leaks import faq_leaks, prompt_leaks, self_answered
from .marks import Marks, marks_of, shares_of_tags
from .prompt_texts import faq_entries, prompts_of
from .subset import Chosen, Scores, choose_subset
from .suspects import find_suspects

if TYPE_CHECKING:
    from ...reports.comparing.score_table import RunTables
    from ..ground.answers import Answers
    from ..ground.ground import Ground

_SEVERITIES: Final = ("high", "medium", "low")
_COMMON_TAG: Final = 0.05  # of the questions; the shares of rarer tags are not kept in a subset
_MOST_TAGS: Final = 12


def audit(
    ground: Ground,
    answers: Answers | None,
    tables: RunTables | None,
    prompts: Mapping[str, str] | None = None,
    told: Callable[[str], None] | None = None,
) -> Audit:
    """Look at the questions as the instrument that bots are measured with.

    It blocks while it embeds, and runs an event loop of its own: call it off any event loop's thread. Calls no bot.

    Args:
        ground: documents and questions; where supports were looked for, they are used.
        answers: what the bots said; None leaves out suspects, instruments and the subset.
        tables: of the same run; tell which bots are of one model.
        prompts: what each bot is told beforehand; None for what the suite file tells.
        told: told a sentence before what takes long.
    """
    say = told or (lambda _: None)
    say("Looking for questions that ask the same, and for leaks")
    alike = alike_questions(ground.questions, ground.embedder)
    prompts = prompts_of(ground.loaded) if prompts is None else prompts
    found = [*asyncio.run(find_duplicates(ground.questions, alike, ground.embedder))]
    found += prompt_leaks(ground.questions, prompts, ground.embedder)
    found += faq_leaks(ground.questions, faq_entries(ground.loaded), answers)
    found += self_answered(ground.questions)
    say("Comparing expected answers with their evidence")
    found += contradicted_answers(ground)
    if answers is None:
        return Audit(_ordered(found), warnings=("No answers were looked at, so nothing is said of suspect gold, of "
                                                "which questions tell bots apart, or of a smaller set.",))  # fmt: skip
    say("Comparing the bots' answers, and looking for a smaller set of questions")
    marks = marks_of(ground.questions, answers, ground.gold)
    if len(marks.bots) > 1:
        found += asyncio.run(find_suspects(ground, answers, marks, _kin(marks, tables)))
    each = instruments(marks)
    chosen = _chosen(ground, marks, each)
    return Audit(
        findings=_ordered(found),
        questions=each,
        subset=chosen.subset,
        metric=marks.column.name,
        warnings=(*_doubts(marks), *_lacking(marks), *chosen.warnings),
    )


def _ordered(found: list[Finding]) -> tuple[Finding, ...]:
    """The worst first, otherwise in the order of what was looked at."""
    return tuple(sorted(found, key=lambda one: _SEVERITIES.index(one.severity)))


def _kin(marks: Marks, tables: RunTables | None) -> dict[str, str]:
    """By bot what it answers by: its model, or itself where it has none; all bots without a model differ."""
    known = {} if tables is None else tables.tables
    return {bot: (table.model or bot) if (table := known.get(bot)) is not None else bot for bot in marks.bots}


def _chosen(ground: Ground, marks: Marks, each: tuple[QuestionAudit, ...]) -> Chosen:
    lines = marks.complete
    keys = [marks.keys[line] for line in lines]
    turned = marks.values if marks.column.better == "higher" else -marks.values
    telling = [
        (each[line].spread or 0.0) / marks.reach * (1 + max(0.0, each[line].discrimination or 0.0)) for line in lines
    ]
    scores = Scores(
        goodness=turned[lines] / marks.reach,
        strata=shares_of_tags(ground.by_key, keys, _COMMON_TAG, _MOST_TAGS),
        clusters=marks.clusters[lines],
        telling=np.array(telling),
    )
    return choose_subset(scores, keys, marks.reach, ground.seed)


def _lacking(marks: Marks) -> list[str]:
    """On how many questions bots can't be compared, because some have no value there."""
    lacking = len(marks.keys) - len(marks.complete)
    if not lacking or len(marks.bots) < 2:
        return []
    return [
        f"{lacking:,} of {len(marks.keys):,} questions have no value of {marks.column.name} for some bot, so a smaller "
        "set is chosen from the others, and keeps the ranking on these."
    ]


def _doubts(marks: Marks) -> list[str]:
    """What can't be told with so few bots."""
    count = len(marks.bots)
    if count < 2:
        return ["Suspect gold is told by bots that agree with one another, so it takes answers of two bots."]
    if count < FEW_BOTS:
        return [
            f"How well a question tells good bots from bad ones rests on {count} bots, and says little with fewer than "
            f"{FEW_BOTS}."
        ]
    return []
