"""Drafting: questions drafted from a suite's documents, written to a file in which a person decides on them."""

from __future__ import annotations

import asyncio
import hashlib
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ... import InputError
from ...bots.openai_endpoint import Endpoints
from ...knowledge.drafting.drafting import chosen, drafts_of, is_read
from ...knowledge.question_editing import with_questions
from ...knowledge.question_files import open_questions
from ...knowledge.question_writing import extra_keys, question_pieces
from ...knowledge.questions import DRAFT, Evidence, Question
from ...knowledge.reading import read_knowledge
from ...reports.shelf import VectorShelf
from ...reports.store import Store
from ...reports.whole_files import check_file, whole_file
from ..engine.judging import Judging, open_judging
from ..exams.embedders import open_embedder
from ..exams.sketches import tokens
from ..suite.judge_choice import choose_judge
from ..suite.suite_file import sample_suite
from .draft_call import DraftCall
from .model_drafts import KIND, ModelDrafts, calls_for, model_drafts, passages_to_ask

if TYPE_CHECKING:
    from ...knowledge.documents import Document
    from ...knowledge.drafting.draft import Draft
    from ..suite.suite_file import LoadedSuite

PASSAGE: Final = "passage"  # the key under which a draft shows what stands around its evidence
_TAG: Final = "drafted"
_ALIKE: Final = 0.93  # cosine from which two questions with the same numbers ask the same
_FIGURES: Final = re.compile(r"\d+")
_REPLY: Final = 70  # tokens that a question with its answer and quote takes


@dataclass(frozen=True, slots=True)
class DraftOptions:
    """What is wanted, as the command line has it."""

    out: Path
    database: Path
    count: int
    per_document: int | None = None
    judge: str = ""
    judge_url: str = ""
    seed: int | None = None
    fresh: bool = False
    only_planned: bool = False


@dataclass(frozen=True, slots=True)
class Drafted:
    """What came of it.

    Attributes:
        out: the file that holds the drafts.
        by: who wrote them: the name of a model, or ``offline``.
        questions: the new drafts.
        calls: how many calls there are to make, or were.
        tokens: about how many tokens they take, there and back.
        written: what a model wrote; None offline.
        documents: how many documents there are.
        warnings: sentences for the user.
        into: the suite's own file of questions, where accepted ones can be added to it; None where the drafts stand in
            it already, or it can't be changed.
    """

    out: Path
    by: str
    questions: tuple[Question, ...] = ()
    calls: int = 0
    tokens: tuple[int, int] = (0, 0)
    written: ModelDrafts | None = None
    documents: int = 0
    warnings: tuple[str, ...] = ()
    into: Path | None = None


@dataclass(slots=True)
class _There:
    """Questions that there are, in the suite's file and among the drafts."""

    questions: list[Question] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        return [question.text for question in self.questions]

    def asked_of(self) -> Counter[str]:
        """How many ask of each document."""
        number: Counter[str] = Counter()
        for question in self.questions:
            named = {one.document for group in question.evidence for one in group} | {question.source_document}
            number.update(named - {""})
        return number


def draft_questions(
    loaded: LoadedSuite, options: DraftOptions, environ: Mapping[str, str], told: Callable[[str], None]
) -> Drafted:
    """Draft questions of a suite's documents and add them to a file.

    Args:
        loaded: the suite.
        options: what is wanted.
        environ: where keys are looked up.
        told: told a sentence before what takes long or costs money.

    Raises:
        InputError: the suite names no documents, or a file or the model can't be used.
    """
    if not loaded.suite.knowledge:
        raise InputError(f"{loaded.path} names no knowledge, so there is nothing to ask about. Add `knowledge:`.")
    question_pieces(options.out, "--out")
    check_file(options.out, "--out", {loaded.path.resolve(): "the suite", options.database.resolve(): "--db"})
    knowledge = read_knowledge([loaded.base / path for path in loaded.suite.knowledge])
    there = _there(loaded, options.out)
    made = Drafted(
        options.out, "offline", documents=len(knowledge.documents), warnings=knowledge.warnings,
        into=_own_file(loaded, options.out),
    )  # fmt: skip
    judging = _judging(loaded, options, environ)
    if judging is None:
        made = replace(made, warnings=(*made.warnings, *_not_read(knowledge.documents)))
        if options.only_planned:
            return made
        drafts = list(drafts_of(knowledge.documents))
    else:
        made = _by_model(made, judging, knowledge.documents, there.asked_of(), options, told)
        if made.written is None:
            return made
        drafts = made.written.drafts
    new = _new(loaded, drafts, there, options)
    questions = _as_questions(new, knowledge.documents, {question.id for question in there.questions})
    _write(options.out, questions)
    return replace(made, questions=tuple(questions))


def _by_model(
    made: Drafted,
    judging: Judging,
    documents: Sequence[Document],
    asked_of: Mapping[str, int],
    options: DraftOptions,
    told: Callable[[str], None],
) -> Drafted:
    """What a model has to say, or only what it would take where no more is wanted."""
    passages = passages_to_ask(documents, asked_of, options.count, options.per_document)
    calls = calls_for(documents, passages)
    made = replace(made, by=judging.name, calls=len(calls), tokens=_tokens(calls))
    if options.only_planned:
        asyncio.run(judging.close())
        return made
    number = f"{_calls(made.calls)}, about {sum(made.tokens):,} tokens"
    told(f"{made.by} is asked {number}; what is kept is not asked again.")
    store = Store.open(options.database)
    try:
        return replace(made, written=model_drafts(judging, documents, passages, store, fresh=options.fresh))
    finally:
        store.close()


