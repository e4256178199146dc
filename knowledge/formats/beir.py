"""BEIR: a folder with corpus.jsonl, queries.jsonl and qrels/*.tsv."""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import orjson

from ... import InputError
from ..paths import existing
from ..questions.rows import Row
from .format import Document, Format, Head, Notes
from .reading import records

_CORPUS, _QUERIES, _JUDGEMENTS = "corpus.jsonl", "queries.jsonl", "qrels"
_QUERY_COLUMNS: Final = ("query-id", "query_id", "qid")
_CORPUS_COLUMNS: Final = ("corpus-id", "corpus_id", "docid", "doc-id")


def _detect(head: Head) -> str | None:
    if {_CORPUS, _QUERIES} <= set(head.names):
        return f"a folder with {_CORPUS} and {_QUERIES}"
    if head.path.name.startswith("queries.jsonl") and {"_id", "text"} <= head.keys:
        return "queries with _id and text"
    if head.path.name == _CORPUS and {"_id", "text"} <= head.keys and (head.path.parent / _QUERIES).is_file():
        return f"a corpus beside {_QUERIES}"
    return None


def _read(path: Path, notes: Notes) -> Iterator[tuple[int, Row]]:
    folder = _folder(path)
    wanted = _judgements(folder, notes)
    for line, query in records(folder / _QUERIES):
        key = str(query.get("_id"))
        if wanted and key not in wanted:
            notes.lose("a query without a judgement is", "nothing says what it should find", line)
            continue
        split, documents = wanted.get(key, ("", []))
        row: Row = {"id": key, "question": query.get("text")}
        if documents:
            row["evidence"] = [{"document": document} for document in documents]
        if split:
            row["tags"] = [split]
        yield line, row | ({"metadata": query["metadata"]} if query.get("metadata") else {})


def _folder(path: Path) -> Path:
    folder = path if path.is_dir() else path.parent
    if not (folder / _QUERIES).is_file() or (path.is_file() and path.name not in (_QUERIES, _CORPUS)):
        raise InputError(f"{path}: a folder with {_CORPUS}, {_QUERIES} and qrels/*.tsv was wanted.")
    return folder


def _judgements(folder: Path, notes: Notes) -> dict[str, tuple[str, list[str]]]:
    """By query the split it is of, and the documents that are relevant."""
    found: dict[str, tuple[str, list[str]]] = {}
    for file in sorted((folder / _JUDGEMENTS).glob("*.tsv")):
        for line, row in records(file):
            query = next((row[name] for name in _QUERY_COLUMNS if name in row), None)
            document = next((row[name] for name in _CORPUS_COLUMNS if name in row), None)
            if query is None or document is None:
                raise InputError(f"{file}:{line}: the columns query-id, corpus-id and score were wanted.")
            grade = str(row.get("score", "1")).strip()
            if not grade.lstrip("-").isdigit():
                raise InputError(f"{file}:{line}: the score {grade!r} is no whole number.")
            if int(grade) <= 0:
                notes.lose("a judgement that a document is not relevant is", "what is not named counts so", line)
                continue
            if int(grade) > 1:
                notes.lose("a grade of relevance above 1 is", "evidence is relevant or not", line)
            found.setdefault(str(query), (file.stem, []))[1].append(str(document))
    return found


def _documents(path: Path, notes: Notes) -> Iterator[Document]:  # noqa: ARG001 - of every format
    folder = _folder(path)
    for _, row in records(existing(folder / _CORPUS, "the corpus")):
        yield Document(str(row.get("_id")), str(row.get("text") or ""), str(row.get("title") or ""))


def _write(rows: Iterable[Row], path: Path, notes: Notes) -> None:
    """Queries, judgements, and the corpus; where it is not known, of it quotes of evidence and contexts."""
    corpus: dict[str, dict[str, None]] = {}
    seen: set[object] = set()
    (path / _JUDGEMENTS).mkdir(parents=True, exist_ok=True)
    with (
        (path / _QUERIES).open("wb") as queries,
        (path / _JUDGEMENTS / "test.tsv").open("w", encoding="utf-8", newline="") as out,
    ):
        judged = csv.writer(out, delimiter="\t", lineterminator="\n")  # as BEIR reads it
        judged.writerow(("query-id", "corpus-id", "score"))
        for row in rows:
            _add_texts(corpus, row)
            if row["id"] in seen:
                continue
            seen.add(row["id"])
            queries.write(orjson.dumps({"_id": row["id"], "text": row["question"], "metadata": {}}) + b"\n")
            groups: Any = row.get("evidence") or []
            for document in dict.fromkeys(place["document"] for group in groups for place in _group(group)):
                judged.writerow((row["id"], document, 1))
    with (path / _CORPUS).open("wb") as file:
        for each in notes.documents() if notes.documents else ():
            corpus.pop(each.id, None)
            file.write(_document(each))
        for name, texts in corpus.items():
            file.write(_document(Document(name, "\n\n".join(texts), name)))
    if corpus:
        notes.lose("the rest of the documents is", "only quotes and contexts of them are known here")


def _document(given: Document) -> bytes:
    return orjson.dumps({"_id": given.id, "title": given.title, "text": given.text, "metadata": {}}) + b"\n"


def _group(group: object) -> list[Any]:
    return group if isinstance(group, list) else [group]


def _add_texts(corpus: dict[str, dict[str, None]], row: Row) -> None:
    groups: Any = row.get("evidence") or []
    contexts: Any = row.get("contexts") or []
    for place in (place for group in groups for place in _group(group)):
        corpus.setdefault(place["document"], {}).update({place["quote"]: None} if place.get("quote") else {})
    for each in contexts:
        if isinstance(each, dict) and each.get("document"):
            corpus.setdefault(each["document"], {})[each["text"]] = None


_CARRIED: Final = frozenset({"contexts", "evidence"})
FORMAT = Format("beir", "BEIR", _detect, _read, _write, ("",), documents=_documents, carries=_CARRIED)
