"""SQuAD 1 and 2: the JSON of articles and paragraphs, and the rows into which data-set libraries unfold it."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..questions.rows import Row
from .format import Document, Format, Head, Notes
from .reading import head_of, records, whole_json

_BETWEEN = "\n\n"  # between the paragraphs of an article


def _detect(head: Head) -> str | None:
    data = head.data.get("data")
    if isinstance(data, list) and data and isinstance(data[0], dict) and "paragraphs" in data[0]:
        version = str(head.data.get("version") or "")
        return f"data with paragraphs{f', version {version}' if version else ''}"
    if {"question", "context", "answers"} <= head.keys and any(
        isinstance(row.get("answers"), dict) for row in head.rows
    ):
        return f"the {'columns' if head.kind == 'parquet' else 'keys'} question, context and answers with answer_start"
    return None


def _read(path: Path, notes: Notes) -> Iterator[tuple[int, Row]]:
    if "data" not in head_of(path).data:
        for line, row in records(path):
            yield line, _unfolded(row)
        return
    whole: Any = whole_json(path)
    notes.version = str(whole.get("version") or "")
    number = 0
    for title, _, paragraphs in _articles(whole):
        for start, context, questions in paragraphs:
            for each in questions:
                number += 1
                yield number, _row(each, title, start, context, number, notes)


def _articles(whole: Any) -> Iterator[tuple[str, str, list[tuple[int, str, list[Any]]]]]:  # noqa: ANN401 - their JSON
    """Title and text of each article, and where in it each paragraph begins, with its text and questions."""
    for place, article in enumerate(whole.get("data") or [], 1):
        title = str(article.get("title") or f"article-{place}")
        found, start = [], 0
        for paragraph in article.get("paragraphs") or []:
            context = str(paragraph.get("context") or "")
            found.append((start, context, list(paragraph.get("qas") or [])))
            start += len(context) + len(_BETWEEN)
        yield title, _BETWEEN.join(context for _, context, _ in found), found


def _row(asked: Any, title: str, start: int, context: str, number: int, notes: Notes) -> Row:  # noqa: ANN401
    answers = [each for each in asked.get("answers") or [] if each.get("text")]
    row: Row = {"id": str(asked.get("id")), "question": asked.get("question"), "source_document": title}
    row["answerable"] = bool(answers) and not asked.get("is_impossible")
    if answers:
        row["expected_answers"] = list(dict.fromkeys(each["text"] for each in answers))
        places = {(each["text"], each.get("answer_start")): None for each in answers}
        row["evidence"] = [[_place(title, text, at, start, context) for text, at in places]]
    if asked.get("plausible_answers"):
        notes.lose("`plausible_answers` are", "they look right and are not; nothing here stands for them", number)
    return row


def _place(document: str, text: str, at: object, start: int, context: str) -> dict[str, object]:
    place: dict[str, object] = {"document": document, "quote": text}
    if isinstance(at, int) and context[at : at + len(text)] == text:
        place |= {"start": start + at, "end": start + at + len(text)}
    return place


def _unfolded(row: Row) -> Row:
    answers: Any = row.get("answers") or {}
    texts, starts = [list(answers.get(key) or []) for key in ("text", "answer_start")]
    context, document = str(row.get("context") or ""), _name(row)
    made: Row = {"id": row.get("id"), "question": row.get("question"), "source_document": document}
    made["answerable"] = bool(texts)
    if texts:
        places = dict.fromkeys(zip(texts, starts or [None] * len(texts), strict=False))
        made["expected_answers"] = list(dict.fromkeys(texts))
        made["evidence"] = [[_place(document, text, at, 0, context) for text, at in places]]
    if row.get("title"):
        made["tags"] = [str(row["title"]).replace("|", " ")]
    return made


def _name(row: Row) -> str:
    """Of the paragraph: rows come without one."""
    digest = hashlib.blake2b(str(row.get("context") or "").encode(), digest_size=4).hexdigest()
    return f"{row.get('title') or 'paragraph'}-{digest}"


def _documents(path: Path, notes: Notes) -> Iterator[Document]:  # noqa: ARG001 - of every format
    if "data" in head_of(path).data:
        for title, text, _ in _articles(whole_json(path)):
            yield Document(title, text)
        return
    seen: set[str] = set()
    for _, row in records(path):
        if (name := _name(row)) not in seen:
            seen.add(name)
            yield Document(name, str(row.get("context") or ""))


FORMAT = Format("squad", "SQuAD", _detect, _read, documents=_documents)
