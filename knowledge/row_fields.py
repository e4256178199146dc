"""Fields of a row: which key is which, what is unknown, what was misspelt."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .. import InputError
from .questions import PERTURBS, Evidence
from .row_values import WrongValue, as_id, as_text
from .rows import Row, kind_of

_LOOKALIKE = 0.82  # difflib ratio from which an unknown key is taken for a misspelling
_FAINT = 0.6  # the same where every unknown key is told of anyway, so that a wrong guess costs little
_OTHER_WORDS_FOR_QUESTION = ("query", "prompt", "input", "user_input", "utterance", "title")
# What other tools call what we read: H2O's test suites and Sonar, Ragas, DeepEval, Hugging Face datasets.
_ELSEWHERE = {
    "output_constraints": "constraints", "must_contain": "constraints",
    "expected_output": "expected_answer", "ground_truth": "expected_answer", "ground_truths": "expected_answers",
    "reference": "expected_answer", "reference_answer": "expected_answer", "gold_answer": "expected_answer",
    "ideal": "expected_answer", "target": "expected_answer",
    "actual_output": "answer", "response": "answer", "output": "answer", "prediction": "answer",
    "generated_answer": "answer", "completion": "answer",
    "retrieved_contexts": "contexts", "retrieval_context": "contexts", "retrieved_documents": "contexts",
    "categories": "tags", "category": "tags",
    "latency": "latency_ms", "actual_duration": "latency_ms", "duration_ms": "latency_ms",
    "prompt_tokens": "tokens_in", "input_tokens": "tokens_in",
    "completion_tokens": "tokens_out", "output_tokens": "tokens_out",
    "model_key": "bot", "model": "bot",
}  # fmt: skip
_SECONDS = ("actual_duration",)  # H2O counts them; we count milliseconds
# Of the same formats, what nothing of ours stands for, with what to write in its place.
_NOT_READ = {
    "output_condition": "write what an answer must hold under `constraints`",
    "relationships": "questions that belong together share a `source_document` or a `tags` entry",
    "corpus": "documents are named in the suite, under knowledge",
    "history": "every question is asked alone: conversations are read, and not yet used",
}
_MOST_NAMED = 8  # unknown keys that one sentence names
_MARK = ("id", "kind", "intensity", "variant", "must")  # keys of the mark of a variant
_SHAPES_KEPT = 1000  # rows of one file have a handful of shapes; this bounds a file in which each has its own


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its accepted names, best first, what it fills, and how its value is read.

    ``parse_cell`` reads the value from a table, where everything is a text; left out, ``parse`` does.
    ``empty_counts`` says that an empty list means something else than a missing one.
    """

    names: tuple[str, ...]
    fills: str
    parse: Callable[[object], object]
    parse_cell: Callable[[object], object] | None = None
    empty_counts: bool = False


@dataclass(slots=True)  # not frozen: that would cost a tenth of the time of reading a file
class ReadRow:
    """A row taken apart; ``id`` is blank where the file gives none, ``values`` holds what the fields fill."""

    id: str
    text: str
    values: dict[str, object]
    extra: dict[str, object]


@dataclass(frozen=True, slots=True)
class _Shape:
    question: str
    id: str | None
    fields: tuple[tuple[str, str, Callable[[object], object], bool], ...]
    extra: tuple[str, ...]


