"""Blocks by name: all that a file carries, what it leaves out, and what a server is asked for."""

import contextlib
import random
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import orjson
import pytest
from page_runs import PageBook, page_book
from proctor.reports.pages.page import packed
from proctor.reports.pages.row_index import EVERYTHING, Limits, data_block, data_blocks
from proctor.reports.pages.rows import Column, columns_of, opened_run
from proctor.reports.store.database import Store
from proctor.reports.store.run import RowStatus
from proctor.reports.summary import find_run
from report_rows import LENGTH, MATCH, Book, context, ok, row

Blocks = dict[str, Any]


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> PageBook:
    return page_book(tmp_path_factory.mktemp("rich") / "proctor.db")


@pytest.fixture(scope="module")
def store(rich: PageBook) -> Iterator[Store]:
    with contextlib.closing(rich.store()) as opened:
        yield opened


@pytest.fixture(scope="module")
def columns(rich: PageBook, store: Store) -> tuple[Column, ...]:
    runs = [opened_run(store, find_run(store, name)[0]) for name in (rich.base, rich.head)]
    return tuple(
        Column(name, at, run, "rag") for at, (name, run) in enumerate(zip(("baseline", "candidate"), runs, strict=True))
    )


def blocks_of(columns: tuple[Column, ...], **limits: int) -> Blocks:
    return {name: orjson.loads(data) for name, data in data_blocks(columns, Limits(**limits))}


