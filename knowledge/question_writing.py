"""Question writing: questions as a file that reads back as the same questions."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import InputError
from .question_files import QUESTION_FIELDS
from .questions import PERTURBS, Evidence, Question

if TYPE_CHECKING:
    from ruamel.yaml import YAML

_COLUMNS = ("id", "question", "expected_answers", "constraints", "tags", "source_document", "answerable", "evidence")
_WIDTH = 120  # of lines in YAML
_OURS = frozenset({*_COLUMNS, "question_id", "text"}.union(*(field.names for field in QUESTION_FIELDS))) - {PERTURBS}

Pieces = Callable[[Iterable[Question], Sequence[str]], Iterator[bytes]]


def question_pieces(path: Path, option: str) -> Pieces:
    """What writes questions for a file of this name, in pieces: CSV, TSV, JSONL, JSON or YAML.

    It is called with the questions, and with the keys of ``extra`` for which a table has columns.

    Raises:
        InputError: the name ends otherwise, so that nobody could read the file again.
    """
    made = _WRITERS.get(path.suffix.lower())
    if made is None:
        raise InputError(f"{option}: {path} should end in one of {', '.join(_WRITERS)}, which says what is written.")
    return made


def question_row(question: Question) -> dict[str, object]:
    """A question as an object for JSON, without the keys that say nothing."""
    expected = question.expected
    row: dict[str, object] = {"id": question.id, "question": question.text}
    if expected:
        row |= {"expected_answer": expected[0]} if len(expected) == 1 else {"expected_answers": list(expected)}
    row |= {
        "constraints": _listed(question.constraints),
        "tags": list(question.tags),
        "source_document": question.source_document,
        "answerable": question.answerable,
        "evidence": [[_evidence(one) for one in group] for group in question.evidence],
    }
    row |= {key: value for key, value in question.extra.items() if not _is_ours(key)}
    return {key: value for key, value in row.items() if value not in ("", None, [])}


def question_cells(question: Question) -> dict[str, str]:
    """A question as cells of a table, by the names of the columns; those that say nothing are left out.

    Raises:
        InputError: a table can't hold one of its tags.
    """
    cells = dict(zip(_COLUMNS, _cells(question), strict=True))
    cells |= {key: _cell(value) for key, value in question.extra.items() if not _is_ours(key)}
    return {key: cell for key, cell in cells.items() if cell}


def extra_keys(questions: Iterable[Question]) -> list[str]:
    """All keys of ``extra`` that are written, in the order in which they come."""
    keys = dict.fromkeys(key for question in questions for key in question.extra)
    return [key for key in keys if not _is_ours(key)]


def _is_ours(key: str) -> bool:
    return key.strip().lower().replace(" ", "_").replace("-", "_") in _OURS


def _listed(constraints: Iterable[object]) -> list[object]:
    return [list(each) if isinstance(each, tuple) else each for each in constraints]


def _evidence(evidence: Evidence) -> dict[str, object]:
    made: dict[str, object] = {"document": evidence.document}
    if evidence.quote:
        made["quote"] = evidence.quote
    if evidence.start is not None and evidence.end is not None:
        made |= {"start": evidence.start, "end": evidence.end}
    return made


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _json_lines(questions: Iterable[Question], keys: Sequence[str]) -> Iterator[bytes]:  # noqa: ARG001 - for tables
    for question in questions:
        yield f"{_json(question_row(question))}\n".encode()


def _json_list(questions: Iterable[Question], keys: Sequence[str]) -> Iterator[bytes]:  # noqa: ARG001 - for tables
    yield b"["
    for number, question in enumerate(questions):
        yield f"{',' if number else ''}\n{_json(question_row(question))}".encode()
    yield b"\n]\n"


def _yaml(questions: Iterable[Question], keys: Sequence[str]) -> Iterator[bytes]:  # noqa: ARG001 - for tables
    from ruamel.yaml import YAML

    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style, yaml.allow_unicode, yaml.width = False, True, _WIDTH
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]  # its own default is None
    yield from (_dumped(yaml, [question_row(question)]) for question in questions)


def _dumped(yaml: "YAML", value: object) -> bytes:
    file = io.BytesIO()
    yaml.dump(value, file)
    return file.getvalue()


def _table(delimiter: str) -> Pieces:
    def pieces(questions: Iterable[Question], keys: Sequence[str]) -> Iterator[bytes]:
        buffer = io.StringIO(newline="")
        writer = csv.writer(buffer, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n")
        extra = list(dict.fromkeys((*keys, PERTURBS)))
        writer.writerow((*_COLUMNS, *extra))
        for question in questions:
            writer.writerow((*_cells(question), *(_cell(question.extra.get(key)) for key in extra)))
            yield buffer.getvalue().encode()
            buffer.seek(0)
            buffer.truncate()
        yield buffer.getvalue().encode()

    return pieces


def _cells(question: Question) -> Iterator[str]:
    row: Mapping[str, Any] = question_row(question)
    expected = question.expected
    is_plain = len(expected) == 1 and "|" not in expected[0] and not expected[0].lstrip().startswith("[")
    yield question.id
    yield question.text
    yield expected[0] if is_plain else _json(list(expected)) if expected else ""
    yield _json(row["constraints"]) if "constraints" in row else ""
    yield _tags(question)
    yield question.source_document
    yield "" if question.answerable is None else str(question.answerable).lower()
    yield _json(row["evidence"]) if "evidence" in row else ""


def _tags(question: Question) -> str:
    if any("|" in tag for tag in question.tags):
        raise InputError(f"Question {question.id!r} has a tag with | in it, which a table can't hold; write .jsonl.")
    joined = "|".join(question.tags)
    return f"{joined}|" if "," in joined and "|" not in joined else joined


def _cell(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else _json(value)


_WRITERS: Mapping[str, Pieces] = {
    ".jsonl": _json_lines,
    ".yaml": _yaml,
    ".yml": _yaml,
    ".csv": _table(","),
    ".tsv": _table("\t"),
    ".json": _json_list,
}