class RowReader:
    """Takes rows apart. What it learns about a row's keys it keeps, so that rows of the same keys cost little."""

    def __init__(
        self,
        path: Path,
        fields: tuple[Field, ...],
        *,
        tabular: bool,
        passive: tuple[str, ...] = (),
        blank: bool = False,
        tells_all: bool = False,
    ) -> None:
        """Make a reader of one file.

        Args:
            path: for messages.
            fields: what is read beside id and question.
            tabular: whether values are cells of a table.
            passive: keys that are known, kept as extra, and no misspelling of anything.
            blank: whether a row may do without the text of a question.
            tells_all: whether every unknown key is told of, and not only one that looks like a misspelling.
        """
        self.misspelt: dict[str, str] = {}  # what a field fills -> the key that seems to be meant for it
        self._warnings: list[str] = []
        self._unknown: dict[str, None] = {}
        self._tells_all = tells_all
        self._path = path
        self._tabular = tabular
        self._passive = passive
        self._blank = blank
        self._fields = fields
        known = [Field(("id", "question_id"), "id", as_id), Field(("question", "text"), "question", as_text), *fields]
        self._known = {name: (field, rank) for field in known for rank, name in enumerate(field.names)}
        self._shapes: dict[tuple[str, ...], _Shape] = {}

    @property
    def warnings(self) -> list[str]:
        """Sentences for the user about the keys that were met so far."""
        if not self._unknown:
            return self._warnings
        kinds = ("column", "columns") if self._tabular else ("key", "keys")
        names = [f"`{key}`" for key in self._unknown]
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        known = dict.fromkeys(field.names[0] for field, _ in self._known.values())
        which = f"{kinds[len(names) > 1]} {', '.join(names[:_MOST_NAMED])}{more}"
        sentence = f"{self._path}: the {which} {'are' if len(names) > 1 else 'is'} not known and not used."
        return [*self._warnings, f"{sentence} Read are {', '.join(known)}."]

    def read(self, row: Row, line: int) -> ReadRow:
        """Take a row apart.

        Raises:
            InputError: it has no question, or a value of the wrong type; with the line.
        """
        shape = self._shapes.get(tuple(row)) or self._learn(row, line)
        text = row[shape.question]
        if type(text) is not str or not text or text.isspace():
            text = self._text(text, shape.question, line)
        identity = row[shape.id] if shape.id else ""
        values: dict[str, object] = {}
        for key, fills, parse, empty_counts in shape.fields:
            value = row[key]
            if value is None:
                continue
            try:
                parsed = parse(value)
            except WrongValue as wrong:
                raise InputError(f"{self._path}:{line}: `{key}` {wrong}.") from wrong
            if parsed is not None and (parsed != () or empty_counts):
                values[fills] = parsed
        if PERTURBS in values and not isinstance(values[PERTURBS], str):
            self._check_mark(values[PERTURBS], line)
        if "evidence_quote" in values or "evidence_document" in values:
            self._join_evidence(values, line)
        extra = {key: row[key] for key in shape.extra}
        if type(identity) is not str:
            identity = self._id(identity, line)
        return ReadRow(identity.strip(), text, values, extra)

    def _check_mark(self, mark: object, line: int) -> None:
        """Say so when the mark of a variant names no question: it would be counted as a question like any other."""
        if isinstance(mark, int) and not isinstance(mark, bool):
            return
        keys = list(mark) if isinstance(mark, dict) else []
        unknown = [key for key in keys if key not in _MARK]
        if isinstance(mark, dict) and "id" in mark and not unknown:
            return
        there = f"has the key `{unknown[0]}`" if unknown else f"is {kind_of(mark)}" if not keys else "has no `id`"
        self._warn(
            f"{self._path}:{line}: `{PERTURBS}` {there}; known are {', '.join(_MARK)}, and the question that was "
            f'changed stands under `id`: {{"id": "q1"}}.'
            + ("" if "id" in keys else " The row counts as a question like any other.")
        )

    def _id(self, value: object, line: int) -> str:
        if value is None:
            return ""
        try:
            return as_id(value)
        except WrongValue as wrong:
            raise InputError(f"{self._path}:{line}: the id {wrong}.") from wrong

    def _text(self, value: object, key: str, line: int) -> str:
        try:
            text = "" if value is None else as_text(value)
        except WrongValue as wrong:
            raise InputError(f"{self._path}:{line}: `{key}` {wrong}.") from wrong
        if text and not text.isspace():
            return text
        if self._blank:
            return ""
        found = "null" if value is None else "blank"
        raise InputError(f"{self._path}:{line}: `{key}` is {found}; a question was wanted.")

    def _join_evidence(self, values: dict[str, object], line: int) -> None:
        """A document and a quote in columns of their own are one piece of evidence."""
        document, quote = values.pop("evidence_document", ""), values.pop("evidence_quote", "")
        if not document:
            raise InputError(f"{self._path}:{line}: there is an evidence_quote without an evidence_document.")
        if "evidence" in values:
            raise InputError(f"{self._path}:{line}: give either `evidence` or evidence_document, not both.")
        values["evidence"] = ((Evidence(str(document), str(quote)),),)

    def _learn(self, row: Row, line: int) -> _Shape:
        """Find out which key is which in rows with these keys."""
        chosen: dict[str, str] = {}  # first name of a field -> the row's key
        ranks: dict[str, int] = {}
        for key in row:
            field, rank = self._known.get(_plain(key), (None, 0))
            if field and rank < ranks.get(field.names[0], len(field.names)):
                chosen[field.names[0]], ranks[field.names[0]] = key, rank
        if "question" not in chosen:
            raise self._no_question(row, line)
        extra = tuple(key for key in row if key not in chosen.values())
        for key in extra:
            self._warn_of(key, chosen)
        fields = tuple(
            (
                chosen[field.names[0]],
                field.fills,
                (self._tabular and field.parse_cell) or field.parse,
                field.empty_counts,
            )
            for field in self._fields
            if field.names[0] in chosen
        )
        shape = _Shape(chosen["question"], chosen.get("id"), fields, extra)
        if len(self._shapes) < _SHAPES_KEPT:
            self._shapes[tuple(row)] = shape
        return shape

    def _warn_of(self, key: str, chosen: dict[str, str]) -> None:
        """Say so when a key that means nothing to us looks as if it should."""
        kind = "column" if self._tabular else "key"
        field, _ = self._known.get(_plain(key), (None, 0))
        if field:
            warning = (
                f"{self._path}: the {kind} `{key}` is kept but not used, because "
                f"`{chosen[field.names[0]]}` means the same."
            )
        else:
            plain = _plain(key)
            if plain in _NOT_READ:
                self._warn(f"{self._path}: the {kind} `{key}` is not used: {_NOT_READ[plain]}.")
                return
            meant = self._meant(plain, chosen)
            if not meant:
                if self._tells_all and plain not in self._passive:
                    self._unknown.setdefault(key)
                return
            self.misspelt.setdefault(self._known[meant][0].fills, key)
            unit = ", in milliseconds" if plain in _SECONDS else ""
            warning = f"{self._path}: the {kind} `{key}` is not known and not used. Did you mean `{meant}`{unit}?"
        self._warn(warning)

    def _meant(self, plain: str, chosen: Mapping[str, str]) -> str:
        """The name of the field that an unknown key seems to be meant for; blank where none is missing or near."""
        if plain in self._passive:
            return ""
        missing = [name for name, (field, _) in self._known.items() if field.names[0] not in chosen]
        if _ELSEWHERE.get(plain) in missing:
            return _ELSEWHERE[plain]
        close = difflib.get_close_matches(plain, missing, n=1, cutoff=_FAINT if self._tells_all else _LOOKALIKE)
        return close[0] if close else ""

    def _warn(self, warning: str) -> None:
        if warning not in self._warnings:
            self._warnings.append(warning)

    def _no_question(self, row: Row, line: int) -> InputError:
        keys = {_plain(key): key for key in row}
        close = difflib.get_close_matches("question", keys, n=1, cutoff=0.6)
        nearest = close or [word for word in _OTHER_WORDS_FOR_QUESTION if word in keys]
        advice = f" Rename `{keys[nearest[0]]}` to `question`, if that is it." if nearest else ""
        kind = "column" if self._tabular else "key"
        there = ", ".join(row) or "none"
        return InputError(f"{self._path}:{line}: there is no {kind} `question` (there: {there}).{advice}")


def _plain(key: str) -> str:
    return key.strip().lower().replace(" ", "_").replace("-", "_")
