"""Details of rows say what the database says of them, marked, bounded and readable for a browser."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from page_runs import PageBook, page_book
from proctor.bots.bot import Context
from proctor.knowledge.questions.question import Evidence, Question
from proctor.metrics.score import Score, Status
from proctor.reports.pages.rows import (
    LONGEST,
    QUESTIONS_A_BLOCK,
    Column,
    block_numbers,
    bounded,
    call_block,
    columns_of,
    detail_block,
    fragment,
    loaded,
    opened_run,
    passage_block,
    passage_ids,
    prompt_block,
    rounded,
)
from proctor.reports.store.database import Store
from proctor.reports.store.run import Row, RowStatus, ask_key
from proctor.reports.summary import find_run
from report_rows import LENGTH, MATCH, Book, context, ok, row

Json = dict[str, Any]


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> PageBook:
    return page_book(tmp_path_factory.mktemp("rich") / "proctor.db")


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    with contextlib.closing(Book(tmp_path / "proctor.db", metrics=(MATCH, LENGTH))) as made:
        yield made


def all_columns(store: Store, run: str | None = None) -> tuple[Column, ...]:
    return columns_of(opened_run(store, find_run(store, run)[0]))


def details(columns: tuple[Column, ...]) -> Json:
    found: Json = {}
    for number in block_numbers(columns):
        found |= orjson.loads(detail_block(columns, number))
    return {entry["key"]: entry for entry in found.values()}


def details_of(book: Book) -> Json:
    book.writer.flush()
    return details(all_columns(book.store))


def javascript_slice(text: str, start: int, end: int) -> str:
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


def test_rows_are_those_of_the_view_of_answers(rich: PageBook) -> None:
    with contextlib.closing(rich.store()) as store:
        found = details(all_columns(store, rich.head))
        lines = store.query(
            "SELECT question_id, bot, repeat, answer, error, abstained, retrieved, tokens_in, tokens_out, cost"
            " FROM answers WHERE run = ?", [rich.head])  # fmt: skip
    names = ("answer", "error", "abstained", "retrieved", "tokens_in", "tokens_out", "cost")
    assert len(lines) == 100
    for key, bot, repeat, *wanted in lines:
        one = found[key]["rows"][bot][str(repeat)]
        assert [one[name] for name in names] == wanted
    assert sum(len(each) for entry in found.values() for each in entry["rows"].values()) == len(lines)


def test_what_there_is_to_say_of_scores_is_that_of_the_view_of_scores(rich: PageBook) -> None:
    with contextlib.closing(rich.store()) as store:
        found = details(all_columns(store, rich.head))
        lines = store.query(
            "SELECT question_id, bot, repeat, metric, status, reason, details FROM row_scores WHERE run = ?",
            [rich.head],
        )
    silent = 0
    for key, bot, repeat, metric, status, reason, kept in lines:
        score = found[key]["rows"][bot][str(repeat)]["scores"].get(metric)
        if status == "ok" and kept is None:
            assert score is None
            silent += 1
            continue
        wanted = {
            "status": None if status == "ok" else status,
            "reason": reason,
            "details": kept and loaded(rounded(kept)),
        }
        assert score == {name: value for name, value in wanted.items() if value}
    assert 0 < silent < len(lines)


def test_contexts_come_by_rank_and_every_passage_is_there(rich: PageBook) -> None:
    with contextlib.closing(rich.store()) as store:
        columns = all_columns(store, rich.head)
        found = details(columns)
        passages: Json = {}
        for number in {passage // 100 for passage in passage_ids(columns)}:
            passages |= orjson.loads(passage_block(columns, number))
        lines = store.query(
            "SELECT answers.question_id, answers.bot, answers.repeat, text, score FROM answers"
            " JOIN contexts ON contexts.reply_id = answers.reply_id JOIN passages ON passages.id = passage_id"
            " WHERE run = ? ORDER BY answers.reply_id, rank", [rich.head])  # fmt: skip
    by_row: dict[tuple[Any, ...], list[Any]] = {}
    for *which, text, score in lines:
        by_row.setdefault(tuple(which), []).append((text, score if score is None else float(f"{score:.4g}")))
    assert len(by_row) > 50
    for (key, bot, repeat), wanted in by_row.items():
        contexts = found[key]["rows"][bot][str(repeat)]["contexts"]
        assert [(passages[str(passage)]["text"], score) for passage, score, _ in contexts] == wanted


def test_gold_ranks_agree_with_the_metrics_of_retrieval(rich: PageBook) -> None:
    with contextlib.closing(rich.store()) as store:
        found = details(all_columns(store, rich.head))
    seen = 0
    for entry in found.values():
        for rows in entry["rows"].values():
            for one in rows.values():
                ranks = one["scores"].get("hit_rate", {}).get("details", {}).get("ranks")
                if ranks is not None:
                    assert one["gold"] == ranks
                    seen += 1
    assert seen > 30


def test_gold_is_marked_behind_emoji_and_told_where_it_is_missed(rich: PageBook) -> None:
    with contextlib.closing(rich.store()) as store:
        columns = all_columns(store, rich.head)
        found = details(columns)
        bot, key = rich.notable["emoji_context"]
        passage, _, marks = found[key]["rows"][bot]["0"]["contexts"][0]
        text = orjson.loads(passage_block(columns, passage // 100))[str(passage)]["text"]
    ((start, end, _),) = marks
    assert text.startswith("\U0001f6b2")
    assert javascript_slice(text, start, end) in {each["quote"] for group in found[key]["evidence"] for each in group}
    bot, key = rich.notable["gold_missed"]
    assert set(found[key]["rows"][bot]["0"]["gold"]) == {None}
    bot, key = rich.notable["no_contexts_found"]
    assert found[key]["rows"][bot]["0"] | {"contexts": [], "gold": [None]} == found[key]["rows"][bot]["0"]
    assert found[key]["rows"]["faq"]["0"]["gold"] == []  # it has no retriever that could miss anything


def test_marks_count_as_javascript_counts(book: Book) -> None:
    quote = "Refunds take 14 days."
    question = Question("a", "How long?", evidence=((Evidence("a.md", quote),),))
    made = row(book.run, "left", "a", contexts=(Context(f"\U0001f6b2 So: {quote}", "a.md", score=0.123456),))
    made.question, made.question_hash = question, ask_key(question)
    book.put(made)
    found = details_of(book)["a"]["rows"]["left"]["0"]
    ((passage, score, marks),) = found["contexts"]
    assert (passage, score) == (1, 0.1235)
    assert marks == [[7, 7 + len(quote), 0]]
    assert found["gold"] == [1]


def test_a_failed_row_has_its_error(book: Book) -> None:
    failed = row(book.run, "left", "a", status=RowStatus.RAISED, error="KeyError: 'x'")
    book.put(failed, Score("exact_match", None, Status.BOT_ERROR, "bot_raised"))
    found = details_of(book)["a"]["rows"]["left"]["0"]
    assert (found["answer"], found["error"]) == (None, "KeyError: 'x'")
    assert found["scores"] == {"exact_match": {"status": "bot_error", "reason": "bot_raised"}}


def test_long_texts_are_cut_and_tell_their_length(book: Book) -> None:
    book.put(row(book.run, "left", "a", "x" * 1_000_000, contexts=(context("y" * 1_000_000),)))
    found = details_of(book)["a"]["rows"]["left"]["0"]
    assert found["answer"] == "x" * LONGEST
    assert found["answer_length"] == 1_000_000
    passage = orjson.loads(passage_block(all_columns(book.store), 0))["1"]
    assert passage["text"] == "y" * LONGEST
    assert passage["text_length"] == 1_000_000


def test_long_details_are_cut_within_or_left_out_by_name(book: Book) -> None:
    long, many = {"claim": "z" * 60_000}, {"claims": [{"claim": f"claim {number}"} for number in range(9_000)]}
    book.put(row(book.run, "left", "a"), ok("exact_match", 1.0, **long), ok("answer_length", 1.0, **many))
    scores = details_of(book)["a"]["rows"]["left"]["0"]["scores"]
    assert scores["exact_match"]["details"] == {"claim": "z" * 2_000 + " … (60,000 characters)"}
    assert scores["answer_length"].keys() == {"details_length"}
    assert scores["answer_length"]["details_length"] > LONGEST


@pytest.mark.parametrize(
    "text", ["a\0b", "</script><script>alert(1)", "\u202eright", "\x1b[31m", "\U0001f6b2", "\u2028", "=HYPERLINK(1)"]
)
def test_hostile_texts_come_through(book: Book, text: str) -> None:
    book.put(row(book.run, "left", "a", text, contexts=(context(text),)), ok("exact_match", 1.0, claim=text))
    found = details_of(book)["a"]["rows"]["left"]["0"]
    assert found["answer"] == found["scores"]["exact_match"]["details"]["claim"] == text
    assert orjson.loads(passage_block(all_columns(book.store), 0))["1"]["text"] == text


def test_halves_of_characters_in_details_become_readable(book: Book) -> None:
    book.put(row(book.run, "left", "a"), ok("exact_match", 1.0, claim="\ud83d half", score=float("nan")))
    details = details_of(book)["a"]["rows"]["left"]["0"]["scores"]["exact_match"]["details"]
    assert details == {"claim": "\ufffd half", "score": None}


@pytest.mark.parametrize(
    ("kept", "wanted"),
    [
        ('{"a":0.123456789}', {"a": 0.1235}), ('{"a":[0.123456789]}', {"a": [0.123456789]}),
        ('{"a":-1.5e-7,"b":12}', {"a": -1.5e-7, "b": 12}), ('{"a":1.23456789e-5}', {"a": 1.235e-5}),
        ('{"a":"\\":0.123456789,"}', {"a": '":0.123456789,'}), ('{"a":"0.123456789"}', {"a": "0.123456789"}),
    ],
)  # fmt: skip
def test_only_values_of_keys_are_rounded(kept: str, wanted: object) -> None:
    assert orjson.loads(rounded(kept)) == wanted


@pytest.mark.parametrize(
    "text", ['{"a":NaN}', '{"a":[Infinity,-Infinity]}', '"\\ud83d"', '{"n":123456789012345678901234}']
)
def test_json_that_browsers_can_not_read_is_made_readable(text: str) -> None:
    made = orjson.dumps({"it": fragment(text)})
    assert orjson.loads(made)["it"] == loaded(text)


def test_short_json_is_carried_as_it_is() -> None:
    assert orjson.dumps(bounded("extra", '{"price": 1.23456789}')) == b'{"extra":{"price": 1.23456789}}'


def test_a_block_holds_fifty_ids_and_only_what_is_wanted(book: Book) -> None:
    for place in range(QUESTIONS_A_BLOCK + 2):
        book.put(row(book.run, "left", f"q{place}", position=place))
    book.writer.flush()
    columns = all_columns(book.store)
    assert block_numbers(columns) == [0, 1]
    assert list(orjson.loads(detail_block(columns, 1))) == ["50", "51", "52"]
    assert list(orjson.loads(detail_block(columns, 1, lambda question: question == 51))) == ["51"]
    assert detail_block(columns, 2) == b"{}"


def test_only_the_bots_of_the_columns_are_told(rich: PageBook) -> None:
    with contextlib.closing(rich.store()) as store:
        found = details(all_columns(store, rich.head)[2:3])
        assert {bot for entry in found.values() for bot in entry["rows"]} == {"rag"}
        assert len(passage_ids(all_columns(store, rich.head)[:1])) == 0


def test_a_bot_in_two_columns_stands_under_both_names(book: Book) -> None:
    book.put(row(book.run, "left", "a"))
    book.writer.flush()
    run = opened_run(book.store, book.run.id)
    columns = (Column("baseline", 0, run, "left"), Column("candidate", 0, run, "left"))
    rows = details(columns)["a"]["rows"]
    assert rows["baseline"] == rows["candidate"]


def calls_of(columns: tuple[Column, ...]) -> list[tuple[Any, ...]]:
    found = []
    for number in block_numbers(columns):
        block = orjson.loads(call_block(columns, number))
        for rows in block["questions"].values():
            for bot, repeats in rows.items():
                for repeat, calls in repeats.items():
                    found += [(bot, int(repeat), block["requests"][call["request"]]["text"], call) for call in calls]
    return found


def test_calls_are_those_of_the_judge_log(rich: PageBook) -> None:
    with contextlib.closing(rich.store()) as store:
        columns = all_columns(store, rich.head)
        prompts = orjson.loads(prompt_block(columns))
        found = calls_of(columns)
        log = store.query(
            "SELECT bot, repeat, request, call, judge, vote, reply, reasoning, problem, error, tokens_in, paid, prompt,"
            " exchange FROM judge_log WHERE run = ?", [rich.head])  # fmt: skip
    names = ("call", "judge", "vote", "reply", "reasoning", "problem", "error", "tokens_in", "paid")
    calls = [
        (
            bot,
            repeat,
            text,
            *(call.get(name) for name in names),
            prompts[str(call["prompt"])]["text"],
            call.get("exchange"),
        )
        for bot, repeat, text, call in found
    ]
    wanted = [
        (*line[:-1], line[-1] and orjson.loads(line[-1])) for line in log
    ]  # fmt: skip
    assert len(calls) > 400
    assert sorted(map(repr, calls)) == sorted(map(repr, wanted))
    assert any(call.get("error") for *_, call in found)
    assert any(call.get("exchange") for *_, call in found)


def test_votes_on_one_text_share_it(rich: PageBook) -> None:
    with contextlib.closing(rich.store()) as store:
        columns = all_columns(store, rich.head)
        block = orjson.loads(call_block(columns, block_numbers(columns)[0]))
    texts = [each["text"] for each in block["requests"]]
    assert len(texts) == len(set(texts))
    calls = [
        call
        for rows in block["questions"].values()
        for each in rows.values()
        for some in each.values()
        for call in some
    ]
    assert len(calls) > len(texts)


def test_a_run_without_judges_has_no_calls(book: Book) -> None:
    book.put(row(book.run, "left", "a"))
    book.writer.flush()
    columns = all_columns(book.store)
    assert orjson.loads(call_block(columns, 0)) == {"requests": [], "questions": {}}
    assert prompt_block(columns) == b"{}"


def test_a_row_of_a_kept_answer_has_all_that_its_first_run_has(tmp_path: Path) -> None:
    with contextlib.closing(Book(tmp_path / "proctor.db", metrics=(MATCH,))) as book:
        first = book.put(
            row(book.run, "left", "a", "so", contexts=(context("here"),)), ok("exact_match", 1.0, why="it is")
        )
        book.writer.flush()
        with contextlib.closing(Book(tmp_path / "proctor.db", metrics=(MATCH,), fresh=True)) as later:
            kept = Row(
                first.question, later.run.bot_ids["left"], 0, first.question_hash, reply_id=first.reply_id, cached=True
            )
            later.writer.row(kept)
            assert details_of(later) == details(columns_of(opened_run(book.store, book.run.id)))
