"""Question sets: a file of questions, checked once and then streamed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .questions import DRAFT, PERTURBS, Question
from .row_fields import Field, ReadRow, RowReader
from .row_files import RowSource, open_rows
from .row_ids import first_clash
from .row_survey import Rows, Survey
from .row_values import (
    as_constraints,
    as_draft,
    as_evidence,
    as_flag,
    as_it_is,
    as_tags,
    as_text,
    as_texts,
    cell_as_constraints,
    cell_as_evidence,
    cell_as_json,
    cell_as_texts,
)

QUESTION_FIELDS = (
    Field(("expected_answer", "expected"), "expected", as_texts),
    # read after expected_answer, so that a list of all accepted answers takes its place
    Field(("expected_answers",), "expected", as_texts, cell_as_texts),
    Field(("constraints", "constraint"), "constraints", as_constraints, cell_as_constraints),
    Field(("tags", "tag"), "tags", as_tags),
    Field(("source_document", "source_doc", "document"), "source_document", as_text),
    Field(("answerable",), "answerable", as_flag),
    Field(("evidence",), "evidence", as_evidence, cell_as_evidence),
    Field(("evidence_document",), "evidence_document", as_text),
    Field(("evidence_quote",), "evidence_quote", as_text),
    # how a question was made of another one: it stays among the keys that mean nothing to us, but is no text in a table
    Field((PERTURBS,), PERTURBS, as_it_is, cell_as_json),
)
# Only in files of questions: a recorded answer may well be called a draft.
_DRAFT_FIELD = Field((DRAFT,), DRAFT, as_draft)
_MARKS = (PERTURBS, DRAFT)  # keys of ours that stay among those that mean nothing
PASSIVE_KEYS = ("answer", "answer_b", "contexts", "label", "source", "split")


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions of a file, in its order. Iterating reads the file again, so a million of them take no memory.

    Attributes:
        path: the file.
        count: how many questions there are, also ``len()``.
        fingerprint: SHA-256 in hex of the bytes that were read.
        warnings: sentences for the user.
        has_expected: how many questions have an expected answer.
        has_constraints: how many have constraints.
        has_evidence: how many have gold evidence.
        has_answerable: for how many it is said whether the knowledge answers them.
        misspelt: by what it should fill (such as ``expected``), a key of the file that is not known.
    """

    path: Path
    count: int
    fingerprint: str
    warnings: tuple[str, ...]
    has_expected: int
    has_constraints: int
    has_evidence: int
    has_answerable: int
    _rows: Rows
    _repeated_ids: frozenset[int]
    misspelt: Mapping[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Question]:
        for line, identity, taken in self._rows.read(self._repeated_ids):
            yield question_of(taken, identity, line)

    def __len__(self) -> int:
        return self.count

    def first(self, count: int) -> "QuestionSet":
        """The first ``count`` questions as a set of their own."""
        limit, drafts = self._rows.limit, self._rows.leaves_out is not _why_left_out
        return questions_in(self._rows.file, count if limit is None else min(count, limit), drafts=drafts)


def open_questions(path: Path, limit: int | None = None, *, drafts: bool = False) -> QuestionSet:
    """Check a file of questions and make it ready to be streamed.

    CSV, TSV, JSONL, JSON (a list, or an object with ``questions``) and YAML, each also with ``.gz``. Where both
    ``expected_answer`` and ``expected_answers`` stand, the list counts. ``answer`` is an answer that was recorded,
    never the expected one. Keys that mean nothing to us go to ``Question.extra``.

    Rows with a mark under ``draft`` are no questions before a person accepts them: they are left out, and nothing
    that is counted here counts them.

    Args:
        path: the file.
        limit: read only that many questions, from the start.
        drafts: with those that are marked as drafts, whatever became of them; the mark is in ``Question.extra``.

    Raises:
        InputError: the file or a row in it can't be used; with file and line.
    """
    return questions_in(open_rows(path, "a file of questions", ("questions",)), limit, drafts=drafts)


def questions_in(file: RowSource, limit: int | None = None, *, drafts: bool = False) -> QuestionSet:
    """The same of rows that are at hand, in a file or in memory."""
    rows = Rows(file, lambda: _reader(file), _no_group, limit, _counts if drafts else _why_left_out)
    survey = rows.survey("questions")
    return QuestionSet(
        path=file.path,
        count=survey.count,
        fingerprint=survey.fingerprint,
        warnings=(*survey.warnings, *_drafts(rows, survey), *_repeats(rows, survey), *_unused_answers(rows, survey)),
        has_expected=survey.provides.get("expected", 0),
        has_constraints=survey.provides.get("constraints", 0),
        has_evidence=survey.provides.get("evidence", 0),
        has_answerable=survey.provides.get("answerable", 0),
        _rows=rows,
        _repeated_ids=survey.repeated_ids,
        misspelt=survey.misspelt,
    )


def question_of(taken: ReadRow, identity: str, line: int) -> Question:
    """The question that a row holds."""
    values: dict[str, Any] = taken.values
    return Question(
        identity,
        taken.text,
        values.get("expected", ()),
        values.get("constraints", ()),
        values.get("evidence", ()),
        values.get("tags", ()),
        values.get("source_document", ""),
        values.get("answerable"),
        {**taken.extra, **marks} if (marks := {key: values[key] for key in _MARKS if key in values}) else taken.extra,
        line,
    )


def _reader(file: RowSource) -> RowReader:
    return RowReader(file.path, (*QUESTION_FIELDS, _DRAFT_FIELD), tabular=file.tabular, passive=PASSIVE_KEYS)


def _no_group(taken: ReadRow) -> None:
    """Ids of questions are unique in the whole file."""


def _counts(_: ReadRow) -> str:
    """Every row does."""
    return ""


def _why_left_out(taken: ReadRow) -> str:
    mark = taken.values.get(DRAFT)
    return "" if mark is None else DRAFT if mark is True else str(mark)


def _drafts(rows: Rows, survey: Survey) -> Iterator[str]:
    waiting = survey.left_out.get(DRAFT, 0)
    if waiting:
        path = rows.file.path
        left_out = f"1 draft in {path} is" if waiting == 1 else f"{waiting:,} drafts in {path} are"
        yield f"{left_out} left out; 'proctor questions review {path}' shows them."


def _repeats(rows: Rows, survey: Survey) -> Iterator[str]:
    suspects = survey.repeated_texts
    if not suspects:
        return
    texts = ((taken.text, line) for line, _, taken in rows.read(survey.repeated_ids))
    clash = first_clash(texts, suspects)
    if clash:
        _, first, second = clash
        asked = "1 question is" if len(suspects) == 1 else f"{len(suspects)} questions are"
        yield (
            f"{rows.file.path}: {asked} asked more than once, word for word, which gives more weight in every mean "
            f"(first: lines {first} and {second})."
        )


def _unused_answers(rows: Rows, survey: Survey) -> Iterator[str]:
    """Warn where the expected answers seem to stand under a name that means recorded ones."""
    if survey.provides.get("expected"):
        return
    _, _, taken = next(rows.read(survey.repeated_ids))
    key = next((key for key in taken.extra if key.strip().lower() == "answer"), None)
    if key and taken.extra[key]:
        yield (
            f"{rows.file.path}: `{key}` is read as an answer that some bot gave, and no question has an expected "
            f"answer. Rename it to `expected_answer` if that is what it is."
        )
