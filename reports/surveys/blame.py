"""Blame: which documents caused wrong answers and carried right ones, by asking again without them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

# document: one document, taken away, mends the answer; or it repeats gold that was not found, and the answer says what
# it says and is right from the gold. several: only several together do. retrieval: with the gold
# document alone the answer is right, and no retrieved document stands in its way (it was not found, or drowned).
# bot: wrong even from the gold document alone. unknown: there is no gold document to try, or nothing could be asked.
Cause = Literal["document", "several", "retrieval", "bot", "unknown"]


@dataclass(frozen=True, slots=True)
class BlamedAnswer:
    """A wrong answer and what became of it without each of the documents that it was made from.

    Attributes:
        bot: whose answer.
        question: key of the question.
        value: what the metric says of the answer as it was.
        answer: the answer as it was.
        without: value by document, with that document removed from the index; None where it could not be had.
        gold_only: value with the gold documents alone; None without any, or where it could not be had.
        shares: Shapley value by document (what it adds to the metric, negative where it harms); empty where single
            removals told enough. They add up to the value with all of them less that without any.
        cause: what caused it.
        documents: the documents that caused it, worst first.
        mended: what the bot answered without the first of them.
        share_errors: standard error of each share over the orders that were drawn; empty where shares are exact.
        control: value with a document removed from which the answer was not made, so that nothing should change;
            None where a bot answers the same each time, or is asked several times anyway.
        note: a sentence on what is doubtful or remarkable about the cause; blank for nothing.
    """

    bot: str
    question: str
    value: float | None
    answer: str = ""
    without: Mapping[str, float | None] = field(default_factory=dict)
    gold_only: float | None = None
    shares: Mapping[str, float] = field(default_factory=dict)
    cause: Cause = "unknown"
    documents: tuple[str, ...] = ()
    mended: str = ""
    share_errors: Mapping[str, float] = field(default_factory=dict)
    control: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class DocumentBlame:
    """What one document did over all answers that were asked again.

    Attributes:
        document: its id.
        caused: questions that became right without it, with the bots: (bot, question).
        carried: questions that became wrong without it.
        effect: mean of the metric with it less without it, over the answers in which it stood; negative where it harms.
            Of a metric of which less is better, its negative.
        tried: how many answers were asked again without it.
    """

    document: str
    caused: tuple[tuple[str, str], ...] = ()
    carried: tuple[tuple[str, str], ...] = ()
    effect: float | None = None
    tried: int = 0


@dataclass(frozen=True, slots=True)
class Blame:
    """Who is to blame for wrong answers.

    Attributes:
        metric: the metric that says right or wrong.
        threshold: what an answer must reach to be right.
        answers: the wrong ones that were looked at.
        documents: ranked: those that cause most failures first, then those that carry most successes.
        bots: whose answers were looked at; bots whose documents can't be taken away are in ``warnings``.
        calls: how many answers were asked for anew, kept ones left out.
        kept: how many were known from before.
        bound: most that may be asked for.
        left_out: answers that were not looked at, because of the bound.
        warnings: sentences for the user.
    """

    metric: str
    threshold: float | None
    answers: tuple[BlamedAnswer, ...] = ()
    documents: tuple[DocumentBlame, ...] = ()
    bots: tuple[str, ...] = ()
    calls: int = 0
    kept: int = 0
    bound: int | None = None
    left_out: int = 0
    warnings: tuple[str, ...] = ()
