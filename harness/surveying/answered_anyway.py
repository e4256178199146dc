"""Answered anyway: questions that the documents don't answer, and the bots that answered them all the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from ...knowledge.searching.sentence_cutting import sentence_spans
from ...metrics.judge.embedded.claims import claims_of
from ...metrics.judge.embedded.wording import wording
from ...reports.surveys.finding import Excerpt, Finding

if TYPE_CHECKING:
    from ...bots.base import Context
    from ..ground.answers import Answer, Answers
    from ..ground.ground import Ground

_SHOWN: Final = 160  # characters of an answer in a sentence
_KEPT: Final = 600  # characters of a passage


def answered_anyway(ground: Ground, answers: Answers) -> Iterator[Finding]:
    """A finding for each unanswerable or unsupported question that a bot answered, in the order of the questions.

    It is unanswerable where the file says so. Where merely no support was found, only answers count that are not
    marked as right. A bot that says that it does not know, asks back or says nothing has not answered.
    """
    sentences = cache(_sentences)  # bots read the same passages again and again
    for question in ground.questions:
        marked = question.answerable is False
        gold = ground.gold.get(question.id)
        if not marked and (gold is None or gold.kind != "unsupported"):
            continue
        asked = [row for bot in answers.bots if (row := answers.by_place.get((bot, question.id))) is not None]
        given = [row for row in asked if _answers(row) and (marked or row.right is not True)]
        if given:
            places = [_read_most(row, sentences) for row in given]
            yield _finding(question.id, question.text, marked, asked, given, places)


def _answers(row: Answer) -> bool:
    """Whether a bot claims something."""
    return not row.declined and bool(claims_of(row.text))


def _finding(
    key: str, text: str, marked: bool, asked: Sequence[Answer], given: Sequence[Answer],
    places: Sequence[Excerpt | None],
) -> Finding:  # fmt: skip
    why = "is marked as not answerable" if marked else "has an expected answer that no document supports"
    who = (
        given[0].bot
        if len(asked) == 1
        else f"{len(given)} of {len(asked)} bots ({', '.join(row.bot for row in given)})"
    )
    first = given[0]
    said = " ".join(first.text.split())
    return Finding(
        kind="answered_anyway",
        severity="high" if marked else "medium",
        what=f"Question {key} {why}, and {who} answered it. {first.bot} said "
        f'"{said[:_SHOWN]}{"..." if len(said) > _SHOWN else ""}"{_sources(first, places[0])}.',
        action="Tell the bots to say that they don't know where the documents are silent, or add the answer."
        if marked
        else "Add the answer to the documents, or tell the bots to say that they don't know.",
        places=tuple(dict.fromkeys(place for place in places if place is not None)),
        questions=(key,),
        details={
            "question": text,
            "answers": [{"bot": row.bot, "text": row.text[:_KEPT], "documents": list(row.documents)} for row in given],
        },
    )


Sentences = Sequence[tuple[int, int, frozenset[str]]]  # their spans and content words


def _sentences(text: str) -> Sentences:
    return [(start, end, wording(text[start:end]).content) for start, end in sentence_spans(text)]


def _read_most(row: Answer, sentences: Callable[[str], Sentences]) -> Excerpt | None:
    """The sentence of what a bot read that shares most words with its answer; the first of equal ones."""
    said = wording(row.text).content
    best: tuple[int, Excerpt | None] = (-1, None)
    for context in row.contexts or ():
        for start, end, words in sentences(context.text) if context.document else ():
            shared = len(said & words)
            if shared > best[0]:
                best = (shared, _excerpt(context, start, end))
    return best[1]


def _excerpt(context: Context, start: int, end: int) -> Excerpt:
    text = context.text[start:end][:_KEPT]
    if context.start is None:
        return Excerpt(context.document, text=text)
    return Excerpt(context.document, context.start + start, context.start + start + len(text), text)


def _sources(row: Answer, place: Excerpt | None) -> str:
    """The document that an answer was made from, and how many others were read; blank where none is known."""
    if place is None:
        return ""
    others = len(row.documents) - 1
    more = f" and {others} other {'document' if others == 1 else 'documents'}" if others > 0 else ""
    return f", from {place.document}{more}"