def _own_file(loaded: LoadedSuite, out: Path) -> Path | None:
    own = loaded.base / loaded.suite.questions
    is_sample = loaded.path.resolve() == sample_suite().resolve()
    if is_sample or own.suffix.lower() == ".gz" or own.resolve() == out.resolve():
        return None
    here = Path.cwd()
    return own.relative_to(here) if own.is_relative_to(here) else own


def _not_read(documents: Sequence[Document]) -> Iterator[str]:
    others = [document.id for document in documents if document.text.strip() and not is_read(document)]
    if others:
        some = f"{', '.join(others[:3])}{' and others' if len(others) > 3 else ''}"
        which = f"1 document is not in English ({some})" if len(others) == 1 else (
            f"{len(others):,} documents are not in English ({some})"
        )  # fmt: skip
        yield f"{which}: rules make no drafts there, a language model does (--judge openai:NAME)."


def _calls(number: int) -> str:
    return "1 question-writing call" if number == 1 else f"{number:,} question-writing calls"


def _tokens(calls: Sequence[DraftCall]) -> tuple[int, int]:
    sent = sum(tokens(len(call.instructions()) + sum(len(block.text) for block in call.shown())) for call in calls)
    return int(sent), sum(call.count * _REPLY for call in calls)


def _judging(loaded: LoadedSuite, options: DraftOptions, environ: Mapping[str, str]) -> Judging | None:
    """The model that writes; None where there is none, so that rules do."""
    suite = loaded.suite
    choice = choose_judge(suite.judge, suite.models, options.judge, options.judge_url)
    if choice.settings.is_embedded:
        return None
    embedder, _ = open_embedder(loaded, VectorShelf())
    return open_judging(choice, embedder, loaded.base, environ, Endpoints(), suite.concurrency)


def _there(loaded: LoadedSuite, out: Path) -> _There:
    files = {path.resolve(): path for path in (loaded.base / loaded.suite.questions, out) if path.is_file()}
    there = _There()
    for path in files.values():
        if path.stat().st_size:
            there.questions += open_questions(path, drafts=True)
    return there


def _new(loaded: LoadedSuite, drafts: list[Draft], there: _There, options: DraftOptions) -> list[Draft]:
    """The drafts that are wanted, spread over the documents, none of them like a question that there is."""
    candidates = chosen(drafts, there.texts, there.asked_of(), None, None)
    apart = _unlike(loaded, candidates, there.texts) if candidates and there.questions else candidates
    if options.seed is not None:
        random.Random(options.seed).shuffle(apart)  # noqa: S311 - a draw, no secret
    return chosen(apart, there.texts, there.asked_of(), options.count, options.per_document)


def _unlike(loaded: LoadedSuite, drafts: list[Draft], texts: Sequence[str]) -> list[Draft]:
    """Those that no question is like in meaning, by the suite's embedding model."""
    import numpy as np

    embedder, _ = open_embedder(loaded, VectorShelf())
    try:
        vectors = embedder.embed_now([*(draft.question for draft in drafts), *texts]).vectors
    finally:
        embedder.close()
    ours, theirs = vectors[: len(drafts)], vectors[len(drafts) :]
    same: dict[tuple[str, ...], list[int]] = {}
    for place, text in enumerate(texts):
        same.setdefault(tuple(_FIGURES.findall(text)), []).append(place)
    kept = []
    for draft, vector in zip(drafts, np.asarray(ours), strict=True):
        near = np.asarray(theirs)[same.get(tuple(_FIGURES.findall(draft.question)), [])]
        if not np.any(near @ vector >= _ALIKE):
            kept.append(draft)
    return kept


def _as_questions(drafts: Iterable[Draft], documents: Sequence[Document], taken: set[str]) -> list[Question]:
    by_id = {document.id: document for document in documents}
    made = []
    for draft in drafts:
        quote = by_id[draft.document].text[draft.start : draft.end]
        evidence = Evidence(draft.document, quote, draft.start, draft.end)
        identity = _identity(draft)
        number = 2
        while identity in taken:
            identity, number = f"{_identity(draft)}-{number}", number + 1
        taken.add(identity)
        made.append(
            Question(
                identity,
                draft.question,
                expected=(draft.answer,),
                evidence=((evidence,),),
                tags=(_TAG, f"{_TAG} by model" if draft.kind == KIND else f"{_TAG}: {draft.kind}"),
                source_document=draft.document,
                answerable=True,
                extra={DRAFT: True, PASSAGE: draft.shown},
            )
        )
    return made


def _identity(draft: Draft) -> str:
    named = f"{draft.document}\0{draft.question}".encode("utf-8", "surrogatepass")
    return f"draft-{hashlib.blake2b(named, digest_size=5).hexdigest()}"


def _write(out: Path, questions: Sequence[Question]) -> None:
    if not questions:
        return
    if out.is_file() and out.stat().st_size:
        content = [with_questions(out, questions)]
    else:
        content = list(question_pieces(out, "--out")(questions, extra_keys(questions)))
    with whole_file(out) as file:
        file.writelines(content)
