"""Natural Questions and sets in its style: NQ-open, DPR with passages, and the simplified original."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..questions.rows import Row
from .format import Format, Head, Notes
from .reading import records


def _detect(head: Head) -> str | None:
    for row in head.rows:
        if {"question_text", "annotations"} <= row.keys():
            return "the keys question_text and annotations"
        if {"question", "answers", "positive_ctxs"} <= row.keys():
            return "the keys question, answers and positive_ctxs"
    if head.rows and all(map(_is_open, head.rows)):
        return "the key question, and answer with a list of right answers"
    return None


def _is_open(row: Row) -> bool:
    return isinstance(row.get("answer"), list) and "question" in row and "expected_answer" not in row


def _read(path: Path, notes: Notes) -> Iterator[tuple[int, Row]]:
    for line, given in records(path):
        if "question_text" in given:
            yield line, _original(given, line, notes)
        else:
            yield line, _open(given, line, notes)


def _open(given: Row, line: int, notes: Notes) -> Row:
    gone = ("answer", "answers", "positive_ctxs", "negative_ctxs", "hard_negative_ctxs")
    row = {key: value for key, value in given.items() if key not in gone}
    row["expected_answers"] = given.get("answer", given.get("answers"))
    passages: Any = given.get("positive_ctxs") or []
    places = [_passage(each) for each in passages if isinstance(each, dict)]
    if places:
        row["evidence"] = [places]  # any of them holds the answer
    for name in gone[3:]:
        if given.get(name):
            notes.lose(f"`{name}` are", "what is not named as evidence counts as irrelevant", line)
    return row


def _passage(given: dict[str, Any]) -> dict[str, str]:
    name = given.get("passage_id") or given.get("psg_id") or given.get("title")
    return {"document": str(name or "passage"), "quote": str(given.get("text") or "")}


def _original(given: Row, line: int, notes: Notes) -> Row:
    words = str(given.get("document_text") or "").split(" ")
    annotations: Any = given.get("annotations") or []
    row: Row = {"id": str(given.get("example_id")), "question": given.get("question_text")}
    answers = [_span(words, each) for one in annotations for each in one.get("short_answers") or []]
    said = [str(one["yes_no_answer"]).lower() for one in annotations if one.get("yes_no_answer") not in (None, "NONE")]
    expected = [each for each in dict.fromkeys([*answers, *said]) if each]
    row["answerable"] = bool(expected)
    if expected:
        row["expected_answers"] = expected
    if url := given.get("document_url") or given.get("document_title"):
        row["source_document"] = str(url)
    if any((one.get("long_answer") or {}).get("candidate_index", -1) >= 0 for one in annotations):
        notes.lose("a `long_answer` is", "it is a place in HTML; the short answers are read", line)
    return row


def _span(words: list[str], given: dict[str, Any]) -> str:
    part = words[given.get("start_token", 0) : given.get("end_token", 0)]
    return " ".join(word for word in part if not (word.startswith("<") and word.endswith(">")))


FORMAT = Format("nq", "Natural Questions", _detect, _read)