def merged(blocks: Blocks, kind: str, origin: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, block in blocks.items():
        if name.startswith(f"{kind}-{origin}-"):
            found |= block["questions"] if kind == "calls" else block
    return found


def test_a_server_gives_each_block_of_a_file(columns: tuple[Column, ...]) -> None:
    for name, data in data_blocks(columns):
        asked = data_block(columns, name)
        assert asked is not None
        if name.startswith("passages"):  # of which a file has those alone that its rows need
            assert orjson.loads(data).items() <= orjson.loads(asked).items()
        elif not name.startswith("details"):
            assert asked == data


def test_details_of_a_file_with_its_index_are_those_that_a_server_gives(columns: tuple[Column, ...]) -> None:
    blocks = blocks_of(columns, texts=6_000)
    index = blocks["rows"]
    assert 60 <= index["longest"] < 500
    left_out = cut = 0
    for at, column in enumerate(index["columns"]):
        for place, ids in enumerate(index["cases"]["ids"]):
            if (question := ids[column["origin"]]) is None or index["rows"][at]["status"][place] is None:
                continue
            where = str(question), "rows", column["name"], str(index["cases"]["repeat"][place])
            name = f"details-{column['origin']}-{question // 50}"
            own, asked = blocks[name], orjson.loads(data_block(columns, name) or b"")
            for key in where:
                own, asked = own[key], asked[key]
            beside = {key: index["rows"][at][key][place] for key in ("answer", "latency_ms")}
            assert {**beside, **own} == asked
            left_out += "answer" not in own
            cut += beside["answer"] != asked["answer"] and asked["answer"] is not None
    assert left_out > 5
    assert cut > 5


def test_a_file_has_all_kinds_of_blocks_of_both_runs(columns: tuple[Column, ...]) -> None:
    kinds = {re.sub(r"-\d+$", "", name) for name in blocks_of(columns)}
    assert kinds == {"rows", *(f"{kind}-{at}" for kind in ("details", "passages", "calls", "prompts") for at in (0, 1))}


@pytest.mark.parametrize(
    "name",
    [
        "", "row", "rows ", "rows-0-0", "details", "details-0", "details-0-", "details-2-0", "details-0-99999",
        "details-00-0", "details-0-00", "details-0--1", "details--1-0", "details-0-0-0", "details-0-0\n", "DETAILS-0-0",
        "nothing-0-0", "passages-0-9999999", "calls-1-77777", "details-\u0661-0", "details-0-9999999999999999999999",
        "details-9999-0", "../rows", "details-0-0'", "prompts-5-0",
    ],
)  # fmt: skip
def test_there_is_no_block_of_another_name(columns: tuple[Column, ...], name: str) -> None:
    assert data_block(columns, name) is None


def test_nothing_is_left_out_of_a_small_file(columns: tuple[Column, ...]) -> None:
    assert blocks_of(columns)["rows"]["left_out"] == {
        "details": [0, 0], "passages": [0, 0], "calls": [0, 0], "questions": [0, 0],
    }  # fmt: skip


def left_out(blocks: Blocks, kind: str) -> list[int]:
    return blocks["rows"]["left_out"][kind]


@pytest.mark.parametrize(("kind", "limit"), [("details", 60_000), ("passages", 3_000), ("calls", 20_000)])
def test_what_is_left_out_is_counted(columns: tuple[Column, ...], kind: str, limit: int) -> None:
    whole, some = blocks_of(columns), blocks_of(columns, **{kind: limit})
    for origin in (0, 1):
        kept, there = merged(some, kind, origin), merged(whole, kind, origin)
        assert kept
        assert set(kept) < set(there)
        assert kind == "calls" or kept.items() <= there.items()  # calls tell the place of a request in their own block
        assert left_out(some, kind)[origin] == len(there) - len(kept)
    others = {"details", "passages", "calls"} - {kind}
    assert all(left_out(some, other) == [0, 0] for other in others)


def test_a_server_leaves_nothing_out(columns: tuple[Column, ...]) -> None:
    asked = data_block(columns, "rows")
    assert asked is not None
    assert orjson.loads(asked)["left_out"] == {
        "details": [0, 0], "passages": [0, 0], "calls": [0, 0], "questions": [0, 0],
    }  # fmt: skip


def test_what_went_wrong_is_kept_first(tmp_path: Path) -> None:
    with contextlib.closing(Book(tmp_path / "proctor.db", metrics=(MATCH, LENGTH))) as book:
        for place in range(40):
            values = [ok("exact_match", float(place not in (20, 30)))]
            status = RowStatus.REFUSED if place == 37 else RowStatus.ANSWERED
            text = f"text of {place} " * 40
            made = row(
                book.run,
                "left",
                f"q{place}",
                text,
                position=place,
                status=status,
                error="no",
                contexts=(context(text),),
            )
            book.put(made, *([] if place == 37 else values))
        book.writer.flush()
        blocks = blocks_of(columns_of(opened_run(book.store, book.run.id)), details=2_500, passages=1_400)
    kept = {entry["key"] for entry in merged(blocks, "details").values()}
    assert kept == {"q37", "q20", "q30"}
    assert left_out(blocks, "details") == [37]
    texts = {entry["text"] for entry in merged(blocks, "passages").values()}
    assert texts == {"text of 20 " * 40, "text of 30 " * 40}


def test_limits_hold_whatever_the_rows_are(tmp_path: Path) -> None:
    with contextlib.closing(Book(tmp_path / "proctor.db", metrics=(MATCH,))) as book:
        for place in range(60):
            text = f"{place}\0" + "long " * 3_000
            book.put(row(book.run, "left", f"q{place}", text, position=place, contexts=(context(text),)))
        book.writer.flush()
        run = columns_of(opened_run(book.store, book.run.id))
        made = dict(data_blocks(run, Limits(details=100_000, passages=100_000, texts=10_000)))
    size = {
        kind: sum(len(data) for name, data in made.items() if name.startswith(kind)) for kind in ("details", "passages")
    }
    assert 50_000 < size["details"] < 110_000
    assert 50_000 < size["passages"] < 110_000
    assert len(made["rows"]) < 40_000
    assert orjson.loads(made["rows"])["left_out"] == {
        "details": [54], "passages": [54], "calls": [0], "questions": [0],
    }  # fmt: skip


@pytest.mark.parametrize("file", [900_000, 2_000_000])
def test_a_file_is_about_as_large_as_it_may_be_and_no_larger(tmp_path: Path, file: int) -> None:
    """Of 400 answers of 20,000 characters that gzip makes half as long; every tenth misses its threshold."""
    draw = random.Random(5)
    with contextlib.closing(Book(tmp_path / "proctor.db", metrics=(MATCH,))) as book:
        for place in range(400):
            text = "".join(draw.choices("0123456789abcdef", k=20_000))
            book.put(row(book.run, "left", f"q{place}", text, position=place), ok("exact_match", float(place % 10 > 0)))
        book.writer.flush()
        run = columns_of(opened_run(book.store, book.run.id))
        fewest = Limits(file=file, texts=100_000)
        made = dict(data_blocks(run, fewest))
        whole = dict(data_blocks(run, EVERYTHING))
    size = sum(len(packed(data)) for data in made.values())
    assert max(file, 1_000_000) * 0.8 < size < max(file, 1_000_000) * 1.1
    blocks = {name: orjson.loads(data) for name, data in made.items()}
    kept = {entry["key"] for entry in merged(blocks, "details").values()}
    assert {f"q{place}" for place in range(0, 400, 10)} <= kept
    assert blocks["rows"]["left_out"]["details"] == [400 - len(kept)] and len(kept) < 200
    assert orjson.loads(whole["rows"])["left_out"] == {
        "details": [0], "passages": [0], "calls": [0], "questions": [0],
    }  # fmt: skip
    assert sum(len(orjson.loads(data)) for name, data in whole.items() if name.startswith("details")) == 400


def test_a_very_large_run_lists_what_problems_name_and_a_sample(tmp_path: Path) -> None:
    with contextlib.closing(Book(tmp_path / "proctor.db", metrics=(MATCH,))) as book:
        for place in range(900):
            book.put(row(book.run, "left", f"q{place}", "yes", position=place), ok("exact_match", 1.0))
        book.writer.flush()
        named = orjson.dumps([{"question_id": f"q{place}", "repeat": 0} for place in (3, 444, 899)]).decode()
        book.store.connection.execute(
            "INSERT INTO problems (run_id, position, severity, type, rows, row_count, what, action)"
            " VALUES (?, 1, 'high', 'accuracy', ?, 3, 'w', 'a')", [book.run.id, named],
        )  # fmt: skip
        run = columns_of(opened_run(book.store, book.run.id))
        some, whole = blocks_of(run, rows=300), blocks_of(run, rows=900)
    keys = some["rows"]["cases"]["key"]
    assert {"q3", "q444", "q899"} <= set(keys) and 150 <= len(keys) <= 450
    assert keys == [key for key in whole["rows"]["cases"]["key"] if key in set(keys)]
    assert some["rows"]["rows"][0]["values"] == [[1.0] * len(keys)]
    assert left_out(some, "questions") == [900 - len(keys)] and left_out(whole, "questions") == [0]
    assert {entry["key"] for entry in merged(some, "details").values()} == set(keys)


def test_a_run_of_an_old_version_has_no_evaluators_and_opens(tmp_path: Path) -> None:
    with contextlib.closing(Book(tmp_path / "proctor.db", metrics=(MATCH,))) as book:
        book.put(row(book.run, "left", "a"), ok("exact_match", 1.0))
        book.writer.flush()
        book.store.connection.execute("UPDATE run_rows SET position = NULL")
        assert blocks_of(columns_of(opened_run(book.store, book.run.id)))["rows"]["cases"]["key"] == ["a"]


def contract() -> dict[str, set[str]]:
    """All names in code marks that DATA.md has, by its headings."""
    text = (files("proctor.reports.pages") / "DATA.md").read_text("utf-8")
    parts = re.split(r"^## (\w+).*$", text, flags=re.MULTILINE)
    return {
        name: {
            word for code in re.findall(r"`([^`]+)`", body.replace("\n", " ")) for word in re.findall(r"[a-z_]+", code)
        }
        for name, body in zip(parts[1::2], parts[2::2], strict=True)
    }


def keys_in(value: Any, opaque: tuple[str, ...] = ()) -> set[str]:
    """All keys of objects, but those that are ids, and what is inside of somebody else's objects."""
    if isinstance(value, list):
        return {key for each in value for key in keys_in(each, opaque)}
    if not isinstance(value, dict):
        return set()
    found = {key for key in value if not key.isdigit()}
    return found | {key for name, each in value.items() if name not in opaque for key in keys_in(each, opaque)}


def test_the_contract_names_every_key_and_no_other(rich: PageBook, store: Store) -> None:
    columns = columns_of(opened_run(store, find_run(store, rich.head)[0]))
    blocks = blocks_of(columns)
    names = contract()
    metrics = {each["name"] for each in blocks["rows"]["metrics"]}
    for kind in ("rows", "details", "passages", "calls", "prompts"):
        opaque = {"details": ("details", "extra", "trace"), "rows": ("prompts",)}.get(kind, ())
        there = keys_in([block for name, block in blocks.items() if name.split("-")[0] == kind], opaque)
        assert there - metrics - {column.name for column in columns} <= names[kind], kind
    for kind, words in REQUIRED.items():
        keys = set(words.split())
        assert keys <= names[kind]
        assert keys <= keys_in([block for name, block in blocks.items() if name.split("-")[0] == kind]), kind


REQUIRED = {
    "rows": """columns metrics statuses reasons longest cases rows left_out name bot run origin kind model embedded
        better low high threshold key repeat ids text expected tags document answerable tag_names status answer
        abstained
        latency_ms values passed missing causes cause details passages calls""",
    "details": """key text expected constraints evidence extra rows answer error abstained retrieved
        queue_ms attempts_ms in_flight tokens_in tokens_out cost reasoning trace asked_at contexts gold scores document
        quote start end status reason details""",
    "passages": "document start end text",
    "calls": """requests text questions call judge vote prompt request exchange reply reasoning error problem
        finish_reason tokens_in tokens_out cost latency_ms paid asked_at""",
    "prompts": "name text",
}
