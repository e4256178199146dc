"""The row index says what the store's own views say, whatever the rows are."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from page_runs import PageBook, page_book
from proctor.bots.bot import Reply
from proctor.knowledge.questions.question import Question
from proctor.metrics.score import Score, Status
from proctor.reports.pages.row_index import LONGEST_INDEXED, SHORTEST, STATUSES, row_index
from proctor.reports.pages.rows import Column, columns_of, opened_run
from proctor.reports.reported_run import open_reported
from proctor.reports.store.run import Row, RowStatus, RunMetric, ask_key
from proctor.reports.summary import find_run
from report_rows import LENGTH, MATCH, Book, ok, row


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> PageBook:
    return page_book(tmp_path_factory.mktemp("rich") / "proctor.db")


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    with contextlib.closing(Book(tmp_path / "proctor.db", metrics=(MATCH, LENGTH))) as made:
        yield made


def index_object(columns: tuple[Column, ...]) -> dict[str, Any]:
    return orjson.loads(row_index(columns).written({}))


def index_of(book: Book) -> dict[str, Any]:
    book.writer.flush()
    return index_object(columns_of(opened_run(book.store, book.run.id)))


def short(value: float) -> float:
    return float(f"{value:.4g}")


def test_it_holds_every_row_of_the_view_of_answers(rich: PageBook) -> None:
    with contextlib.closing(rich.store()) as store:
        index = index_object(columns_of(opened_run(store, find_run(store, rich.head)[0])))
        lines = store.query("SELECT * FROM answers WHERE run = ?", [rich.head])
        names = [each[0] for each in store.connection.execute("SELECT * FROM answers").description]
    cases = {(key, repeat): place for place, (key, repeat) in enumerate(both(index, "key", "repeat"))}
    held = 0
    for line in lines:
        wanted = dict(zip(names, line, strict=True))
        place = cases[wanted["question_id"], wanted["repeat"]]
        of_bot = index["rows"][[each["name"] for each in index["columns"]].index(wanted["bot"])]
        assert STATUSES[of_bot["status"][place]] == wanted["status"]
        assert of_bot["answer"][place] == (wanted["answer"] if wanted["error"] is None else wanted["error"])
        assert of_bot["latency_ms"][place] == short(wanted["latency_ms"])
        assert of_bot["abstained"][place] == wanted["abstained"]
        assert index["cases"]["text"][place] == wanted["question"]
        assert index["cases"]["document"][place] == wanted["source_document"]
        assert [index["cases"]["tag_names"][tag] for tag in index["cases"]["tags"][place]] == orjson.loads(
            wanted["tags"]
        )
        held += 1
    assert held == len(lines) == sum(status is not None for each in index["rows"] for status in each["status"])


def test_values_passes_and_reasons_are_those_of_the_view_of_scores(rich: PageBook) -> None:
    with contextlib.closing(rich.store()) as store:
        index = index_object(columns_of(opened_run(store, find_run(store, rich.head)[0])))
        lines = store.query(
            "SELECT question_id, repeat, bot, metric, value, reason, passed FROM row_scores WHERE run = ?", [rich.head]
        )
    cases = {(key, repeat): place for place, (key, repeat) in enumerate(both(index, "key", "repeat"))}
    bots = [each["name"] for each in index["columns"]]
    metrics = [each["name"] for each in index["metrics"]]
    assert len(lines) > 2000
    for key, repeat, bot, metric, value, reason, passed in lines:
        place, of_bot, number = cases[key, repeat], index["rows"][bots.index(bot)], metrics.index(metric)
        assert of_bot["values"][number][place] == (None if value is None else short(value))
        assert of_bot["passed"][number][place] == {1: "1", 0: "0", None: "-"}[passed]
        missing = of_bot["missing"][number].get(str(place))
        assert (None if missing is None else index["reasons"][missing]) == reason


def both(index: dict[str, Any], *names: str) -> Iterator[tuple[Any, ...]]:
    return zip(*(index["cases"][name] for name in names), strict=True)


def test_a_light_run_gives_what_a_reported_run_gives(rich: PageBook) -> None:
    with contextlib.closing(rich.store()) as store:
        run = find_run(store, rich.base)[0]
        assert index_object(columns_of(opened_run(store, run))) == index_object(columns_of(open_reported(store, run)))


def test_what_passes_is_told_by_the_value_as_it_is(book: Book) -> None:
    book.put(row(book.run, "left", "a"), ok("exact_match", 0.99999), ok("answer_length", 123456.0))
    index = index_of(book)
    assert index["rows"][0]["values"] == [[1.0], [123500.0]]
    assert index["rows"][0]["passed"] == ["0", "-"]


@pytest.mark.parametrize("value", [0.0, 1.0, 1 / 3, 2 / 3, 0.00012345, 1e-9, 98765.4, 1e14, -3.14159, 5e-324])
def test_values_have_four_digits(book: Book, value: float) -> None:
    book.put(row(book.run, "left", "a"), ok("answer_length", value))
    assert index_of(book)["rows"][0]["values"][1] == [short(value) if abs(value) > 1e-18 else 0.0]


def test_a_lower_value_passes_where_lower_is_better(tmp_path: Path) -> None:
    metric = RunMetric("toxicity", "v1", "lower", 0.0, 1.0, 0.25)
    with contextlib.closing(Book(tmp_path / "proctor.db", metrics=(metric,))) as book:
        for place, value in enumerate((0.25, 0.2500001, 0.0)):
            book.put(row(book.run, "left", f"q{place}", position=place), ok("toxicity", value))
        assert index_of(book)["rows"][0]["passed"] == ["101"]


def test_a_question_corrected_between_two_passes_is_two_cases(book: Book) -> None:
    for text in ("What does it cost?", "What did it cost?"):
        question = Question("price", text, ("so",))
        made = Row(question, book.run.bot_ids["left"], 0, ask_key(question), asked_at="2026-01-01")
        made.reply = Reply("5")
        book.put(made, ok("exact_match", 1.0))
    index = index_of(book)
    assert index["cases"]["key"] == ["price", "price"]
    assert sorted(index["cases"]["text"]) == ["What did it cost?", "What does it cost?"]
    assert index["rows"][0]["values"][0] == [1.0, 1.0]


def test_two_runs_are_matched_by_key_also_where_a_question_was_corrected(rich: PageBook) -> None:
    with contextlib.closing(rich.store()) as store:
        runs = [opened_run(store, find_run(store, name)[0]) for name in (rich.base, rich.head)]
        columns = tuple(
            Column(name, at, run, "rag")
            for at, (name, run) in enumerate(zip(("baseline", "candidate"), runs, strict=True))
        )
        index = index_object(columns)
    assert len(index["cases"]["key"]) == 28
    assert all(None not in ids for ids in index["cases"]["ids"])
    apart = [key for key, (base, head) in both(index, "key", "ids") if base != head]
    assert len(apart) == 1
    assert [each["origin"] for each in index["columns"]] == [0, 1]


def test_the_last_version_of_a_key_is_the_one_another_run_is_matched_with(tmp_path: Path) -> None:
    book = Book(tmp_path / "proctor.db", metrics=(MATCH,))
    texts = {"old": "What does it cost?", "new": "What did it cost?"}
    for text in texts.values():
        put_asked(book, Question("price", text))
    book.writer.flush()  # or the other run may write the newer version before the older
    other = Book(tmp_path / "proctor.db", metrics=(MATCH,), fresh=True)
    put_asked(other, Question("price", texts["new"]))
    with contextlib.closing(book), contextlib.closing(other):
        book.writer.flush(), other.writer.flush()
        runs = [opened_run(book.store, each.run.id) for each in (book, other)]
        index = index_object(tuple(Column(str(at), at, run, "left") for at, run in enumerate(runs)))
    found = dict(both(index, "text", "ids"))
    assert found[texts["old"]][1] is None
    assert None not in found[texts["new"]]


def put_asked(book: Book, question: Question) -> None:
    made = Row(question, book.run.bot_ids["left"], 0, ask_key(question), asked_at="2026-01-01")
    made.reply = Reply("5")
    book.put(made)


def test_cases_come_in_the_order_of_asking_whatever_bot_has_them(book: Book) -> None:
    for bot, places in (("left", (4, 0)), ("right", (3, 1, 2))):
        for place in places:
            book.put(row(book.run, bot, f"q{place}", position=place))
    assert index_of(book)["cases"]["key"] == ["q0", "q1", "q2", "q3", "q4"]


def test_a_run_without_rows_has_its_columns(book: Book) -> None:
    index = index_of(book)
    assert [each["name"] for each in index["columns"]] == ["left", "right"]
    assert index["cases"]["key"] == index["rows"][1]["answer"] == []
    assert index["rows"][0]["passed"] == ["", ""]


def test_a_bot_without_rows_and_rows_without_scores_have_no_values(book: Book) -> None:
    book.put(row(book.run, "left", "a"))
    index = index_of(book)
    assert index["rows"][1]["status"] == [None]
    assert index["rows"][0]["values"] == [[None], [None]]
    assert index["rows"][0]["missing"] == [{}, {}]


def test_a_failed_row_shows_its_error_and_comes_first_among_the_worst(book: Book) -> None:
    book.put(row(book.run, "left", "good", position=0), ok("exact_match", 1.0))
    book.put(row(book.run, "left", "wrong", position=1), ok("exact_match", 0.0))
    book.put(row(book.run, "left", "unread", position=2), Score("exact_match", None, Status.ERROR, "metric_raised"))
    failed = row(book.run, "left", "failed", position=3, status=RowStatus.TIMED_OUT, error="No answer within 30 s.")
    book.put(failed, Score("exact_match", None, Status.BOT_ERROR, "bot_raised"))
    book.writer.flush()
    index = row_index(columns_of(opened_run(book.store, book.run.id)))
    written = orjson.loads(index.written({}))
    assert written["rows"][0]["answer"][3] == "No answer within 30 s."
    keys = dict(zip([ids[0] for ids in index.ids], written["cases"]["key"], strict=True))
    assert [keys[question] for question in index.worst_first(0)] == ["failed", "unread", "wrong", "good"]


@pytest.mark.parametrize("text", ["a\0b", "</script><!--", "\u202eright", "\U0001f6b2" * 3, "\x1b[31m"])
def test_hostile_texts_come_through(book: Book, text: str) -> None:
    book.put(row(book.run, "left", "a", text))
    assert index_of(book)["rows"][0]["answer"] == [text]


def test_a_long_text_is_cut_in_whole_characters(book: Book) -> None:
    book.put(row(book.run, "left", "a", "x" + "\U0001f6b2" * 1_000_000))
    index = index_of(book)
    assert index["rows"][0]["answer"] == ["x" + "\U0001f6b2" * (LONGEST_INDEXED - 1)]
    assert index["longest"] == LONGEST_INDEXED


def test_texts_are_cut_shorter_where_there_are_very_many(book: Book) -> None:
    for place in range(10):
        book.put(row(book.run, "left", f"q{place}", "y" * LONGEST_INDEXED, position=place))
    book.writer.flush()
    columns = columns_of(opened_run(book.store, book.run.id))
    found = {most: orjson.loads(row_index(columns, most).written({})) for most in (20_000, 19_999, 5_000, 1)}
    assert [each["longest"] for each in found.values()] == [
        LONGEST_INDEXED,
        LONGEST_INDEXED // 2,
        LONGEST_INDEXED // 4,
        SHORTEST,
    ]
    for index in found.values():
        assert {len(each) for each in index["rows"][0]["answer"]} == {index["longest"]}


def test_a_run_that_goes_on_is_read_as_it_is(book: Book) -> None:
    book.put(row(book.run, "left", "a"), ok("exact_match", 1.0))
    assert index_of(book)["cases"]["key"] == ["a"]
    book.put(row(book.run, "right", "b", position=1), ok("exact_match", 0.5))
    index = index_of(book)
    assert index["cases"]["key"] == ["a", "b"]
    assert index["rows"][1]["values"][0] == [None, 0.5]
    assert not np.isnan(index["rows"][1]["values"][0][1])
