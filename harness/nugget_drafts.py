"""Nugget drafts: facts that a good answer holds, drafted from a question's gold evidence for a person to accept."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final

from .. import InputError
from ..knowledge import DRAFT, Nugget, Question, content, open_questions
from ..metrics import Block, Reading
from ..metrics.judge.call import TEXT, YES_OR_NO, ObjectCall, record, several
from ..metrics.judge.embedded.claims import claims_of
from ..metrics.judge.replies import Malformed, read_boolean, read_list
from ..reports import check_file, count
from ..reports.store import Store
from .drafting import PASSAGE, Drafted, DraftOptions, judging_of, own_file, tokens_sent, write_drafts
from .run import prompt_text, replies_of
from .run.scoring import quotes_of

if TYPE_CHECKING:
    from .suite.suite_file import LoadedSuite

_MOST: Final = 10  # nuggets of one question
_REPLY: Final = 150  # tokens that the nuggets of a question take, about


@dataclass(frozen=True, slots=True)
class NuggetCall(ObjectCall[tuple[Nugget, ...]]):
    """A question of which nuggets are wanted, with its evidence and, where there are any, its expected answers."""

    name: ClassVar[str] = "draft_nuggets"
    is_verdict: ClassVar[bool] = False

    question: str
    evidence: tuple[str, ...]
    expected: tuple[str, ...] = ()

    def shown(self) -> Sequence[Block]:
        """Question, evidence and expected answers."""
        blocks = [Block("question", self.question), Block("evidence", "\n\n".join(self.evidence))]
        return [*blocks, Block("expected", "\n\nor: ".join(self.expected))] if self.expected else blocks

    def title(self) -> str:
        """What it is called in the log of calls."""
        return "draft nuggets"

    def instructions(self) -> str:
        """The prompt."""
        return prompt_text("draft_nuggets")

    def schema(self) -> Mapping[str, object]:
        """An object with a list of nuggets."""
        return record(nuggets=several(record(text=TEXT, vital=YES_OR_NO)))

    def read_found(self, found: Mapping[str, object]) -> Reading[tuple[Nugget, ...]]:
        """The nuggets that can be read; none at all is a good answer too."""
        nuggets, problems = read_list(found, "nuggets", _nugget)
        if problems and not nuggets:
            return Reading(None, " ".join(problems))
        return Reading(tuple({each.text: each for each in nuggets}.values())[:_MOST])


def _nugget(entry: Mapping[str, object]) -> Nugget:
    text, vital = entry.get("text"), read_boolean(entry.get("vital"))
    if not isinstance(text, str) or not text.strip() or vital is None:
        raise Malformed('"text" must be a text and "vital" true or false')
    return Nugget(" ".join(text.split()), vital)


def nuggets_by_rule(question: Question) -> tuple[Nugget, ...]:
    """The sentences of the evidence; vital is what says something of the expected answer that the question doesn't.

    >>> nuggets_by_rule(Question("q", "What is the fee?", ("85 euros",), evidence=((Evidence("a.md",
    ...     "The fee is 85 euros. It is paid at once."),),)))
    (Nugget(text='The fee is 85 euros.', vital=True), Nugget(text='It is paid at once.', vital=False))
    """
    told = frozenset[str]().union(*map(content, question.expected)) - content(question.text)
    claims = [" ".join(claim.split()) for quote in quotes_of(question) for claim in claims_of(quote)]
    found = [Nugget(claim, not told or bool(content(claim) & told)) for claim in dict.fromkeys(claims)]
    return tuple(sorted(found, key=lambda each: not each.vital))[:_MOST]


def draft_nuggets(
    loaded: LoadedSuite, options: DraftOptions, environ: Mapping[str, str], notify: Callable[[str], None]
) -> Drafted:
    """Draft nuggets of a suite's questions that have evidence and no nuggets, and add them to a file of drafts.

    Args:
        loaded: the suite.
        options: as for ``draft_questions``; ``count`` is how many questions are looked at.
        environ: where keys are looked up.
        notify: called with a sentence before what takes long or costs money.

    Raises:
        InputError: no question has evidence, or a file or the model can't be used.
    """
    own = loaded.base / loaded.suite.questions
    if options.out.resolve() == own.resolve():
        raise InputError(f"--out: {options.out} has the suite's questions; name another file for drafts.")
    check_file(options.out, "--out", {**loaded.files, options.database.resolve(): "--db"})
    known = set[str]()
    if options.out.is_file() and options.out.stat().st_size:
        known = {each.id for each in open_questions(options.out, drafts=True)}
    every = [each for each in open_questions(own) if quotes_of(each)]
    if not every:
        raise InputError(f"No question of {own} has evidence with a quote; nuggets are drafted from evidence.")
    asked = [each for each in every if not each.nuggets and each.id not in known][: options.count]
    made = Drafted(options.out, "offline", into=own_file(loaded, options.out))
    judging = judging_of(loaded, options, environ)
    if judging is None:
        found = {} if options.only_planned else {each.id: nuggets_by_rule(each) for each in asked}
    else:
        calls = [NuggetCall(each.text, quotes_of(each), each.expected) for each in asked]
        made = replace(made, by=judging.name, calls=len(calls), tokens=(tokens_sent(calls), _REPLY * len(calls)))
        if options.only_planned:
            asyncio.run(judging.close())
            return made
        number = count(len(calls), "question")
        notify(f"{made.by} is asked for the nuggets of {number}; cached answers are not asked again.")
        with contextlib.closing(Store.open(options.database)) as store:
            replies = replies_of(judging, calls, store, fresh=options.fresh)
        unread = sum(isinstance(each, str) for each in replies)
        why = f": {judging.problem}" if judging.problem else ""
        warnings = (f"No nuggets could be read for {unread:,} of {number}{why}.",) if unread else ()
        made = replace(made, warnings=warnings)
        found = {each.id: () if isinstance(reply, str) else reply for each, reply in zip(asked, replies, strict=True)}
    drafts = [
        replace(each, nuggets=found[each.id], extra={DRAFT: True, PASSAGE: "\n".join(quotes_of(each))})
        for each in asked
        if found.get(each.id)
    ]
    write_drafts(options.out, drafts)
    return replace(made, questions=tuple(drafts))
